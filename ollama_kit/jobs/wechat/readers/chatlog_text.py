"""chatlog's plain text: `name(wxid) [room(id)] time` above each message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime

from ollama_kit.jobs.wechat.message import Group
from ollama_kit.jobs.wechat.readers.chatlog import SYSTEM, of_text
from ollama_kit.jobs.wechat.readers.kinds import of_system
from ollama_kit.jobs.wechat.readers.memotrace import group_of_file
from ollama_kit.jobs.wechat.readers.record import ROW_PROBLEMS, Broken, Event, Note, Options, Record, problem_of
from ollama_kit.jobs.wechat.readers.stream import Source
from ollama_kit.jobs.wechat.readers.text_blocks import Block, Stray, read_blocks
from ollama_kit.jobs.wechat.readers.timestamps import dated, moment

TIME = r"(?P<time>(?:(?:\d{4}-)?\d{2}-\d{2} )?\d{2}:\d{2}:\d{2})"
_HEADER = re.compile(
    r"(?P<who>[^>\s].{0,256}?)(?:\((?P<id>[^()\s]{1,64})\))?(?: \[(?P<room>.{0,256})\((?P<room_id>[^()\s]{1,64})\)\])? "
    + TIME
)
_SURE = re.compile(r"\((?:我|wxid_[\w-]+|[\w.-]+@openim)\)(?: \[.{0,256}\([^()\s]{1,64}\)\])? (?:[\d-]+ )?[\d:]{8}$")
"""A header that is one even without an empty line before it: a nickname can hold a line break."""
OWN = "我"


def header(line: str, after_blank: bool) -> re.Match[str] | None:
    """The match of a line that begins a message."""
    if line[-3:-2] != ":" or line.startswith("> ") or not (after_blank or _SURE.search(line)):
        return None
    return _HEADER.fullmatch(line)


def read_chatlog_text(source: Source, options: Options) -> Iterator[Event]:
    """The messages. chatlog leaves the year out of its times, or the date, when the range asked for makes that clear;
    they are then put at `options.day` or before, by default the day that the file was written."""
    last_day, group, guessed = options.day or _written_on(source, options), group_of_file(source), False
    for block in read_blocks(source.lines(), header):
        if isinstance(block, Stray):
            yield Broken(block.line, f"{block.lines} lines before the first message")
            continue
        try:
            written = block.header["time"]
            whole = len(written) == len("2026-03-09 09:02:11")
            guessed = guessed or not whole
            when = moment(written, options.zone) if whole else dated(written, last_day, options.zone)
            yield _of_block(block, when, group)
        except ROW_PROBLEMS as problem:
            yield Broken(block.line, problem_of(problem))
    if guessed:
        source_of_day = "as given" if options.day else "the day the file was written"
        yield Note(f"times without a year or date were put at or before {last_day} ({source_of_day})")


def _written_on(source: Source, options: Options) -> date:
    return datetime.fromtimestamp(source.path.stat().st_mtime, options.zone).date()


def _of_block(block: Block, when: datetime, group: Group) -> Record:
    found = block.header
    if found["room_id"]:
        group = Group(found["room_id"], found["room"], not found["room_id"].endswith("@chatroom"))
    name, sender = found["who"], found["id"] or found["who"]
    if name == SYSTEM and not found["id"]:
        return Record("", when, "", "", False, of_system(block.text), block.text, None, group, block.line)
    own = sender == OWN
    (kind, text, detail), reply = of_text(block.text)
    return Record("", when, name if own else sender, name, own, kind, text, reply, group, block.line, detail)
