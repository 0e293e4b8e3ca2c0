"""Public names that are loaded when they are first used, each written once.

A package lists its names where a type checker reads them, and hands the rest to this module:

    if TYPE_CHECKING:
        from ollama_kit.client import Client as Client
    else:
        __getattr__, __dir__ = exports(__name__)

PEP 562's `__getattr__` then finds the homes of the names in that very block, the first time one is asked for; `__all__`
is found the same way. Importing such a package loads nothing of what it lists.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any


def exports(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and `__dir__` of the module named `package`. Its source has to be at hand (a wheel, a zip file
    and a checkout have it): ImportError where it is not."""
    homes: dict[str, str] = {}

    def known() -> Mapping[str, str]:
        if not homes:
            homes.update(_homes(_source(package)))
        return homes

    def get(name: str) -> Any:
        if name == "__all__":
            value: Any = list(known())
        elif name.startswith("__") or name not in known():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        else:
            value = getattr(import_module(known()[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted({*vars(sys.modules[package]), *known()})


def _source(package: str) -> str:
    loader: Any = getattr(sys.modules[package].__spec__, "loader", None)
    source: str | None = loader.get_source(package) if hasattr(loader, "get_source") else None
    if source is None:
        raise ImportError(f"the source of {package} is not installed, and its public names are listed there only")
    return source


def _homes(source: str) -> Iterator[tuple[str, str]]:
    """(name, module) of each import under `if TYPE_CHECKING`, in their order.

    >>> list(_homes("if TYPE_CHECKING:\\n    from a.b import C as C, D as D"))
    [('C', 'a.b'), ('D', 'a.b')]
    """
    import ast  # 2 ms, and `import ollama_kit` needs none of it

    for statement in ast.parse(source).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            for imported in statement.body:
                if isinstance(imported, ast.ImportFrom) and imported.module:
                    yield from ((alias.name, imported.module) for alias in imported.names if alias.asname)
