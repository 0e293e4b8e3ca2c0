"""Numbers in English words: thirty, thirty-six, one million two hundred thousand."""

from __future__ import annotations

import re

_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_WORD = "(?:" + "|".join(sorted((*_VALUES, *_SCALES, "hundred"), key=len, reverse=True)) + ")"
ENGLISH_NUMBER = rf"{_WORD}(?:(?:[\s-]|,\s|\s?-\s?|\sand\s){_WORD}\b){{0,14}}"
"""A pattern for a run of number words; to be matched in lower case."""


def english_number(text: str) -> int | None:
    """The number that lower-case English words write, or None where they write none.

    >>> english_number("one million two hundred thousand"), english_number("thirty-six"), english_number("two two")
    (1200000, 36, None)
    """
    total, section, last = 0, 0, 10**15
    for word in text.replace("-", " ").replace(",", " ").split():
        if word == "and":
            continue
        if word in _SCALES:
            if not section or _SCALES[word] >= last:
                return None
            total, section, last = total + section * _SCALES[word], 0, _SCALES[word]
        elif word == "hundred":
            if not 0 < section < 100:
                return None
            section *= 100
        elif word in _VALUES and _fits(section, _VALUES[word]):
            section += _VALUES[word]
        else:
            return None
    return total + section


def number_at_end(text: str) -> tuple[int, int] | None:
    """The longest number that a run of number words ends with, and the offset where it begins; None if none.

    >>> number_at_end("section one thirty-six")
    (36, 12)
    """
    for start in (found.start() for found in re.finditer(r"[a-z]+(?:-[a-z]+)*", text)):
        value = english_number(text[start:])
        if value is not None:
            return value, start
    return None


def _fits(section: int, value: int) -> bool:
    """Whether `value` can follow what the section holds: a one after a ten, either after a hundred."""
    return section % 100 == 0 or (value < 10 and section % 100 >= 20 and section % 10 == 0 and value > 0)
