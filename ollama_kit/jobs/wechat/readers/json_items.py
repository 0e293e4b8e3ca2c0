"""The items of a JSON list in a file of any size, one at a time, with what is broken in between.

The list is the file itself, or the value of one key of the object that it is. A file that ends in the middle gives
every whole item before its end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ollama_kit.jobs.wechat.readers.record import ITEM_PROBLEMS, Broken, Event, Note, Record, checked, problem_of

LONGEST_ITEM = 1 << 24
"""Characters that one item may have. What is longer is not a message, and would not fit in bounded memory."""
NEAR_END = 32
"""A fault this near to the end of what has been read may be only that the rest is still to come."""

_ANY_ITEM = re.compile(r"\}\s*,\s*(\{\s*\")")
"""Where an item begins behind a broken one, as long as no whole one was seen."""
_SPACE = re.compile(r"[ \t\n\r]*")
_decode = json.JSONDecoder(strict=False).raw_decode


class Head(NamedTuple):
    """A key of the outer object other than the list's, and its value."""

    key: str
    value: Any


class Item(NamedTuple):
    """An item of the list, numbered from 1 with the broken ones counted."""

    number: int
    value: Any


def read_json(
    blocks: Iterable[str], make: Callable[[Item], Record], take: Callable[[Head], None] | None = None
) -> Iterator[Event]:
    """The messages that `make` makes of the items of a file, and what is broken; `take` is given the other keys."""
    empty = True
    for part in read_items(blocks):
        if isinstance(part, Item):
            empty = False
            try:
                yield checked(make(part))
            except ITEM_PROBLEMS as problem:
                yield Broken(part.number, problem_of(problem))
        elif isinstance(part, Broken):
            empty = False
            yield part
        elif take is not None:
            take(part)
    if empty:
        yield Note("no messages in this file")


class _Fault(Exception):
    """The text at hand is not JSON, whatever may follow; `offset` is in characters of the file."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(f"{reason} at character {offset}")


class _Window:
    """A part of the text that slides over the whole of it: `text` from `at` on is what is not yet read."""

    def __init__(self, blocks: Iterable[str]) -> None:
        self._blocks = iter(blocks)
        self._before = 0
        self.text, self.at, self.ended = "", 0, False

    @property
    def offset(self) -> int:
        """Where in the file the window's place is, in characters from 0."""
        return self._before + self.at

    def more(self) -> bool:
        """Reads on by at least as much as is at hand, so that a long item costs no more than twice its length."""
        self._before += self.at
        parts = [self.text[self.at :]]
        wanted = len(parts[0]) or 1
        for block in self._blocks:
            parts.append(block)
            wanted -= len(block)
            if wanted <= 0:
                break
        else:
            self.ended = True
        self.text, self.at = "".join(parts), 0
        return len(parts) > 1

    def peek(self) -> str:
        """The next character that is no blank, not taken; empty at the end."""
        while True:
            place = _SPACE.match(self.text, self.at)
            self.at = place.end() if place else self.at
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.more():
                return ""

    def take(self, wanted: str) -> None:
        """Passes over one of the characters wanted. _Fault if another is next."""
        found = self.peek()
        if not found or found not in wanted:
            raise _Fault(f"expected {' or '.join(wanted)}, got {found or 'the end'}", self.offset)
        self.at += 1

    def value(self) -> Any:
        """The next value. _Fault if there is none, or it is cut."""
        self.peek()
        while True:
            try:
                value, end = _decode(self.text, self.at)
            except json.JSONDecodeError as problem:
                open_end = problem.pos > len(self.text) - NEAR_END or problem.msg.startswith("Unterminated string")
                if open_end and len(self.text) - self.at < LONGEST_ITEM and not self.ended:
                    self.more()
                    continue
                cut = open_end and self.ended
                raise _Fault("cut short" if cut else problem.msg, self._before + problem.pos) from problem
            except RecursionError as problem:
                raise _Fault("nested too deeply", self.offset) from problem
            if end == len(self.text) and not self.ended:  # a number may go on
                self.more()
                continue
            self.at = end
            return value

    def find(self, pattern: re.Pattern[str]) -> bool:
        """Goes to the next place where the pattern's group 1 begins; False, and to the end, where there is none."""
        while True:
            if found := pattern.search(self.text, self.at):
                self.at = found.start(1)
                return True
            self.at = max(self.at, len(self.text) - 4096)
            if self.ended or not self.more():
                self.at = len(self.text)
                return False


def read_items(blocks: Iterable[str], key: str = "messages") -> Iterator[Head | Item | Broken]:
    """The items of the list, and the other keys of the object around it, in the order of the file."""
    window = _Window(blocks)
    if window.peek() == "[":
        yield from _list(window)
        return
    reached = False
    try:
        window.take("{")
        while window.peek() != "}":
            name = window.value()
            window.take(":")
            if name == key and window.peek() == "[":
                reached = True
                yield from _list(window)
            else:
                yield Head(str(name), window.value())
            if window.peek() != "}":
                window.take(",")
    except _Fault as fault:
        yield Broken(0, str(fault))
        if not reached and window.find(re.compile(re.escape(json.dumps(key)) + r"\s*:\s*(\[)")):
            yield from _list(window)


def _list(window: _Window) -> Iterator[Item | Broken]:
    """The items of the list that the window stands at. After a broken one it goes on where an item seems to begin: at
    a comma and an object with the same first key as the first."""
    window.take("[")
    number, first_key, next_item = 0, "", _ANY_ITEM
    if window.peek() == "]":
        window.at += 1
        return
    while True:
        number += 1
        try:
            value = window.value()
            yield Item(number, value)
            if not first_key and isinstance(value, dict) and value:
                first_key = next(iter(value))
                next_item = re.compile(r",\s*(\{\s*" + re.escape(json.dumps(first_key, ensure_ascii=False)) + r"\s*:)")
            if window.peek() == "]":
                window.at += 1
                return
            window.take(",")
        except _Fault as fault:
            yield Broken(number, str(fault))
            if not window.find(next_item):
                return
