"""MemoTrace's text for language models: a line of stars a day, and who writes only when that changes.

It has lost the times of day, and where one message of a person ends and the next begins: what somebody writes in one
go is one message here, but for pictures and the like, which stand on lines of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from ollama_kit.jobs.wechat.message import Group
from ollama_kit.jobs.wechat.readers.kinds import of_system, sounds_like_system
from ollama_kit.jobs.wechat.readers.marks import of_memotrace
from ollama_kit.jobs.wechat.readers.memotrace import group_of_file
from ollama_kit.jobs.wechat.readers.record import Broken, Event, Note, Options, Record
from ollama_kit.jobs.wechat.readers.stream import Source
from ollama_kit.jobs.wechat.readers.timed_text import marked_or_quote
from ollama_kit.jobs.wechat.readers.timestamps import moment

DAY = re.compile(r"\*{8,}(\d{4}-\d{2}-\d{2})\*{8,}")
_SPEAKER = re.compile(r"(?!- \d)([^:\n]{0,64}):(.*)")
_LINK = "【分享链接】"
_ALONE = ("image", "video", "voice", "sticker", "file")


def read_daily_text(source: Source, options: Options) -> Iterator[Event]:
    """The messages, each at midnight of its day."""
    yield Note("this format has days only: every message is at 00:00, in the order of the file")
    group, day, name, start = group_of_file(source), None, "", 0
    held: list[str] = []
    after_blank = True
    for number, whole in enumerate(source.lines(), start=1):
        line = whole.rstrip("\r\n")
        found = DAY.fullmatch(line)
        speaker = _SPEAKER.fullmatch(line) if after_blank and not found else None
        if found or speaker:
            if day is not None:
                yield from _messages(held, name, day, group, start)
            held = []
        if found:
            try:
                day = moment(found[1] + " 00:00:00", options.zone)
            except ValueError as problem:
                yield Broken(number, str(problem))
        elif speaker:
            name, start, held = speaker[1], number, [speaker[2]]
        elif held or line:
            held.append(line)
            start = start if len(held) > 1 else number
        after_blank = not line
    if day is not None:
        yield from _messages(held, name, day, group, start)


def _messages(lines: list[str], name: str, day: datetime, group: Group, start: int) -> Iterator[Record]:
    """A person's lines until the next person's, cut where a picture or the like stands on a line of its own."""
    runs: list[tuple[int, list[str]]] = []
    alone = True
    for offset, line in enumerate(lines):
        marked = of_memotrace(line)
        now_alone = (marked is not None and marked[0] in _ALONE) or _is_recall(line)
        if alone or now_alone:
            runs.append((start + offset, []))
        runs[-1][1].append(line)
        ended = not line and runs[-1][1][0].startswith(_LINK)  # an empty line is the end of a link's four
        alone = now_alone or ended
    for line_number, run in runs:
        text = "\n".join(run).strip("\n")
        if not text and len(runs) > 1:
            continue
        if not name or _is_recall(text):
            yield Record("", day, name, name, False, of_system(text), text, None, group, line_number)
        else:
            (kind, words, detail), reply = marked_or_quote(text)
            yield Record("", day, name, name, False, kind, words, reply, group, line_number, detail)


def _is_recall(line: str) -> bool:
    return sounds_like_system(line) and of_system(line) == "recall"
