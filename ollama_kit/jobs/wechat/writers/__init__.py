"""A summary as people and programs read it: JSON, Markdown, HTML, iCalendar, CSV.

Each `write_…` is pure: the same summary gives the same text, byte for byte. What comes from the chat or the model is
escaped in each of them; only JSON keeps it as it was said.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.jobs.wechat.writers.calendar import write_ics
    from ollama_kit.jobs.wechat.writers.data import write_csv, write_json
    from ollama_kit.jobs.wechat.writers.files import FORMATS, file_stem, write_summaries, write_summary
    from ollama_kit.jobs.wechat.writers.markdown import write_markdown
    from ollama_kit.jobs.wechat.writers.page import write_html

_HOMES = {
    "FORMATS": "files",
    "file_stem": "files",
    "write_csv": "data",
    "write_html": "page",
    "write_ics": "calendar",
    "write_json": "data",
    "write_markdown": "markdown",
    "write_summaries": "files",
    "write_summary": "files",
}

__all__ = [
    "FORMATS",
    "file_stem",
    "write_csv",
    "write_html",
    "write_ics",
    "write_json",
    "write_markdown",
    "write_summaries",
    "write_summary",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
