"""Summaries as files, under names that every system takes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path

from ollama_kit.encodings import write_text
from ollama_kit.errors import UsageError, nearest_names
from ollama_kit.guard.graphemes import cut_before
from ollama_kit.jobs.wechat.summary import Summary
from ollama_kit.jobs.wechat.writers.calendar import write_ics
from ollama_kit.jobs.wechat.writers.data import write_csv, write_json
from ollama_kit.jobs.wechat.writers.markdown import write_markdown
from ollama_kit.jobs.wechat.writers.page import write_html
from ollama_kit.jobs.wechat.writers.plain import one_line

WRITERS: dict[str, Callable[[Summary], str]] = {
    "json": write_json,
    "md": write_markdown,
    "html": lambda summary: write_html([summary]),
    "ics": write_ics,
    "csv": write_csv,
}
FORMATS = tuple(WRITERS)
"""What a summary can be written as; each is also the end of its file's name."""

LONGEST_NAME = 120
"""Bytes of UTF-8 that a chat's name may take of a file's name: file systems allow 255 for all of it, and Windows 260
characters for the whole path."""

RESERVED = frozenset(
    {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}
    | {f"{port}{digit}" for port in ("COM", "LPT") for digit in "0123456789¹²³"}
)
"""Device names of Windows, with whatever extension. Source: Microsoft, Naming Files, Paths, and Namespaces."""


def write_summary(
    summary: Summary, folder: Path, formats: Iterable[str] = ("md", "json"), *, stem: str = ""
) -> tuple[Path, ...]:
    """Writes one file a format into `folder`, which is made if need be, and returns their paths in the order asked.

    Everything is rendered before the first file is written, and each is written beside and then renamed. A file of
    that name is replaced: the same chat up to the same day. `stem` is the name without its end where the caller has
    one (`write_summaries` does, for chats of one name). UsageError for a format that there is none of.
    """
    wanted = tuple(dict.fromkeys(formats))
    for name in wanted:
        if name not in WRITERS:
            near = nearest_names(name, FORMATS)
            hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(FORMATS)}."
            raise UsageError(f"a summary can not be written as {name!r}", hint=hint)
    texts = {name: WRITERS[name](summary) for name in wanted}
    folder.mkdir(parents=True, exist_ok=True)
    paths = {name: folder / f"{stem or file_stem(summary)}.{name}" for name in wanted}
    for name, path in paths.items():
        write_text(path, texts[name])
    return tuple(paths.values())


def write_summaries(
    summaries: Sequence[Summary], folder: Path, formats: Iterable[str] = ("md", "json")
) -> tuple[Path, ...]:
    """Writes the summaries of one run. Chats whose names are the same to a file system are numbered in their order:
    `家人 2026-07-08`, `家人 2026-07-08 (2)`."""
    wanted = tuple(formats)
    taken: set[str] = set()
    paths: list[Path] = []
    for summary in summaries:
        stem = plain = file_stem(summary)
        number = 1
        while _folded(stem) in taken:
            number += 1
            stem = f"{plain} ({number})"
        taken.add(_folded(stem))
        paths += write_summary(summary, folder, wanted, stem=stem)
    return tuple(paths)


def _folded(name: str) -> str:
    """What names have in common that are one file on Windows or macOS."""
    return unicodedata.normalize("NFC", name.casefold())


def file_stem(summary: Summary) -> str:
    """A file's name without its end: the chat's name, as far as every system takes it, and the day of its last
    message. A name that had to be changed gets four digits of its hash, for two chats must not become one file."""
    written = one_line(summary.chat)
    name = _safe(written)
    if name != written or not name:
        name = f"{name or 'chat'} {sha256(summary.chat.encode('utf-8', 'replace')).hexdigest()[:4]}"
    return f"{name} {summary.last:%Y-%m-%d}" if summary.last else name


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
