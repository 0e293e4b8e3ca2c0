"""A chat as people export it, read into messages, selected, and (by the modules above) summarized.

Nothing here needs a server until a summary is asked for, and nothing is loaded before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.jobs.wechat.job import Estimate, WeChatJob
    from ollama_kit.jobs.wechat.message import CHINA, Group, Kind, Message, Place, Quoted
    from ollama_kit.jobs.wechat.readers.reading import Chat, Reading, ReadOptions, read_chat, read_messages
    from ollama_kit.jobs.wechat.readers.report import BrokenRow, ReadReport
    from ollama_kit.jobs.wechat.selection import Selection, select, selection_of, zone_named
    from ollama_kit.jobs.wechat.summary import Coverage, Question, Summary, Todo, Topic
    from ollama_kit.jobs.wechat.writers import (
        write_csv,
        write_html,
        write_ics,
        write_json,
        write_markdown,
        write_summaries,
    )

_HOMES = {
    "Coverage": "summary",
    "Estimate": "job",
    "Question": "summary",
    "Summary": "summary",
    "Todo": "summary",
    "Topic": "summary",
    "WeChatJob": "job",
    "write_csv": "writers",
    "write_html": "writers",
    "write_ics": "writers",
    "write_json": "writers",
    "write_markdown": "writers",
    "write_summaries": "writers",
    "CHINA": "message",
    "BrokenRow": "readers.report",
    "Chat": "readers.reading",
    "Group": "message",
    "Kind": "message",
    "Message": "message",
    "Place": "message",
    "Quoted": "message",
    "ReadOptions": "readers.reading",
    "ReadReport": "readers.report",
    "Reading": "readers.reading",
    "Selection": "selection",
    "read_chat": "readers.reading",
    "read_messages": "readers.reading",
    "select": "selection",
    "selection_of": "selection",
    "zone_named": "selection",
}

__all__ = [
    "Coverage",
    "Estimate",
    "Question",
    "Summary",
    "Todo",
    "Topic",
    "WeChatJob",
    "write_csv",
    "write_html",
    "write_ics",
    "write_json",
    "write_markdown",
    "write_summaries",
    "CHINA",
    "BrokenRow",
    "Chat",
    "Group",
    "Kind",
    "Message",
    "Place",
    "Quoted",
    "ReadOptions",
    "ReadReport",
    "Reading",
    "Selection",
    "read_chat",
    "read_messages",
    "select",
    "selection_of",
    "zone_named",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
