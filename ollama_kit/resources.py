"""Finds specs and templates: the project's folder first, then the user's, then what ships with the kit.

The shipped ones are at the top of the repository (`modelfiles/`, `templates/`); a wheel has them inside the
package. Both are looked for, so a wheel, an editable install and a checkout behave alike.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path

KINDS = ("modelfiles", "templates")
SETTINGS_FILE = "ollama-kit.yaml"
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
    """The nearest folder, from `start` (default: the current one) upwards, that is an ollama-kit project.

    The walk ends with the root of a repository, and before the home folder, a folder of another owner and one that
    everybody may write to: what lies there may come from anybody (git ends its own walk likewise)."""
    here = (start or Path.cwd()).resolve()
    home = _home()
    for folder in (here, *here.parents):
        if (folder == home and folder != here) or distrusted(folder):
            return None
        if _is_project(folder):
            return folder
        if (folder / ".git").exists():
            return None
    return None


def distrusted(folder: Path) -> str:
    """Why what lies in a folder is not taken for the user's own project; empty where it may be."""
    if os.name != "posix":
        return ""
    try:
        status = folder.stat()
    except OSError:
        return "it cannot be read"
    if status.st_uid != os.getuid():
        return "it belongs to another user"
    return "everybody may write to it" if status.st_mode & stat.S_IWOTH else ""


def distrusted_project() -> tuple[Path, str] | None:
    """The current folder and why it is not a project, where it looks like one."""
    here = Path.cwd().resolve()
    why = distrusted(here) if _is_project(here) else ""
    return (here, why) if why else None


def is_own(path: Path) -> bool:
    """Whether a file is the user's own or ships with the kit; what lies anywhere else may come from a stranger."""
    resolved = path.resolve()
    roots = (user_root(), *(shipped_root() / kind for kind in KINDS))
    return any(resolved.is_relative_to(root.resolve()) for root in roots)


def _is_project(folder: Path) -> bool:
    return (folder / SETTINGS_FILE).is_file() or (folder / "modelfiles").is_dir()


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):  # no home folder is known
        return None


def search_path(kind: str) -> tuple[Path, ...]:
    """The folders that may have resources of a kind (`modelfiles` or `templates`); the first one wins."""
    project = project_root()
    roots = [project] if project else []
    return tuple(dict.fromkeys(root / kind for root in (*roots, user_root(), shipped_root())))


def find(kind: str, name: str) -> Path | None:
    """The first file called `name` among the folders of that kind, or None."""
    return next((path for folder in search_path(kind) if (path := folder / name).is_file()), None)


def overriding(kind: str, *folders: str) -> tuple[Path, ...]:
    """The files of a project or of the user's own that are used in place of shipped ones, below these folders of a
    kind."""
    shipped = shipped_root() / kind
    names = sorted(
        path.relative_to(shipped).as_posix()
        for folder in folders
        for path in (shipped / folder).rglob("*")
        if path.is_file()
    )
    found = ((find(kind, name), shipped / name) for name in names)
    return tuple(used for used, own in found if used is not None and used.resolve() != own.resolve())


def each(kind: str, suffix: str) -> Iterator[Path]:
    """Every resource of a kind, sorted by name; one that is shadowed by an earlier folder is left out."""
    seen: dict[str, Path] = {}
    for folder in search_path(kind):
        if folder.is_dir():
            for path in folder.iterdir():
                if path.suffix == suffix and path.is_file():
                    seen.setdefault(path.name, path)
    yield from (seen[name] for name in sorted(seen))
