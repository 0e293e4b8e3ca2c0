"""The parts that a deadline is said in (a day, a part of the day, a clock time), and the day that a word means, counted
from the moment it is said at. The words of both languages lead here.

The rules, for a week that begins on Monday:
- 周五, Friday: the next one, today counted. 这周五, this Friday: of this calendar week, even if it is over.
  下周五, next Friday: of the next calendar week. 下下周一: of the one after.
- 10号, the 10th: of this month, or the next one where that day is over. 3月10号, March 10: of this year, or the next.
- A span means its last day: 下周 is the Sunday of the next week, Q2 the 30th of June. 月初 and 年初 are the first
  day, 月中 the 15th, 月底 the last.
- A day that is not in the calendar (30 February) is refused and never moved.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Literal

from ollama_kit.text.dates.reckoning import (
    calendar_day,
    day_of_week,
    last_of_month,
    month_from,
    next_weekday,
    quarter_of,
)
from ollama_kit.text.folding import FoldedViews
from ollama_kit.text.pattern_search import longest_first

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
    whether it is am or pm (24 hours, 09:30). `weak`: no time unless a day or a part of the day is beside it."""

    hour: int
    minute: int = 0
    half: Literal["am", "pm"] | None = None
    exact: bool = False
    plain: bool = False
    weak: bool = False


@dataclass(frozen=True, slots=True)
class RefusedTime:
    """Words at `[start:end]` of the caller's text that name a time, and why it is not a deadline."""

    text: str
    start: int
    end: int
    reason: str


Meaning = Day | Part | Clock | str
"""What a piece says; a text is the reason why it cannot be resolved."""


@dataclass(frozen=True, slots=True)
class TimeMention:
    """One such part at `[start:end]` of the text."""

    start: int
    end: int
    meaning: Meaning


TimeRule = tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Meaning | None]]
"""A pattern over folded text, and what a match means when said at a moment; None where it is not a time after all."""


def find_mentions(seen: FoldedViews, said_at: datetime, rules: Sequence[TimeRule]) -> list[TimeMention]:
    """Every piece in order; of two that overlap the one that starts first, then the longer."""
    found = []
    for pattern, resolve in rules:
        for match in pattern.finditer(seen.folded):
            meaning = resolve(match, said_at)
            if meaning is not None:
                found.append(TimeMention(match.start(), match.end(), meaning))
    return longest_first(found)


PAST = "it is in the past"
AGAIN = "it comes again and again"
_SMALL_HOURS = 4
"""Until this hour, 明天 and tomorrow may mean the day that has just begun."""


def days_from(said_at: datetime, days: int) -> Day | str:
    """今天 (0), 明天 (1), 昨天 (-1)."""
    if days < 0:
        return PAST
    sure = 0.95 if said_at.hour >= _SMALL_HOURS else 0.7
    return Day(said_at.date() + timedelta(days=days), confidence=sure)


def weekday(said_at: datetime, number: int, week: int | None) -> Day | str:
    """A weekday (Monday is 0), alone or of the calendar week so many weeks on."""
    today = said_at.date()
    if week is None:
        return Day(next_weekday(today, number), confidence=0.85, rank=WEEKDAY, every_week=True)
    if week < 0:
        return PAST
    return Day(day_of_week(today, number, week), confidence=0.9, rank=RELATIVE)


def weekend(said_at: datetime, week: int | None, *, before: bool) -> Day | str:
    """The Sunday of a weekend, or the Friday before it."""
    today = said_at.date()
    if week is not None and week < 0:
        return PAST
    day = day_of_week(today, 4 if before else 6, week or 0)
    if day < today:
        day += timedelta(weeks=1)
    return Day(day, confidence=0.7)


def week(said_at: datetime, weeks: int) -> Day | str:
    """The whole calendar week so many weeks on."""
    return PAST if weeks < 0 else Day(day_of_week(said_at.date(), 6, weeks), "week", 0.7)


