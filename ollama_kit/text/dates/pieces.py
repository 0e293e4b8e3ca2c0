"""The parts that a deadline is said in: a day, a part of the day, a clock time; and what cannot be resolved."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from ollama_kit.text.figures.pairs import longest_first
from ollama_kit.text.folding import FoldedViews

Precision = Literal["minute", "hour", "part_of_day", "day", "week", "month", "quarter", "year"]

WEEKDAY, RELATIVE, DAY_OF_MONTH, MONTH_AND_DAY, FULL = range(5)
"""How exactly a day is named. Where two names of one day differ, the more exact one is kept."""


@dataclass(frozen=True, slots=True)
class Day:
    """The day that words mean; of a span (a week, a month) the last one.

    `rank`: how exactly it is named. `every_week`: only a weekday is said, so that a week later is as good. `at`: the
    moment itself, where the words say one (in two hours).
    """

    day: date
    precision: Precision = "day"
    confidence: float = 0.95
    rank: int = RELATIVE
    every_week: bool = False
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the day. `ends` is (hour, minute) of its end, by which what is due in it is due."""

    name: str
    ends: tuple[int, int]
    confidence: float = 0.9


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock time. `half`: am or pm where it is said. `exact`: minutes are said. `plain`: it is not to be guessed
    whether it is am or pm (24 hours, 09:30). `weak`: no time unless a day or a part of the day stands beside it."""

    hour: int
    minute: int = 0
    half: Literal["am", "pm"] | None = None
    exact: bool = False
    plain: bool = False
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """Words at `[start:end]` of the caller's text that name a time, and why it is no deadline."""

    text: str
    start: int
    end: int
    reason: str


Meaning = Day | Part | Clock | str
"""What a piece says; a text is the reason why it cannot be resolved."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One such part at `[start:end]` of the text."""

    start: int
    end: int
    meaning: Meaning


Rule = tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Meaning | None]]
"""A pattern over folded text, and what a match means when said at a moment; None where it is no time after all."""


def find_pieces(seen: FoldedViews, said_at: datetime, rules: Sequence[Rule]) -> list[Piece]:
    """Every piece in order; of two that overlap the one that starts first, then the longer."""
    found = []
    for pattern, resolve in rules:
        for match in pattern.finditer(seen.folded):
            meaning = resolve(match, said_at)
            if meaning is not None:
                found.append(Piece(match.start(), match.end(), meaning))
    return longest_first(found)
