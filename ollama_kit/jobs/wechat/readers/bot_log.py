"""The debug log of chatgpt-on-wechat: what the bot received, and what it answered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ollama_kit.jobs.wechat.message import Group, Kind
from ollama_kit.jobs.wechat.readers.kinds import of_system
from ollama_kit.jobs.wechat.readers.memotrace import group_of_file
from ollama_kit.jobs.wechat.readers.record import Broken, Event, Note, Options, Record
from ollama_kit.jobs.wechat.readers.stream import Source
from ollama_kit.jobs.wechat.readers.text_blocks import Block, Stray, read_blocks
from ollama_kit.jobs.wechat.readers.timestamps import moment

LINE = re.compile(r"\[[A-Z]+\]\[(?P<time>[^\]]{19})\]\[[^\]]*\] - (?P<rest>.*)")
_RECEIVED: tuple[tuple[str, Kind], ...] = (
    ("[WX]receive group msg: ", "text"),
    ("[WX]receive msg: ", "text"),
    ("[WX]receive text msg: ", "text"),
    ("[WX]receive note msg: ", "system"),
    ("[WX]receive image for group msg: ", "image"),
    ("[WX]receive image msg: ", "image"),
    ("[WX]receive voice for group msg: ", "voice"),
    ("[WX]receive voice msg: ", "voice"),
    ("[WX]receive attachment msg, file_name=", "file"),
)
_SENT = re.compile(r"\[WX\] sendMsg=Reply\(type=TEXT, content=(.*)\), receiver=(.*)", re.DOTALL)


def _header(line: str, after_blank: bool) -> re.Match[str] | None:
    return LINE.fullmatch(line) if line.startswith("[") else None


def read_bot_log(source: Source, options: Options) -> Iterator[Event]:
    """The messages that the log mentions, in its order; other lines are passed over. Nobody's name is in it."""
    yield Note("this log does not say who wrote: there are no names to give a to-do to")
    group = group_of_file(source)
    for block in read_blocks(source.lines(), _header):
        if isinstance(block, Stray):
            continue
        try:
            record = _of_block(block, options, group)
        except ValueError as problem:
            yield Broken(block.line, str(problem))
            continue
        if record is not None:
            yield record


def _of_block(block: Block, options: Options, group: Group) -> Record | None:
    rest = block.header["rest"] + ("" if block.bare else "\n" + block.text)
    for begin, kind in _RECEIVED:
        if rest.startswith(begin):
            when, text = moment(block.header["time"], options.zone), rest[len(begin) :]
            if kind == "system":
                return Record("", when, "", "", False, of_system(text), text, None, group, block.line)
            words, detail = ("", text) if kind in ("image", "voice") else (text, "")
            return Record("", when, "", "", False, kind, words, None, group, block.line, detail)
    if sent := _SENT.match(rest):
        when = moment(block.header["time"], options.zone)
        return Record("", when, "bot", "bot", True, "text", sent[1], None, group, block.line)
    return None
