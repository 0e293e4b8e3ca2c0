"""Finds specs and templates: the project's folder first, then the user's, then what ships with the kit.

The shipped ones are at the top of the repository (`modelfiles/`, `templates/`); a wheel has them inside the
package. Both are looked for, so a wheel, an editable install and a checkout behave alike.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent


@cache
def shipped_root() -> Path:
    """The folder with the kit's own `modelfiles/` and `templates/`."""
    inside_wheel = PACKAGE / "_shipped"
    return inside_wheel if inside_wheel.is_dir() else PACKAGE.parent


def user_root() -> Path:
    """The user's own folder of specs, templates and settings; `OLLAMA_KIT_HOME` overrides the platform's."""
    named = os.environ.get("OLLAMA_KIT_HOME")
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_config_dir("ollama-kit", appauthor=False))


def cache_root() -> Path:
    """Where derived data may be kept: rebuilt tokenizers and hashes of large files, never a user's text."""
    named = os.environ.get("OLLAMA_KIT_CACHE")
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_cache_dir("ollama-kit", appauthor=False))


def project_root(start: Path | None = None) -> Path | None:
    """The nearest folder, from `start` (default: the current one) upwards, that is an ollama-kit project."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "ollama-kit.yaml").is_file() or (folder / "modelfiles").is_dir():
            return folder
    return None


def search_path(kind: str) -> tuple[Path, ...]:
    """The folders that may have resources of a kind (`modelfiles` or `templates`); the first one wins."""
    project = project_root()
    roots = [project] if project else []
    return tuple(dict.fromkeys(root / kind for root in (*roots, user_root(), shipped_root())))


def find(kind: str, name: str) -> Path | None:
    """The first file called `name` among the folders of that kind, or None."""
    return next((path for folder in search_path(kind) if (path := folder / name).is_file()), None)


def each(kind: str, suffix: str) -> Iterator[Path]:
    """Every resource of a kind, sorted by name; one that is shadowed by an earlier folder is left out."""
    seen: dict[str, Path] = {}
    for folder in search_path(kind):
        if folder.is_dir():
            for path in folder.iterdir():
                if path.suffix == suffix and path.is_file():
                    seen.setdefault(path.name, path)
    yield from (seen[name] for name in sorted(seen))
