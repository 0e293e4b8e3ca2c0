"""Texts with `2026-03-09 09:02:40 name` above each message: MemoTrace 2, WeChatMsg 1 and WeFlow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from ollama_kit.jobs.wechat.message import Group
from ollama_kit.jobs.wechat.readers.kinds import of_system, sounds_like_system
from ollama_kit.jobs.wechat.readers.marks import (
    Content,
    of_brackets,
    of_memotrace,
    split_bracket_quote,
    split_memotrace_quote,
)
from ollama_kit.jobs.wechat.readers.memotrace import group_of_file
from ollama_kit.jobs.wechat.readers.record import Broken, Event, Options, Record, Reply
from ollama_kit.jobs.wechat.readers.stream import Source
from ollama_kit.jobs.wechat.readers.text_blocks import Block, Stray, read_blocks
from ollama_kit.jobs.wechat.readers.timestamps import moment

HEADER = re.compile(r"(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})(?: (.*))?")
_INLINE_NOTICE = re.compile(r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2} \S.*\r?\n\r?\n", re.MULTILINE)


def _header(line: str, after_blank: bool) -> re.Match[str] | None:
    return HEADER.fullmatch(line) if after_blank and line[:2].isdigit() else None


def dialect_of(head: str) -> str:
    """Which of the three wrote a text: WeFlow puts names in single quotes, WeChatMsg 1 a notice beside its time."""
    first = next((found for line in head.splitlines() if (found := HEADER.fullmatch(line)) and found[2]), None)
    if first is not None and len(first[2]) > 1 and first[2].startswith("'") and first[2].endswith("'"):
        return "weflow-txt"
    return "wechatmsg-v1-txt" if _INLINE_NOTICE.search(head) and "【" not in head else "memotrace-v2-txt"


def read_timed_text(source: Source, options: Options) -> Iterator[Event]:
    """The messages. Names are all that says who wrote; none is known to be one's own."""
    dialect, group = dialect_of(source.head), group_of_file(source)
    known: set[str] = set()
    for block in read_blocks(source.lines(), _header):
        if isinstance(block, Stray):
            yield Broken(block.line, f"{block.lines} lines before the first message")
            continue
        try:
            when = moment(block.header[1], options.zone)
        except ValueError as problem:
            yield Broken(block.line, str(problem))
            continue
        if dialect == "weflow-txt":
            yield _of_weflow(block, when, group, known)
        else:
            yield _of_memotrace(block, when, group, known, dialect)


def _of_memotrace(block: Block, when: datetime, group: Group, known: set[str], dialect: str) -> Record:
    name = block.header[2] or ""
    if block.bare and name and name not in known:  # WeChatMsg 1 has its notices on the line of the time
        return Record("", when, "", "", False, of_system(name), name, None, group, block.line)
    if not name:
        return Record("", when, "", "", False, of_system(block.text), block.text, None, group, block.line)
    known.add(name)
    content = marked_or_quote(block.text, v1=dialect == "wechatmsg-v1-txt")
    (kind, text, detail), reply = content
    return Record("", when, name, name, False, kind, text, reply, group, block.line, detail)


def marked_or_quote(text: str, v1: bool = False) -> tuple[Content, Reply | None]:
    """What a text of MemoTrace, or of WeChatMsg 1, is."""
    if marked := (of_brackets(text) if v1 else of_memotrace(text)):
        return marked, None
    if quote := split_memotrace_quote(text):
        return ("quote", quote[0], ""), quote[1]
    return ("text", text, ""), None


def _of_weflow(block: Block, when: datetime, group: Group, known: set[str]) -> Record:
    name = (block.header[2] or "").removeprefix("'").removesuffix("'")
    (kind, text, detail), reply = weflow_content(block.text)
    if kind == "text" and is_notice(text, name, known):
        return Record("", when, "", "", False, of_system(text), text, None, group, block.line)
    known.add(name)
    return Record("", when, name, name, False, kind, text, reply, group, block.line, detail)


def weflow_content(content: str) -> tuple[Content, Reply | None]:
    """What a text of WeFlow is, where nothing beside it says."""
    if marked := of_brackets(content):
        return marked, None
    if quote := split_bracket_quote(content):
        return ("quote", quote[0], ""), quote[1]
    return ("text", content, ""), None


def is_notice(text: str, name: str, known: set[str]) -> bool:
    """Whether a text is WeChat's own, where the format gives it a sender all the same: the group, or who recalled.
    Of somebody who has written before, only a recall can be."""
    return sounds_like_system(text) and (name not in known or of_system(text) == "recall")
