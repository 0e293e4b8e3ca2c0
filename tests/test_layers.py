"""The shape of the package: imports point one way, libraries have their place, and nothing grows out of sight."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

import ollama_kit

ROOT = Path(ollama_kit.__file__).parent
ORDER = (
    ("lazy", "records"),
    ("errors",),
    ("resources", "text"),
    ("templating",),
    ("specs",),
    ("settings",),
    ("modelfile",),
    ("server",),
    ("tokens",),
    ("structured",),
    ("memory",),
    ("guard",),
    ("audit",),
    ("builder",),
    ("client",),
    ("documents",),
    ("jobs",),
    ("cli",),
    ("__main__",),
)
"""The layers, lowest first. A module imports from its own layer's package and from lower layers."""
LEVEL = {name: level for level, names in enumerate(ORDER) for name in names}
FACADE = "__init__"
"""The package itself stands outside: it names what the layers offer, and the version, which every layer may read."""

CONFINED = {"httpx": "server", "ollama": "server"}
"""Libraries that one layer alone may import."""
VAGUE = {"util", "utils", "helper", "helpers", "manager", "managers", "common", "core", "base", "misc"}

MODULE_LINES, FUNCTION_LINES, PARAMETERS = 300, 40, 6


@dataclass(frozen=True)
class Module:
    """One file of the package: its dotted name below `ollama_kit`, its text and its tree."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def layer(self) -> str:
        return self.name.partition(".")[0]


@dataclass(frozen=True)
class Import:
    """One imported module, by its full name; `typing_only` where nothing is loaded when the program runs."""

    name: str
    line: int
    typing_only: bool

    @property
    def layer(self) -> str:
        """The layer it is of; empty where it is another package, or the package itself."""
        package, _, rest = self.name.partition(".")
        return rest.partition(".")[0] if package == "ollama_kit" else ""


@cache
def modules() -> tuple[Module, ...]:
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        text = path.read_text(encoding="utf-8")
        found.append(Module(".".join(parts), path, text, ast.parse(text, str(path))))
    return tuple(found)


def imports_of(module: Module) -> Iterator[Import]:
    """Every import of a module, those inside functions and under TYPE_CHECKING too."""
    yield from _imports(module.tree, module, typing_only=False)


def _imports(node: ast.AST, module: Module, typing_only: bool) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield Import(alias.name, node.lineno, typing_only)
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"{module.name}:{node.lineno}: a relative import"
        for alias in node.names:
            whole = f"{node.module}.{alias.name}"
            yield Import(whole if node.module == "ollama_kit" else str(node.module), node.lineno, typing_only)
    for child in ast.iter_child_nodes(node):
        guarded = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test) and child in node.body
        yield from _imports(child, module, typing_only or guarded)


def functions_of(module: Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines from `def` to the end, without decorators and without the docstring."""
    lines = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def parameter_count(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many values a caller can give; `self` and `cls` are not given."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    count = len(named) + (arguments.vararg is not None) + (arguments.kwarg is not None)
    return count - (bool(named) and named[0].arg in ("self", "cls"))


def is_command(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether click calls it: there each parameter is an option of the command line."""
    return any(
        "click" in ast.dump(decorator) and "command" in ast.dump(decorator) for decorator in function.decorator_list
    )


def test_every_module_has_a_place_in_the_order() -> None:
    """A new package or module is put into ORDER on purpose, and one that is gone is taken out."""
    there = {module.layer for module in modules()} - {FACADE}
    assert there == set(LEVEL)


def test_imports_point_down() -> None:
    """No module imports from a higher layer, nor from its neighbor on the same one."""
    upward = [
        f"{module.name}:{found.line} imports {found.name}"
        for module in modules()
        if module.name != FACADE
        for found in imports_of(module)
        if found.layer in LEVEL and found.layer != module.layer and LEVEL[found.layer] >= LEVEL[module.layer]
    ]
    assert not upward


def test_modules_import_modules_and_not_the_facade() -> None:
    """Only the version comes from the package itself: its other names would load a higher layer behind the scenes."""
    through = [
        f"{module.name}:{found.line} imports {found.name}"
        for module in modules()
        if module.name != FACADE
        for found in imports_of(module)
        if found.name.partition(".")[0] == "ollama_kit" and found.layer not in {*LEVEL, "__version__"}
    ]
    assert not through


@pytest.mark.parametrize(("library", "layer"), CONFINED.items())
def test_a_confined_library_is_imported_in_its_layer_only(library: str, layer: str) -> None:
    """What talks to a server stands in one place, so that its errors are translated in one place."""
    importers = {
        module.layer for module in modules() for found in imports_of(module) if found.name.partition(".")[0] == library
    }
    assert importers == {layer}


def test_no_name_is_vague() -> None:
    """Nothing is called by what says nothing of its content."""
    assert not [module.name for module in modules() if VAGUE & {part.strip("_") for part in module.name.split(".")}]


def test_no_module_is_long() -> None:
    """A module past the limit has two subjects."""
    lengths = {module.name: len(module.text.splitlines()) for module in modules()}
    assert not {name: length for name, length in lengths.items() if length > MODULE_LINES}


def test_no_function_is_long() -> None:
    """A function past the limit, its docstring apart, has a step that wants a name."""
    lengths = {
        f"{module.name}.{function.name}": body_lines(function)
        for module in modules()
        for function in functions_of(module)
    }
    assert not {name: length for name, length in lengths.items() if length > FUNCTION_LINES}


def test_no_signature_is_wide() -> None:
    """Parameters past the limit are a value that wants to exist; of a command each is an option."""
    widths = {
        f"{module.name}.{function.name}": parameter_count(function)
        for module in modules()
        for function in functions_of(module)
        if not is_command(function)
    }
    assert not {name: width for name, width in widths.items() if width > PARAMETERS}
