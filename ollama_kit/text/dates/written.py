"""Absolute dates, lengths of time and periods, as contracts write them.

Dates: 2026年3月1日, 二〇二六年三月一日, 贰零贰陆年叁月壹日, 2026-03-01, 2026.3.1, March 1, 2026, the 1st day of
March, 2026. Terms: 三年, 12个月, 三十（30）日内, thirty (30) days. Periods: 自…起至…止.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Literal

from ollama_kit.text.dates.reckoning import calendar_day
from ollama_kit.text.figures.numerals import (
    DIGIT_CLASS,
    ENGLISH_NUMBER,
    NUMERAL_CLASS,
    TENS_CLASS,
    english_number,
    number_at_end,
    read_numeral,
    small_number,
)
from ollama_kit.text.folding import FoldedViews
from ollama_kit.text.pattern_search import any_of, longest_first, matches_near

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
class WrittenDate:
    """Year, month and day as they are written, whether or not the calendar has such a day."""

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


def written_dates(seen: FoldedViews) -> list[WrittenDate]:
    """Every date with a year, impossible ones too."""
    return longest_first([*_chinese_dates(seen), *_numeric_dates(seen), *_english_dates(seen)])


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


def _chinese_dates(seen: FoldedViews) -> Iterator[WrittenDate]:
    for found in matches_near(_chinese_form(), seen.lower, _year_sign(), 8, 24):
        year, month, day = (small_number(found[name]) for name in ("year", "month", "day"))
        if None not in (year, month, day):
            yield WrittenDate(found.start(), found.end(), year or 0, month or 0, day or 0)


def _numeric_dates(seen: FoldedViews) -> Iterator[WrittenDate]:
    for found in matches_near(_numeric_form(), seen.lower, _year(), 8, 10):
        start, end = found.span()
        if found["year"]:
            yield WrittenDate(start, end, int(found["year"]), int(found["month"]), int(found["day"]))
            continue
        first, second, year = int(found["first"]), int(found["second"]), int(found["year2"])
        # With dots, the day comes first everywhere.
        month, day = (second, first) if first > 12 or found["sep2"] == "." else (first, second)
        yield WrittenDate(start, end, year, month, day, ambiguous=first <= 12 and second <= 12 and first != second)


def _english_dates(seen: FoldedViews) -> Iterator[WrittenDate]:
    for pattern in _english_forms():
        for found in matches_near(pattern, seen.lower, _year(), 64, 2):
            start = found.start()
            if start and seen.lower[start - 1].isascii() and seen.lower[start - 1].isalnum():
                continue
            day = int(found["day"]) if found["day"] else ORDINALS[found["word"]]
            yield WrittenDate(start, found.end(), int(found["year"]), month_number(found["month"]), day)


Unit = Literal["minute", "hour", "day", "business_day", "week", "month", "quarter", "year"]

CHINESE_UNITS: dict[str, Unit] = {
    "工作日": "business_day",
    "交易日": "business_day",
    "自然日": "day",
    "日历日": "day",
    "日历天": "day",
    "分钟": "minute",
    "小时": "hour",
    "钟头": "hour",
    "天": "day",
    "日": "day",
    "星期": "week",
    "礼拜": "week",
    "周": "week",
    "季度": "quarter",
    "月": "month",
    "周年": "year",
    "年": "year",
}
ENGLISH_UNITS: dict[str, Unit] = {
    "business day": "business_day",
    "working day": "business_day",
    "calendar day": "day",
    "calendar month": "month",
    "minute": "minute",
    "hour": "hour",
    "day": "day",
    "week": "week",
    "month": "month",
    "quarter": "quarter",
    "year": "year",
    "min": "minute",
    "hr": "hour",
    "h": "hour",
}
_LONGEST_GAP = 24


@dataclass(frozen=True, slots=True)
class Term:
    """A length of time at `[start:end]` of the caller's text: `count` of `unit`. `conflict`: it is written in words
    and in figures, and they differ; the words are kept."""

    text: str
    start: int
    end: int
    count: Fraction
    unit: Unit
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class Period:
    """From one date to another, both counted in, at `[start:end]` of the caller's text."""

    text: str
    start: int
    end: int
    since: date
    until: date


def parse_terms(text: str) -> tuple[Term | Period, ...]:
    """Every length of time and every period between two dates, in order, without overlap.

    日 counts as a length only where its surroundings say so (30日内, 提前60日): 5日 alone is a day of a month.

    >>> [(found.text, int(found.count), found.unit) for found in parse_terms("保密五（5）年，提前 thirty (30) days")]
    [('五（5）年', 5, 'year'), ('thirty (30) days', 30, 'day')]
    """
    seen = FoldedViews.of(text)
    return terms_in(seen, dates_in(seen))


def terms_in(seen: FoldedViews, dates: Sequence[FoundDate]) -> tuple[Term | Period, ...]:
    """The same of a text that was folded already, and whose dates were found already."""
    return tuple(longest_first([*_periods(seen.text, dates), *_chinese_terms(seen), *_english_terms(seen)]))


def _periods(text: str, found: Sequence[FoundDate]) -> Iterator[Period]:
    for first, second in pairwise(found):
        gap = text[first.end : second.start]
        if len(gap) <= _LONGEST_GAP and first.day <= second.day and _to().fullmatch(gap):
            start, end = _with_frame(text, first, second)
            yield Period(text[start:end], start, end, first.day, second.day)


