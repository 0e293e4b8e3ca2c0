"""Distributions as an installer leaves them in a folder, made on the spot: no network, and no second process."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

EXAMPLE = Path(__file__).parents[1] / "examples" / "plugin"

Entries = Mapping[str, Mapping[str, str]]
"""By group and name: the target."""


def install(
    site: Path, name: str, entries: Entries, modules: Mapping[str, str] | None = None, *, summary: str = ""
) -> Path:
    """Puts version 1.0 of a distribution into the folder `site`: its metadata, and its modules by name. Gives the
    folder with the metadata."""
    info = site / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n" + (f"Summary: {summary}\n" if summary else "")
    (info / "METADATA").write_text(about, encoding="utf-8")
    sections = (
        f"[{group}]\n" + "".join(f"{entry} = {target}\n" for entry, target in named.items())
        for group, named in entries.items()
    )
    (info / "entry_points.txt").write_text("\n".join(sections), encoding="utf-8")
    for module, source in (modules or {}).items():
        (site / f"{module}.py").write_text(source, encoding="utf-8")
    return info


def install_example(site: Path) -> None:
    """Puts examples/plugin into the folder, with the entries that its pyproject.toml declares."""
    project = pyproject(EXAMPLE)["project"]
    install(site, project["name"], project["entry-points"], summary=project["description"])
    shutil.copytree(EXAMPLE / "ollama_kit_example", site / "ollama_kit_example")


def pyproject(folder: Path) -> dict[str, dict]:
    """The pyproject.toml in a folder."""
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10, where pytest itself brings tomli
        import tomli as tomllib
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