def day_of_month(said_at: datetime, number: int, months: int | None = None) -> Day | str:
    """A bare day of the month, or one of the month so many months on."""
    today = said_at.date()
    ahead = (0 if number >= today.day else 1) if months is None else months
    year, month = month_from(today, ahead)
    day = calendar_day(year, month, number)
    if day is None:
        return _impossible(year, month, number)
    if months is None:
        return Day(day, confidence=0.85 if ahead == 0 else 0.7, rank=DAY_OF_MONTH)
    return Day(day, confidence=0.9, rank=MONTH_AND_DAY) if months >= 0 else PAST


def month_and_day(said_at: datetime, month: int, number: int, years: int | None = None) -> Day | str:
    """A day of a named month: of this year, or the next where it is over; or of the year so many years on."""
    today = said_at.date()
    over = (month, number) < (today.month, today.day)
    ahead = (1 if over else 0) if years is None else years
    day = calendar_day(today.year + ahead, month, number)
    if day is None:
        return _impossible(today.year + ahead, month, number)
    if years is None:
        # A date of some weeks ago is rather looked back at than planned for the next year.
        sure = 0.92 if not over else (0.85 if (day - today).days < 240 else 0.5)
        return Day(day, confidence=sure, rank=MONTH_AND_DAY)
    return Day(day, confidence=0.95, rank=FULL) if years >= 0 else PAST


def full_date(year: int, month: int, number: int) -> Day | str:
    """A date with its year, past or not: the text says so."""
    day = calendar_day(year, month, number)
    return _impossible(year, month, number) if day is None else Day(day, confidence=0.99, rank=FULL)


def in_month(year: int, month: int, place: str | None, confidence: float) -> Day | str:
    """A month as a whole, or its `place`: beginning, middle or end."""
    if not 1 <= month <= 12:
        return f"there is no month {month}"
    last = last_of_month(year, month)
    if place == "beginning":
        return Day(last.replace(day=1), "week", min(confidence, 0.6))
    if place == "middle":
        return Day(last.replace(day=15), "week", min(confidence, 0.6))
    return Day(last, "day" if place == "end" else "month", confidence)


def named_month(said_at: datetime, month: int, place: str | None, years: int | None = None) -> Day | str:
    """A month by its number: of this year, or the next where it is over; or of the year so many years on."""
    ahead = int(month < said_at.month) if years is None else years
    if ahead < 0:
        return PAST
    return in_month(said_at.year + ahead, month, place, 0.75 if place or years is not None else 0.65)


def month(said_at: datetime, months: int, place: str | None) -> Day | str:
    """The month so many months on, or its `place`, over or not."""
    year, number = month_from(said_at.date(), months)
    return PAST if months < 0 else in_month(year, number, place, 0.85)


def bare_month_place(said_at: datetime, place: str) -> Day | str:
    """月底, 月中, 月初 of this month, or of the next where it is over."""
    found = month(said_at, 0, place)
    late = isinstance(found, Day) and found.day < said_at.date()
    return month(said_at, 1, place) if late else found


def quarter(said_at: datetime, number: int, year: int | None, place: str | None) -> Day | str:
    """A quarter by its number: of this year, or the next where it is over; or of a year."""
    if not 1 <= number <= 4:
        return f"there is no quarter {number}"
    over = number < quarter_of(said_at.date())
    of_year = said_at.year + int(over) if year is None else year
    if place == "beginning":
        return Day(date(of_year, 3 * number - 2, 1), "month", 0.55)
    return Day(last_of_month(of_year, 3 * number), "day" if place == "end" else "quarter", 0.75)


def quarter_from(said_at: datetime, quarters: int, place: str | None) -> Day | str:
    """The quarter so many quarters on."""
    if quarters < 0:
        return PAST
    years, index = divmod(quarter_of(said_at.date()) - 1 + quarters, 4)
    return quarter(said_at, index + 1, said_at.year + years, place)


def year(said_at: datetime, number: int, place: str | None) -> Day | str:
    """A year as a whole, or its beginning or end."""
    if number < said_at.year:
        return PAST
    if place == "beginning":
        return Day(date(number, 1, 1), "month", 0.55)
    return Day(date(number, 12, 31), "day" if place == "end" else "year", 0.8 if place else 0.55)


def _impossible(year_: int, month_: int, number: int) -> str:
    return f"the calendar has no day {year_}-{month_:02}-{number:02}"
