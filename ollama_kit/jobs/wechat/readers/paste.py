"""What is copied out of a chat by hand: a line like `name 2026/3/9 9:02` above the words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ollama_kit.jobs.wechat.readers.kinds import of_system, sounds_like_system
from ollama_kit.jobs.wechat.readers.marks import of_brackets
from ollama_kit.jobs.wechat.readers.memotrace import group_of_file
from ollama_kit.jobs.wechat.readers.record import Broken, Event, Options, Record
from ollama_kit.jobs.wechat.readers.stream import Source
from ollama_kit.jobs.wechat.readers.text_blocks import Stray, read_blocks
from ollama_kit.jobs.wechat.readers.timestamps import moment

_DATE = r"\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?"
_CLOCK = r"(?:上午|下午|中午|晚上|凌晨)?[ \t]?\d{1,2}:\d{2}(?::\d{2})?(?: ?[AP]M)?"
HEADER = re.compile(rf"(?P<name>\S(?:.{{0,62}}\S)??)[:：]?[ \t]+(?P<time>{_DATE}[ \t]*{_CLOCK})[:：]?")


def header(line: str, after_blank: bool) -> re.Match[str] | None:
    """The match of a line that begins a message."""
    return HEADER.fullmatch(line) if line[-1:] in "0123456789:：Mm" and not line.startswith(">") else None


def read_paste(source: Source, options: Options) -> Iterator[Event]:
    """The messages. A paste has names only, and does not say which are one's own."""
    group = group_of_file(source)
    for block in read_blocks(source.lines(), header):
        if isinstance(block, Stray):
            yield Broken(block.line, f"{block.lines} lines before the first message")
            continue
        try:
            when = moment(block.header["time"], options.zone)
        except ValueError as problem:
            yield Broken(block.line, str(problem))
            continue
        name = block.header["name"]
        if sounds_like_system(block.text):
            yield Record("", when, "", "", False, of_system(block.text), block.text, None, group, block.line)
            continue
        kind, text, detail = of_brackets(block.text) or ("text", block.text, "")
        yield Record("", when, name, name, False, kind, text, None, group, block.line, detail)
