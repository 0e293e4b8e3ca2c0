"""Percentages in running text: 5%, 百分之五, 日万分之五, 0.05%/日, 5%-10%, five percent (5%), 三分之二, 50 bps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Literal

from ollama_kit.text.figures.numerals import ENGLISH_NUMBER, NUMERAL_CLASS, end_of_pair, number_at_end, read_numeral
from ollama_kit.text.folding import FoldedViews
from ollama_kit.text.pattern_search import any_of, longest_first, matches_near

Per = Literal["day", "week", "month", "year"]

_SIGNS = {
    "%": 100,
    "percent": 100,
    "per cent": 100,
    "pct": 100,
    "个百分点": 100,
    "‰": 1000,
    "‱": 10**4,
    "basis points": 10**4,
    "basis point": 10**4,
    "bps": 10**4,
    "bp": 10**4,
}
_SIGN = "|".join(sorted(map(re.escape, _SIGNS), key=len, reverse=True)) + "|％"
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
_TO = r"\s?(?:-|~|至|到|to|and)\s?"
_LOOK_BACK = 48
_TIMES: dict[str, Per] = {
    **dict.fromkeys(("日", "天", "day", "daily"), "day"),
    **dict.fromkeys(("周", "week", "weekly"), "week"),
    **dict.fromkeys(("月", "month", "monthly"), "month"),
    **dict.fromkeys(("年", "year", "annum", "annually", "p.a."), "year"),
}


@dataclass(frozen=True, slots=True)
class Percentage:
    """A share at `[start:end]` of the caller's text, as a fraction of one: 5% is 1/20. `low` and `high` differ for a
    range only. `per` is the time that a rate runs over. `conflict`: words and figures of one share differ, and the
    words are kept."""

    text: str
    start: int
    end: int
    low: Fraction
    high: Fraction
    per: Per | None = None
    conflict: bool = False


def parse_percentages(text: str) -> tuple[Percentage, ...]:
    """Every percentage, rate and share, in order, without overlap.

    >>> [(found.text, float(found.low), found.per) for found in parse_percentages("按日万分之三，不超过总价的百分之五")]
    [('按日万分之三', 0.0003, 'day'), ('百分之五', 0.05, None)]
    """
    return percentages_in(FoldedViews.of(text))


def percentages_in(seen: FoldedViews) -> tuple[Percentage, ...]:
    """The same of a text that was folded already."""
    text = seen.text
    singles = longest_first([*_in_figures(seen), *_in_chinese(seen), *_in_english(seen)])
    kept: list[Percentage] = []
    for found in singles:
        end = end_of_pair(text, kept[-1], found) if kept else 0
        if end:
            kept[-1] = _joined(text, kept[-1], found, end)
        else:
            kept.append(found)
    return tuple(kept)


def _joined(text: str, first: Percentage, second: Percentage, end: int) -> Percentage:
    differ = (first.low, first.high) != (second.low, second.high)
    words = second if first.text[:1].isdecimal() and not second.text[:1].isdecimal() else first
    whole = text[first.start : end]
    return replace(words, text=whole, start=first.start, end=end, per=first.per or second.per, conflict=differ)


@cache
def _signs() -> re.Pattern[str]:
    return any_of([*_SIGNS, "％"])


@cache
def _over() -> re.Pattern[str]:
    return any_of(["分之"])


@cache
def _percent() -> re.Pattern[str]:
    return any_of(["percent", "per cent"])


@cache
def _figures() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\d.])(?<![a-z])(?P<low>{_NUMBER})\s?(?P<inner>{_SIGN})?"
        rf"(?:{_TO}(?P<high>{_NUMBER})\s?(?P<outer>{_SIGN}))?(?![a-z])"
    )


@cache
def _chinese() -> re.Pattern[str]:
    number = rf"(?:{_NUMBER}|[{NUMERAL_CLASS}点]{{1,12}})"
    base = rf"(?:[百千万]|[{NUMERAL_CLASS}]{{1,4}})分之"
    return re.compile(rf"(?P<base>{base})(?P<low>{number})(?:{_TO}(?P<again>{base})?(?P<high>{number})(?![\d年月日]))?")


@cache
def _english() -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z])(?P<number>{ENGLISH_NUMBER})\s(?:percent|per\scent)(?![a-z])")


def _in_figures(seen: FoldedViews) -> Iterator[Percentage]:
    for found in matches_near(_figures(), seen.lower, _signs(), 48, 36):
        low, inner, high, outer = found.group("low", "inner", "high", "outer")
        if not (inner or outer):
            continue
        of_high = _SIGNS[outer or inner]
        first = Fraction(low) / _SIGNS[inner or outer]
        last = Fraction(high) / of_high if high else first
        yield _placed(seen, found.start(), found.end(), (first, last))


def _in_chinese(seen: FoldedViews) -> Iterator[Percentage]:
    for found in matches_near(_chinese(), seen.lower, _over(), 16, 48):
        base, low, again, high = found.group("base", "low", "again", "high")
        first = _share(base, low)
        last = _share(again or base, high) if high else first
        if first is not None and last is not None:
            yield _placed(seen, found.start(), found.end(), (first, last))


def _share(base: str, number: str) -> Fraction | None:
    if number[0].isdecimal():
        below = read_numeral(f"{base}一")
        return None if below is None else Fraction(number) * below
    if number in ("百", "千"):
        return read_numeral(f"{base}一{number}")
    return read_numeral(base + number)


def _in_english(seen: FoldedViews) -> Iterator[Percentage]:
    for found in matches_near(_english(), seen.lower, _percent(), 160, 8):
        number = number_at_end(found["number"])
        if number is not None:
            yield _placed(seen, found.start() + number[1], found.end(), (Fraction(number[0], 100),) * 2)


@cache
def _time_before() -> re.Pattern[str]:
    return re.compile(
        r"(?:(?:每|按|逐)?(?P<time>日|天|月|年)(?:化|利率|息|费率|计息)?(?:为|按)?|每(?P<each>日|天|月|年))\s?\Z"
    )


@cache
def _clause_before() -> re.Pattern[str]:
    late = "逾期|延迟|迟延|延期|拖欠|超过|迟付|迟交"
    between = r"(?:(?!不超过|不得超过|累计|上限|最高|%)[^。;\n每]){0,40}"
    return re.compile(rf"每(?:{late})?\s?[一1壹]?\s?个?\s?(?P<time>日|天|周|月|年){between}\Z")


@cache
def _time_behind() -> re.Pattern[str]:
    english = "day|week|month|year|annum"
    return re.compile(
        rf"\s?(?:/\s?(?P<slash>日|天|周|月|年|{english})|per\s(?P<per>{english})|p\.a\.|"
        rf"(?:of\s[^.;\n]{{1,40}}?\s)?(?:for\s)?(?:each|every|per)\s(?P<each>{english}))(?![a-z])"
    )


def _placed(seen: FoldedViews, start: int, end: int, values: tuple[Fraction, Fraction]) -> Percentage:
    """The percentage with the time it runs over, as far as its own clause says it."""
    low, high = min(values), max(values)
    near = _time_before().search(seen.lower, max(0, start - 8), start)
    if near and not _is_date(seen.lower, near.start("time" if near["time"] else "each")):
        return Percentage(seen.text[near.start() : end], near.start(), end, low, high, _time_of(near))
    bracketed = seen.lower[end : end + 1] == ")" and _time_behind().match(seen.lower, end + 1)
    if bracketed:  # one and one-half percent (1.5%) per month
        return Percentage(seen.text[start:end], start, end, low, high, _time_of(bracketed))
    behind = _time_behind().match(seen.lower, end)
    if behind:
        stop = behind.end()
        return Percentage(seen.text[start:stop], start, stop, low, high, _time_of(behind))
    clause = _clause_before().search(seen.lower, max(0, start - _LOOK_BACK), start)
    return Percentage(seen.text[start:end], start, end, low, high, _time_of(clause) if clause else None)


def _is_date(text: str, at: int) -> bool:
    """Whether 日, 月 or 年 at `at` ends a date or a count instead of naming a rate's time: 3月10日5%, 三年5%."""
    before = text[max(0, at - 3) : at].rstrip()[-1:]
    return before.isdecimal() or (bool(before) and before in NUMERAL_CLASS)


def _time_of(found: re.Match[str]) -> Per:
    named = next((value for value in found.groupdict().values() if value), "p.a.")
    return _TIMES[named]
