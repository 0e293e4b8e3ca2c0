"""`make report`: the shape of the package in figures, to be read before and after a change. It holds nothing.

Longest modules and functions, most branches and parameters, modules with one importer, file names that occur twice, and
how many modules each package has.
"""

from __future__ import annotations

from collections import Counter

from tests.structure import (
    body_lines,
    circles,
    complexity,
    duplicate_names,
    functions_of,
    is_command,
    modules,
    parameter_count,
    single_importers,
)

SHOWN = 15


def main() -> None:
    """Prints the report."""
    lines = {module.name: len(module.text.splitlines()) for module in modules()}
    print(f"{len(lines)} modules, {sum(lines.values()):,} lines\n")
    _table("modules by package", Counter(name.split(".")[0] for name in lines).most_common())
    _table("longest modules (lines)", Counter(lines).most_common(SHOWN))
    functions = {
        f"{module.name}.{function.name}": function for module in modules() for function in functions_of(module)
    }
    _table("longest functions (lines without docstring)", _most({n: body_lines(f) for n, f in functions.items()}))
    _table("most branches (McCabe)", _most({n: complexity(f) for n, f in functions.items()}))
    widths = {name: parameter_count(function) for name, function in functions.items() if not is_command(function)}
    _table("most parameters", _most(widths))
    alone = single_importers()
    _table(f"modules with one importer: {len(alone)}", [(name, importer) for name, importer in alone])
    _table("file names that occur more than once", [(n, ", ".join(found)) for n, found in duplicate_names().items()])
    _table("circles", [(", ".join(group), "") for group in circles()])


def _most(figures: dict[str, int]) -> list[tuple[str, int]]:
    return Counter(figures).most_common(SHOWN)


def _table(title: str, rows: list[tuple[str, object]] | list[tuple[str, int]] | list[tuple[str, str]]) -> None:
    print(title)
    for name, value in rows:
        print(f"  {name:70} {value}")
    print()


if __name__ == "__main__":
    main()
