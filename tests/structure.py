"""The package as its own source shows it: modules, imports, functions. What `test_layers` holds and `make report`
prints."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import ollama_kit

ROOT = Path(ollama_kit.__file__).parent
FACADE = "__init__"
"""The package itself is outside the order: it names what the layers offer, and the version, which every layer may
read."""


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


def graph() -> dict[str, frozenset[str]]:
    """By module, the modules of the package that it imports, for types alone too. A package's `__init__` that loads
    names on their first use imports none of them."""
    names = {_full_name(module): module for module in modules()}
    return {
        name: frozenset() if module.name.endswith(FACADE) else frozenset(_targets(module, names.keys())) - {name}
        for name, module in names.items()
    }


def circles() -> list[list[str]]:
    """The groups of modules that import each other, by whatever way round (Tarjan's strongly connected components)."""
    edges, order, lowest, stack, found = graph(), {}, {}, [], []
    number = iter(range(len(edges)))

    def visit(name: str) -> None:
        order[name] = lowest[name] = next(number)
        stack.append(name)
        for target in edges[name]:
            if target not in order:
                visit(target)
            if target in stack:
                lowest[name] = min(lowest[name], lowest[target])
        if lowest[name] == order[name]:
            group = stack[stack.index(name) :]
            del stack[stack.index(name) :]
            if len(group) > 1:
                found.append(sorted(group))

    for name in edges:
        if name not in order:
            visit(name)
    return found


def package_edges() -> frozenset[tuple[str, str]]:
    """(layer, layer that it imports), for each pair of different layers. The package itself is none of them."""
    names = ((name.split("."), target.split(".")) for name, targets in graph().items() for target in targets)
    pairs = ((one[1], other[1]) for one, other in names if len(one) > 1 and len(other) > 1)
    return frozenset((one, other) for one, other in pairs if one != other)


def single_importers() -> list[tuple[str, str]]:
    """(module, the only module that imports it), among modules that somebody imports."""
    importers = {name: [one for one, targets in graph().items() if name in targets] for name in graph()}
    return [(name, found[0]) for name, found in importers.items() if len(found) == 1]


def duplicate_names() -> dict[str, list[str]]:
    """File names that more than one folder has, with their modules."""
    names = Counter(module.path.name for module in modules() if module.path.name != "__init__.py")
    return {
        name: [module.name for module in modules() if module.path.name == name]
        for name, count in names.items()
        if count > 1
    }


def complexity(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Ways through a function, as McCabe counts them: one, and one more for each branch."""
    branches = (
        ast.If,
        ast.IfExp,
        ast.For,
        ast.AsyncFor,
        ast.While,
        ast.ExceptHandler,
        ast.comprehension,
        ast.match_case,
    )
    counted = sum(isinstance(node, branches) for node in ast.walk(function))
    return 1 + counted + sum(len(node.values) - 1 for node in ast.walk(function) if isinstance(node, ast.BoolOp))


def _full_name(module: Module) -> str:
    return f"ollama_kit.{module.name}".removesuffix(f".{FACADE}")


def _targets(module: Module, known: object) -> Iterator[str]:
    names = frozenset(known)  # type: ignore[call-overload]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            yield from inner & names
            if node.module in names and inner - names:
                yield node.module
