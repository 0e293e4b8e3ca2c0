"""Names of files that Windows, macOS and Linux all take."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from hashlib import sha256

from ollama_kit.documents.pages.plain import one_line
from ollama_kit.text.graphemes import cut_before

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
    """`name` without what Windows refuses: `\\ / : * ? " < > |`, a dot or a blank at the end, a device's name; and
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
