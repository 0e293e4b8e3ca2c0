"""Logs of the IRC client irssi: a reader of chats.

--- Day changed Mon Mar 09 2026
09:02 < linhao> the container is late
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from ollama_kit.jobs.wechat import Broken, ChatFile, ChatReader, Event, Group, Options, Record

_DAY = re.compile(r"--- (?:Day changed|Log opened) \w{3} (\w{3} \d{2})(?: [\d:]{8})? (\d{4})")
_SAID = re.compile(r"(\d{2}:\d{2}) <[ @+]?([^>]+)> (.*)")


def recognizes(file: ChatFile) -> int | None:
    """The line of the first day, which comes before every message."""
    days = (number for number, line in enumerate(file.head.splitlines(), 1) if _DAY.match(line))
    return next(days, None)


def reads(file: ChatFile, options: Options) -> Iterator[Event]:
    """One Record per line that somebody said; who came and went is passed over."""
    day, channel = "", Group(file.path.stem, file.path.stem, False)
    for number, line in enumerate(file.source.lines() if file.source else (), 1):
        if found := _DAY.match(line):
            day = " ".join(found.groups())
        elif found := _SAID.match(line):
            clock, name, text = found.groups()
            try:
                time = datetime.strptime(f"{day} {clock}", "%b %d %Y %H:%M").replace(tzinfo=options.zone)
            except ValueError as problem:
                yield Broken(number, str(problem))
                continue
            yield Record("", time, name, name, False, "text", text, None, channel, number)


READER = ChatReader(recognizes, reads)
