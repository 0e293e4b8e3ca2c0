"""Summaries as files, under names that every system takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ollama_kit.documents.pages.output_files import chosen_formats, numbered, safe_stem, write_all
from ollama_kit.jobs.wechat.summary import Summary
from ollama_kit.jobs.wechat.writers.calendar import write_ics
from ollama_kit.jobs.wechat.writers.page import write_html, write_markdown
from ollama_kit.jobs.wechat.writers.summary_data import write_csv, write_json

WRITERS: dict[str, Callable[[Summary], str]] = {
    "json": write_json,
    "md": write_markdown,
    "html": lambda summary: write_html([summary]),
    "ics": write_ics,
    "csv": write_csv,
}
FORMATS = tuple(WRITERS)
"""What a summary can be written as; each is also the end of its file's name."""


def write_summary(
    summary: Summary, folder: Path, formats: Iterable[str] = ("md", "json"), *, stem: str = ""
) -> tuple[Path, ...]:
    """Writes one file a format into `folder`, which is made if need be, and returns their paths in the order asked.

    Everything is rendered before the first file is written, and each is written beside and then renamed. A file of
    that name is replaced: the same chat up to the same day. `stem` is the name without its end where the caller has
    one (`write_summaries` does, for chats of one name). UsageError for a format that there is none of.
    """
    texts = {name: WRITERS[name](summary) for name in chosen_formats(formats, FORMATS, "a summary")}
    return write_all(folder, {f"{stem or file_stem(summary)}.{name}": text for name, text in texts.items()})


def write_summaries(
    summaries: Sequence[Summary], folder: Path, formats: Iterable[str] = ("md", "json")
) -> tuple[Path, ...]:
    """Writes the summaries of one run. Chats whose names are the same to a file system are numbered in their order:
    `家人 2026-07-08`, `家人 2026-07-08 (2)`."""
    wanted = tuple(formats)
    stems = numbered(map(file_stem, summaries))
    written = (
        write_summary(summary, folder, wanted, stem=stem) for summary, stem in zip(summaries, stems, strict=True)
    )
    return tuple(path for paths in written for path in paths)


def file_stem(summary: Summary) -> str:
    """A file's name without its end: the chat's name, as far as every system takes it, and the day of its last
    message."""
    name = safe_stem(summary.chat, "chat")
    return f"{name} {summary.last:%Y-%m-%d}" if summary.last else name
