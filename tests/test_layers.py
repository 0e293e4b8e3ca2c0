"""The shape of the package: imports point one way, libraries have their place, and nothing grows out of sight."""

from __future__ import annotations

import pytest

from tests.structure import FACADE, circles, duplicate_names, imports_of, modules

ORDER = (
    ("lazy", "records"),
    ("errors",),
    ("plugins",),
    ("resources", "text", "bounded_jinja"),
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
CONFINED = {"httpx": "server", "ollama": "server"}
"""Libraries that one layer alone may import."""
VAGUE = {"util", "utils", "helper", "helpers", "manager", "managers", "common", "core", "base", "misc"}

MODULE_LINES = 600

SAME_JOB = frozenset({"files.py", "job.py", "page.py", "view.py", "wording.py", "plan.py"})
"""File names that several folders have for the same job in each: both jobs' writers, a command and what it shows."""


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


def test_nothing_imports_in_a_circle() -> None:
    """Neither when the program runs nor for types alone: a module can be read with what is below it and nothing
    else."""
    assert circles() == []


FEATURES = frozenset({"documents", "jobs", "demonstration", "cli", "__main__"})


def test_the_core_imports_no_feature() -> None:
    """Everything up to the clients works without documents and jobs."""
    upward = [
        f"{module.name}:{found.line} imports {found.name}"
        for module in modules()
        if module.layer not in {*FEATURES, FACADE}
        for found in imports_of(module)
        if found.layer in FEATURES
    ]
    assert not upward


def test_no_two_files_of_one_name_have_different_jobs() -> None:
    """A name typed into an editor's search finds one file, or several that do the same."""
    assert duplicate_names().keys() == SAME_JOB


def test_no_module_is_beyond_reading() -> None:
    """A module of more lines than that has several subjects. (`make report` shows the longest.)"""
    lengths = {module.name: len(module.text.splitlines()) for module in modules()}
    assert not {name: length for name, length in lengths.items() if length > MODULE_LINES}
