"""Lengths of time and periods in contracts: 三年, 12个月, 三十（30）日内, thirty (30) days, 自…起至…止."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Literal

from ollama_kit.text.dates.written import FoundDate, dates_in
from ollama_kit.text.figures.numerals import NUMERAL_CLASS, read_numeral
from ollama_kit.text.figures.pairs import longest_first
from ollama_kit.text.figures.windows import any_of, matches_near
from ollama_kit.text.figures.words import ENGLISH_NUMBER, english_number, number_at_end
from ollama_kit.text.folding import FoldedViews

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
    """A length of time at `[start:end]` of the caller's text: `count` of `unit`. `conflict`: it stands there in words
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
    return tuple(longest_first([*_periods(seen.text, dates), *_chinese(seen), *_english(seen)]))


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
def _chinese_form() -> re.Pattern[str]:
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


def _chinese(seen: FoldedViews) -> Iterator[Term]:
    for found in matches_near(_chinese_form(), seen.lower, _chinese_unit(), 24, 8):
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
def _english_form() -> re.Pattern[str]:
    units = "|".join(
        sorted((unit.replace(" ", r"\s") for unit in ENGLISH_UNITS if len(unit) > 2), key=len, reverse=True)
    )
    return re.compile(
        rf"(?:(?P<words>{ENGLISH_NUMBER})(?:\s?\((?P<again>\d{{1,5}})\))?"
        rf"|(?P<figures>\d{{1,5}}(?:\.\d)?)(?:\s?\((?P<spelled>{ENGLISH_NUMBER})\))?)"
        rf"(?:\s{{1,2}}|-)(?P<unit>{units})(?P<plural>s)?(?![a-z])"
    )


def _english(seen: FoldedViews) -> Iterator[Term]:
    for found in matches_near(_english_form(), seen.lower, _english_unit(), 120, 8):
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
