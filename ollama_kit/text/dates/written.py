"""Absolute dates: 2026年3月1日, 二〇二六年三月一日, 贰零贰陆年叁月壹日, 2026-03-01, 2026.3.1, March 1, 2026,
the 1st day of March, 2026."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from functools import cache

from ollama_kit.text.dates.reckoning import calendar_day
from ollama_kit.text.figures.numerals import DIGIT_CLASS, TENS_CLASS, small_number
from ollama_kit.text.figures.pairs import longest_first
from ollama_kit.text.figures.windows import matches_near
from ollama_kit.text.folding import FoldedViews

MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" for name in MONTHS if name != "may") + "|may|sept"
"""A pattern for the name of a month, whole or short, in lower case."""

_ONES = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"]
ORDINALS = {
    word: number
    for number, word in enumerate(
        (
            *_ONES,
            *[
                "tenth",
                "eleventh",
                "twelfth",
                "thirteenth",
                "fourteenth",
                "fifteenth",
                "sixteenth",
                "seventeenth",
                "eighteenth",
            ],
            *("nineteenth", "twentieth"),
            *(f"twenty-{word}" for word in _ONES),
            *("thirtieth", "thirty-first"),
        ),
        start=1,
    )
}


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date at `[start:end]` of the caller's text. `ambiguous`: 3/4/2026 may be either; read as month first."""

    text: str
    start: int
    end: int
    day: date
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class Written:
    """Year, month and day as they stand there, whether or not the calendar has such a day."""

    start: int
    end: int
    year: int
    month: int
    day: int
    ambiguous: bool = False


def parse_dates(text: str) -> tuple[FoundDate, ...]:
    """Every absolute date that the calendar has, in order, without overlap.

    >>> [(found.text, found.day.isoformat()) for found in parse_dates("２０２６年３月１日至 the 1st day of May, 2027")]
    [('２０２６年３月１日', '2026-03-01'), ('1st day of May, 2027', '2027-05-01')]
    """
    return dates_in(FoldedViews.of(text))


def dates_in(seen: FoldedViews) -> tuple[FoundDate, ...]:
    """The same of a text that was folded already."""
    found = []
    for one in written_dates(seen):
        day = calendar_day(one.year, one.month, one.day)
        if day is not None:
            found.append(FoundDate(seen.text[one.start : one.end], one.start, one.end, day, one.ambiguous))
    return tuple(found)


def written_dates(seen: FoldedViews) -> list[Written]:
    """Every date with a year, impossible ones too."""
    return longest_first([*_chinese(seen), *_numeric(seen), *_english(seen)])


def month_number(name: str) -> int:
    """1 to 12 for a month's English name, in lower case, whole or short."""
    return next(number for number, month in enumerate(MONTHS, start=1) if month.startswith(name[:3]))


@cache
def _year_sign() -> re.Pattern[str]:
    return re.compile("年")


@cache
def _year() -> re.Pattern[str]:
    return re.compile(r"\d{4}")


@cache
def _chinese_form() -> re.Pattern[str]:
    number = rf"(?:\d{{1,2}}|[{TENS_CLASS}]{{1,4}})"
    return re.compile(
        rf"(?<!\d)(?P<year>[{DIGIT_CLASS}\d]{{4}})\s{{0,2}}年\s{{0,2}}(?P<month>{number})\s{{0,2}}月\s{{0,2}}"
        rf"(?P<day>{number})\s{{0,2}}[日号號]"
    )


@cache
def _numeric_form() -> re.Pattern[str]:
    return re.compile(
        r"(?<![\da-z])(?<![\da-z][-./])(?:(?P<year>\d{4})(?P<sep>[-./])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})|"
        r"(?P<first>\d{1,2})(?P<sep2>[-./])(?P<second>\d{1,2})(?P=sep2)(?P<year2>\d{4}))(?!\d|[-./]\d)"
    )


@cache
def _english_forms() -> tuple[re.Pattern[str], ...]:
    ordinals = "|".join(sorted(ORDINALS, key=len, reverse=True))
    year = r"(?:\s?,\s?|\s)(?P<year>\d{4})(?!\d)"
    return (
        re.compile(rf"(?P<month>{MONTH})\.?\s{{1,2}}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?{year}"),
        re.compile(
            rf"(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th)?|(?P<word>{ordinals})(?:\s?\(\d{{1,2}}(?:st|nd|rd|th)\))?)"
            rf"(?:\sday)?(?:\sof)?\s(?P<month>{MONTH})\.?{year}"
        ),
    )


def _chinese(seen: FoldedViews) -> Iterator[Written]:
    for found in matches_near(_chinese_form(), seen.lower, _year_sign(), 8, 24):
        year, month, day = (small_number(found[name]) for name in ("year", "month", "day"))
        if None not in (year, month, day):
            yield Written(found.start(), found.end(), year or 0, month or 0, day or 0)


def _numeric(seen: FoldedViews) -> Iterator[Written]:
    for found in matches_near(_numeric_form(), seen.lower, _year(), 8, 10):
        start, end = found.span()
        if found["year"]:
            yield Written(start, end, int(found["year"]), int(found["month"]), int(found["day"]))
            continue
        first, second, year = int(found["first"]), int(found["second"]), int(found["year2"])
        # With dots, the day stands first everywhere.
        month, day = (second, first) if first > 12 or found["sep2"] == "." else (first, second)
        yield Written(start, end, year, month, day, ambiguous=first <= 12 and second <= 12 and first != second)


def _english(seen: FoldedViews) -> Iterator[Written]:
    for pattern in _english_forms():
        for found in matches_near(pattern, seen.lower, _year(), 64, 2):
            start = found.start()
            if start and seen.lower[start - 1].isascii() and seen.lower[start - 1].isalnum():
                continue
            day = int(found["day"]) if found["day"] else ORDINALS[found["word"]]
            yield Written(start, found.end(), int(found["year"]), month_number(found["month"]), day)
