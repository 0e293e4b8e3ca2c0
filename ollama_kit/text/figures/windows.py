"""Where in a text a pattern can match at all: around the words that it cannot do without. Most of a text has none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ollama_kit.text.literals import search_for


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds the longest of `words` at each place, quickly."""
    return search_for(sorted(set(words)))


def windows(text: str, anchor: re.Pattern[str], before: int, behind: int) -> Iterator[tuple[int, int]]:
    """The parts of `text` that reach so far before and behind each anchor; those that touch are one.

    >>> list(windows("....x....x..........x", re.compile("x"), 2, 2))
    [(2, 12), (18, 21)]
    """
    start = end = -1
    for match in anchor.finditer(text):
        first = match.start() - before
        if end < 0 or first > end:
            if end >= 0:
                yield start, min(end, len(text))
            start = max(0, first)
        end = match.end() + behind
    if end >= 0:
        yield start, min(end, len(text))


def matches_near(
    pattern: re.Pattern[str], text: str, anchor: re.Pattern[str], before: int, behind: int
) -> Iterator[re.Match[str]]:
    """Every match of `pattern` that lies within those parts: all there are, where each match has an anchor, begins no
    further than `before` ahead of it and ends, with what it looks at, no further than `behind` after it."""
    for start, end in windows(text, anchor, before, behind):
        yield from pattern.finditer(text, start, end)
