"""Messages of texts in which a line says who and when, and the lines below it what.

None of these formats protects its own marks: somebody who writes such a line into a message makes two of it. What a
line of that form inside a text looks like cannot be told from a message; it is read as one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

Header = Callable[[str, bool], re.Match[str] | None]
"""Whether a line begins a message; told as well whether the line before it is empty (as before the first)."""


class Block(NamedTuple):
    """A message: the line it begins at, the match of that line, and the text below without empty lines at its end.
    `bare` says that no line at all stood below."""

    line: int
    header: re.Match[str]
    text: str
    bare: bool


class Stray(NamedTuple):
    """Lines before the first message."""

    line: int
    lines: int


def read_blocks(lines: Iterable[str], header: Header) -> Iterator[Block | Stray]:
    """The messages in the order of the file."""
    found, start, below, strays = None, 0, list[str](), 0
    after_blank = True
    for number, whole in enumerate(lines, start=1):
        line = whole.rstrip("\r\n")
        if match := header(line, after_blank):
            if found is not None:
                yield _block(start, found, below)
            elif strays:
                yield Stray(1, strays)
            found, start, below = match, number, []
        elif found is not None:
            below.append(line)
        elif line:
            strays += 1
        after_blank = not line.strip()
    if found is not None:
        yield _block(start, found, below)


def _block(start: int, found: re.Match[str], below: list[str]) -> Block:
    while below and not below[-1]:
        below.pop()
    return Block(start, found, "\n".join(below), not below)