@cache
def _to() -> re.Pattern[str]:
    return re.compile(
        r"\s{0,2}[(（]?(?:含当日|含)?[)）]?\s?(?:之日)?(?:起|开始)?(?:计算|算)?[,，、]?\s{0,2}"
        r"(?:至|到|-|–|—|~|～|to|until|till|through|and ending on|and)\s{0,2}(?:on\s|the\s)?",
        re.IGNORECASE,
    )


def _with_frame(text: str, first: FoundDate, second: FoundDate) -> tuple[int, int]:
    """The span of the two dates with 自 or from before them and 止 behind."""
    before = re.compile(r"(?:自|从|由|from\s(?:the\s)?)\s?\Z", re.IGNORECASE).search(
        text, max(0, first.start - 9), first.start
    )
    behind = re.compile(r"\s?(?:[(（]含当日[)）])?止").match(text, second.end)
    return (before.start() if before else first.start), (behind.end() if behind else second.end)


@cache
def _chinese_unit() -> re.Pattern[str]:
    return any_of(CHINESE_UNITS)


@cache
def _english_unit() -> re.Pattern[str]:
    return any_of(unit.split()[-1] for unit in ENGLISH_UNITS if len(unit) > 2)


@cache
def _chinese_term_form() -> re.Pattern[str]:
    units = "|".join(sorted(CHINESE_UNITS, key=len, reverse=True))
    number = rf"(?:\d{{1,5}}(?:\.\d)?|[{NUMERAL_CLASS}半]{{1,6}})"
    return re.compile(
        rf"(?<![\d.第/年月-])(?P<number>{number})\s?(?:\((?P<again>{number})\)\s?)?"
        rf"(?P<measure>个)?\s?(?P<half>半)?(?P<unit>{units})(?P<and_half>半)?(?![月日号度]\d)"
    )


@cache
def _day_before() -> re.Pattern[str]:
    return re.compile(r"(?:提前|届满前|期满前|后|前|共|超过|满|逾期|不少于|不超过|为期|期限为)\s?\Z")


@cache
def _day_behind() -> re.Pattern[str]:
    return re.compile(r"\s?(?:之内|以内|内|之后|以后|后|的|以上|未|不|书面|通知|届满|期满|期限)")


def _chinese_terms(seen: FoldedViews) -> Iterator[Term]:
    for found in matches_near(_chinese_term_form(), seen.lower, _chinese_unit(), 24, 8):
        count, unit = read_numeral(found["number"]), CHINESE_UNITS[found["unit"]]
        again = read_numeral(found["again"]) if found["again"] else count
        if count is None or again is None or not _is_length(seen.lower, found):
            continue
        extra = Fraction(1, 2) if found["half"] or found["and_half"] else 0
        start, end = found.span()
        figures_first = found["number"][0].isdecimal()
        kept = again if figures_first else count
        yield Term(seen.text[start:end], start, end, kept + extra, unit, conflict=count != again)


def _is_length(text: str, found: re.Match[str]) -> bool:
    """Whether number and unit are a length of time and no date, ordinal or month: 2026年, 5月, 5日."""
    number, unit, start, end = found["number"], found["unit"], found.start(), found.end()
    twice = bool(found["again"] or found["measure"])
    before = text[start - 1 : start] if start else ""
    if before and (before in NUMERAL_CLASS or before in "几数" or text[max(0, start - 2) : start].strip() == "第"):
        return False
    if unit == "月":
        return twice
    if unit == "年":
        return twice or len(number) < 4 or any(c in number for c in "十百拾佰")
    if unit == "日":
        near = _day_before().search(text, max(0, start - 6), start) or _day_behind().match(text, end)
        return twice or near is not None
    return True


@cache
def _english_term_form() -> re.Pattern[str]:
    units = "|".join(
        sorted((unit.replace(" ", r"\s") for unit in ENGLISH_UNITS if len(unit) > 2), key=len, reverse=True)
    )
    return re.compile(
        rf"(?:(?P<words>{ENGLISH_NUMBER})(?:\s?\((?P<again>\d{{1,5}})\))?"
        rf"|(?P<figures>\d{{1,5}}(?:\.\d)?)(?:\s?\((?P<spelled>{ENGLISH_NUMBER})\))?)"
        rf"(?:\s{{1,2}}|-)(?P<unit>{units})(?P<plural>s)?(?![a-z])"
    )


def _english_terms(seen: FoldedViews) -> Iterator[Term]:
    for found in matches_near(_english_term_form(), seen.lower, _english_unit(), 120, 8):
        start, end = found.span()
        words = number_at_end(found["words"]) if found["words"] else None
        if found["words"] and words is None:
            continue
        start += words[1] if words else 0
        before = seen.lower[start - 1 : start] if start else ""
        if before and before.isascii() and (before.isalnum() or before in ".-/"):
            continue
        spelled = english_number(found["spelled"]) if found["spelled"] else None
        count = Fraction(words[0] if words else found["figures"] if spelled is None else spelled)
        conflict = any(found[name] and Fraction(found[name]) != count for name in ("again", "figures"))
        unit = ENGLISH_UNITS[" ".join(found["unit"].split())]
        yield Term(seen.text[start:end], start, end, count, unit, conflict=conflict)
