"""Writes what a job made: all of it rendered first, each file whole or not at all, under names that Windows, macOS and
Linux all take.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile

from ollama_kit.documents.pages.escaping import one_line
from ollama_kit.errors import UsageError, nearest_names
from ollama_kit.text.characters import cut_before
from ollama_kit.text.encodings import write_bytes
from ollama_kit.text.private_files import make_own_folder


def chosen_formats(formats: Iterable[str], known: Sequence[str], what: str) -> tuple[str, ...]:
    """The formats asked for, each once, in their order. UsageError, with the nearest one, for one that is not known;
    `what` is what cannot be written so: a summary."""
    wanted = tuple(dict.fromkeys(formats))
    for name in wanted:
        if name not in known:
            near = nearest_names(name, tuple(known))
            hint = (
                (f"Did you mean {near[0]}?", f"是否想写 {near[0]}？")
                if near
                else (f"There are {', '.join(known)}.", f"可选：{'、'.join(known)}。")
            )
            raise UsageError(f"{what} cannot be written as {name!r}", hint=hint)
    return wanted


def make_folder(folder: Path) -> Path:
    """The folder, which is made if need be; UsageError where it cannot be made or nothing can be written into it."""
    try:
        make_own_folder(folder)
        with TemporaryFile(dir=folder):  # the only answer that all systems give: permissions alone do not tell
            pass
    except OSError as problem:
        raise unwritable(folder, problem) from problem
    return folder


def write_all(folder: Path, contents: Mapping[str, str | bytes]) -> tuple[Path, ...]:
    """Writes each content into `folder`, which is made if need be, under its name; returns the paths in that order.

    Each is written to a temporary name and then renamed, so that a file of that name is replaced whole. UsageError for
    what cannot be written."""
    make_folder(folder)
    paths = []
    for name, content in contents.items():
        path = folder / name
        try:
            write_bytes(path, content.encode("utf-8") if isinstance(content, str) else content)
        except OSError as problem:
            raise unwritable(path, problem) from problem
        paths.append(path)
    return tuple(paths)


def unwritable(path: Path, problem: OSError) -> UsageError:
    """The error for a file that cannot be written."""
    return UsageError(
        f"{path} cannot be written: {problem.strerror or problem}",
        hint=(
            "Name a folder that you may write into with --out, with room on its disk.",
            "请用 --out 指定有写入权限、且磁盘空间足够的文件夹。",
        ),
    )


LONGEST_NAME = 120
"""Bytes of UTF-8 that a name from outside may take of a file's: file systems allow 255 for all of it, and Windows 260
characters for the whole path."""

RESERVED = frozenset(
    {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}
    | {f"{port}{digit}" for port in ("COM", "LPT") for digit in "0123456789¹²³"}
)
"""Device names of Windows, with whatever extension. Source: Microsoft, Naming Files, Paths, and Namespaces."""


def safe_stem(name: str, fallback: str) -> str:
    """A file's name without its end: `name` as far as every system takes it, `fallback` where nothing is left of it. A
    name that had to be changed gets four digits of its hash, for two must not become one file.

    >>> safe_stem("采购合同.pdf", "contract"), safe_stem("a/b", "contract")
    ('采购合同.pdf', 'a_b c14c')
    """
    written = one_line(name)
    safe = _safe(written)
    if safe == written and safe:
        return safe
    return f"{safe or fallback} {sha256(name.encode('utf-8', 'replace')).hexdigest()[:4]}"


def numbered(stems: Iterable[str]) -> tuple[str, ...]:
    """The stems of one run, each its own: those that are one to a file system are numbered in their order.

    >>> numbered(["Team", "team", "other"])
    ('Team', 'team (2)', 'other')
    """
    taken: set[str] = set()
    given = []
    for plain in stems:
        stem, number = plain, 1
        while _folded(stem) in taken:
            number += 1
            stem = f"{plain} ({number})"
        taken.add(_folded(stem))
        given.append(stem)
    return tuple(given)


def _folded(name: str) -> str:
    """What names have in common that are one file on Windows or macOS."""
    return unicodedata.normalize("NFC", name.casefold())


def _safe(name: str) -> str:
    """`name` without what Windows refuses: `\\ / : * ? " < > |`, a dot or a space at the end, a device's name; and
    without a dot or a dash first, which hide a file or look like an option.

    >>> _safe("CON.群"), _safe("a/b: c?. "), _safe("..")
    ('_CON.群', 'a_b_ c_', '')
    """
    safe = _refused().sub("_", name).strip(" .")
    safe = f"_{safe[1:]}" if safe.startswith("-") else safe
    if safe.split(".")[0].rstrip().upper() in RESERVED:
        safe = f"_{safe}"
    if len(safe.encode("utf-8")) > LONGEST_NAME:
        fits = safe.encode("utf-8")[:LONGEST_NAME].decode("utf-8", "ignore")
        safe = safe[: cut_before(safe, len(fits)) or len(fits)].rstrip(" .")
    return safe


@cache
def _refused() -> re.Pattern[str]:
    return re.compile(r'[\\/:*?"<>|]')
