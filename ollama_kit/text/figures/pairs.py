"""What is written twice, in words and in figures, and which of two overlapping finds is kept."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import Protocol, TypeVar


class Placed(Protocol):
    """Something found at `[start:end]` of a text."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


P = TypeVar("P", bound=Placed)

_LONGEST_GAP = 16
_CLOSING = ")）]】"


def longest_first(found: Iterable[P]) -> list[P]:
    """`found` in order of place, without overlap: the one that starts first is kept, of two there the longer."""
    kept: list[P] = []
    for one in sorted(found, key=lambda placed: (placed.start, -placed.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept


def end_of_pair(text: str, first: Placed, second: Placed) -> int:
    """Where a pair ends, if what stands between its two in `text` says that the same follows once more (（大写：, 即);
    else 0. The bracket that opens between them is closed inside.

    >>> from ollama_kit.text.figures.amounts import parse_amounts
    >>> parse_amounts("计 9,800.00 元（大写：玖仟捌佰元整）")[0].text
    '9,800.00 元（大写：玖仟捌佰元整）'
    """
    if not 0 <= second.start - first.end <= _LONGEST_GAP:
        return 0
    gap = _gap().fullmatch(text, first.end, second.start)
    if gap is None:
        return 0
    closed = gap["open"] and text[second.end : second.end + 1] in tuple(_CLOSING)
    return second.end + bool(closed)


@cache
def _gap() -> re.Pattern[str]:
    label = r"(?:(?:人民币)?[(（\[【]?(?:大写|小写)[)）\]】]?(?:金额)?|即|in words|say)"
    return re.compile(rf"\s{{0,3}}(?:(?P<open>[(（\[【])\s?{label}?|[,，;；]?\s?{label})[:：]?\s{{0,2}}")
