"""The figures of a text, each of its kind, by which what is said and what is quoted can be compared however either
writes them: two years are 24 months and no 24 %, USD 500 are no RMB 500, and 5 % a day is no 5 % a year."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

from ollama_kit.jobs.contract.facts.written_days import days_in
from ollama_kit.text.dates.written import MONTH, ORDINALS, Term, month_number, parse_terms
from ollama_kit.text.figures.amounts import parse_amounts
from ollama_kit.text.figures.numerals import ENGLISH_NUMBER, NUMERAL_CLASS, english_number, read_numeral
from ollama_kit.text.figures.percentages import parse_percentages
from ollama_kit.text.folding import fold

Kind = Literal["date", "money", "rate", "length", "count", "clause"]
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_DAYS = {"day": 1, "week": 7}
_MYRIADS = {"万": 10**4, "亿": 10**8}


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure at `[start:end]` of its text. `unit` is the currency, what a rate runs over, months or days, or what
    is counted; empty where the text does not say. A date is `number` 0 and `day`, year-month-day with ? for what is
    not said."""

    words: str
    start: int
    end: int
    kind: Kind
    number: Fraction = Fraction(0)
    unit: str = ""
    day: str = ""

    def bears(self, said: Figure) -> bool:
        """Whether this figure of a quote bears out one that is said. What a bare number counts is open, on either
        side; 30 may be said of 30 %."""
        if self.kind == "date":
            return _date_bears(self.day, said)
        if said.kind == "date":
            return said.day == f"{self.number}-?-?" and self.kind == "count" and not self.unit
        numbers = {self.number, self.number * 100} if self.kind == "rate" and _is_bare(said) else {self.number}
        if said.number not in numbers:
            return False
        if _is_bare(said) or _is_bare(self):
            return True
        if self.kind != said.kind:
            return {self.unit, said.unit} == {"days", "日"}
        return self.unit == said.unit or (self.kind in ("money", "rate") and not (self.unit and said.unit))


def figures_of(text: str) -> tuple[Figure, ...]:
    """Every figure of a text, in order: dates, whole or in part, money, rates, lengths of time, counts, and numbers in
    digits. A number that is only part of a word (任一方, 十分) is none, nor is that of a clause (第五条, Section 12.2).

    >>> [(figure.words, figure.kind) for figure in figures_of("乙方于3月1日前付50万元，即30%，质保两年，分3期")]
    [('3月1日', 'date'), ('50万元', 'money'), ('30%', 'rate'), ('两年', 'length'), ('3期', 'count')]
    """
    plain = _joined_thousands(text)
    taken = [Figure("", *match.span(), "clause") for match in _clause().finditer(fold(plain))]
    for found in (_dates(plain), _money(plain), _rates(plain), _lengths(plain), _counts(plain), _numbers(plain)):
        taken += [
            figure for figure in found if all(figure.end <= one.start or one.end <= figure.start for one in taken)
        ]
    taken += _in_myriads(plain, taken)
    kept = dict.fromkeys(figure for figure in taken if figure.kind != "clause")
    return tuple(sorted(kept, key=lambda one: (one.start, one.end)))


def is_whole(text: str) -> bool:
    """Whether a text is a figure and nothing else but the small words around one: 人民币伍拾万元整, within 30 days.

    >>> is_whole("自2026年3月1日起"), is_whole("HT-2026-0098"), is_whole("自双方盖章且付款500元之日起")
    (True, False, False)
    """
    rest, at = [], 0
    found = figures_of(text)
    for figure in found:
        rest.append(text[at : figure.start])
        at = max(at, figure.end)
    return bool(found) and _small_words().fullmatch(fold("".join((*rest, text[at:]))).lower()) is not None


def around_figures(text: str) -> tuple[str, ...]:
    """The words of a text between its figures, without the small ones: what else it says.

    >>> around_figures("twenty-four (24) months from the Effective Date")
    ('Effective Date',)
    """
    rest, at = [], 0
    for figure in figures_of(text):
        if not _is_bare(figure):
            rest.append(text[at : figure.start])
            at = max(at, figure.end)
    stripped = (_small_edges().sub("", words) for words in (*rest, text[at:]))
    return tuple(words for words in stripped if words)


def _is_bare(figure: Figure) -> bool:
    return figure.kind == "count" and not figure.unit


def _date_bears(day: str, said: Figure) -> bool:
    if said.kind == "date":
        pairs = zip(day.split("-"), said.day.split("-"), strict=True)
        return all(wanted in ("?", given) for given, wanted in pairs)
    year, _, number = day.split("-")
    if not _is_bare(said) and said.unit != "日":
        return False
    return str(said.number) == (year if _is_bare(said) and said.number > 31 else number.lstrip("0"))


def _dates(text: str) -> Iterator[Figure]:
    whole = days_in(text, 0, len(text))
    for found in whole:
        parts = [*found.iso.split("-"), "?", "?"][:3]
        yield Figure(text[found.start : found.end], found.start, found.end, "date", day="-".join(parts))
    for match in _part_of_date().finditer(fold(text).lower()):
        if any(found.start < match.end() and match.start() < found.end for found in whole):
            continue
        month = match["month"] or match["named"]
        number = read_numeral(match["month"]) if match["month"] else Fraction(month_number(month))
        day = read_numeral(match["day"] or match["day_en"]) if match["day"] or match["day_en"] else None
        if number is not None:
            shown = f"{match['year'] or '?'}-{int(number):02}-{'?' if day is None else f'{int(day):02}'}"
            yield Figure(text[slice(*match.span())], *match.span(), "date", day=shown)


def _money(text: str) -> Iterator[Figure]:
    for found in parse_amounts(text):
        if (
            _part_of_number().search(text, max(0, found.start - 1), found.start)
            or text[found.end : found.end + 1] in _MYRIADS
        ):
            continue
        for value in {found.figures, found.words} - {None}:
            assert value is not None
            yield Figure(
                text[found.start : found.end], found.start, found.end, "money", Fraction(value), found.currency
            )


def _rates(text: str) -> Iterator[Figure]:
    for found in parse_percentages(text):
        words = text[found.start : found.end]
        for value in sorted({found.low, found.high}):
            yield Figure(words, found.start, found.end, "rate", value, found.per or "")
    for match in _tenths().finditer(fold(text)):
        tenths = read_numeral(match["tenths"])
        if tenths is not None:
            yield Figure(text[slice(*match.span())], *match.span(), "rate", tenths / 10)


def _lengths(text: str) -> Iterator[Figure]:
    for found in parse_terms(text):
        if isinstance(found, Term) and found.count is not None:
            words = text[found.start : found.end]
            if found.unit in _MONTHS:
                yield Figure(words, found.start, found.end, "length", found.count * _MONTHS[found.unit], "months")
            elif found.unit in _DAYS:
                yield Figure(words, found.start, found.end, "length", found.count * _DAYS[found.unit], "days")
            else:
                yield Figure(words, found.start, found.end, "length", found.count, found.unit)


def _counts(text: str) -> Iterator[Figure]:
    """Numbers of something that is counted. One in Chinese words (一份) is how people speak, and no figure."""
    folded = fold(text)
    for match in _counted().finditer(folded):
        value = read_numeral(match["number"])
        if value is not None and (value != 1 or match["number"][0].isdecimal()):
            scale = _MYRIADS.get(match["scale"] or "", 1)
            yield Figure(text[slice(*match.span())], *match.span(), "count", value * scale, match["unit"])


def _numbers(text: str) -> Iterator[Figure]:
    """Numbers in digits, and in English words, that nothing says the kind of."""
    folded = fold(text)
    for match in _digits().finditer(folded):
        value = Fraction(match["number"].replace(",", "")) * _MYRIADS.get(match["scale"] or "", 1)
        yield Figure(text[slice(*match.span())], *match.span(), "count", value)
    for match in _in_words().finditer(folded.lower()):
        number = ORDINALS.get(match[0]) or english_number(match[0])
        if number is not None and number > 1:
            yield Figure(text[slice(*match.span())], *match.span(), "count", Fraction(number))


def _in_myriads(text: str, found: list[Figure]) -> Iterator[Figure]:
    """Of a table in 万元, what each of its bare numbers comes to."""
    if _table_unit().search(fold(text)):
        for figure in found:
            if _is_bare(figure):
                yield Figure(figure.words, figure.start, figure.end, "money", figure.number * 10**4, "CNY")


def _joined_thousands(text: str) -> str:
    """The text with commas for the blanks between thousands, which keep its length: 1 200 000 is 1,200,000."""
    return re.sub(
        r"(?<![\d.,])\d{1,3}(?:[ \u00a0\u2009\u202f]\d{3})+(?![\d])",
        lambda match: re.sub(r"[^\d]", ",", match[0]),
        text,
    )


@cache
def _part_of_date() -> re.Pattern[str]:
    """A month with or without its year and day, where the whole is not a date by itself."""
    number = rf"(?:\d{{1,2}}|[{NUMERAL_CLASS}]{{1,3}})"
    return re.compile(
        rf"(?:(?P<year>\d{{4}})\s?年\s?)?(?<!\d)(?P<month>{number})\s?月(?!内|度|底前)(?:\s?(?P<day>{number})\s?[日号])?"
        rf"|\b(?P<named>{MONTH})\.?\s(?P<day_en>\d{{1,2}})(?:st|nd|rd|th)?\b(?!,?\s\d{{4}})"
    )


@cache
def _clause() -> re.Pattern[str]:
    """The number by which a clause or a stage is called, which is no figure of what it says."""
    return re.compile(
        rf"第\s?(?:\d{{1,3}}(?:\.\d{{1,3}})*|[{NUMERAL_CLASS}]{{1,5}})\s?(?:条|款|项|章|节|页|期|次|批|笔|阶段)|附件\s?(?:\d{{1,2}}|[{NUMERAL_CLASS}]{{1,2}})"
        r"|(?i:\b(?:clause|section|article|paragraph|exhibit|schedule|annex|appendix)s?|§)\s?\d{1,3}(?:\.\d{1,3})*(?!\d)"
    )


@cache
def _part_of_number() -> re.Pattern[str]:
    return re.compile(rf"[{NUMERAL_CLASS}\d]")


@cache
def _tenths() -> re.Pattern[str]:
    return re.compile(rf"(?<![{NUMERAL_CLASS}\d])(?P<tenths>[{NUMERAL_CLASS}]|\d)成(?!立|果|本|为|交|员|功|品|熟)")


_UNITS = "倍|期|次|份|台|套|批|笔|名|人|件|辆|间|栋|幢|层|吨|公斤|千克|米|平方米|亩|日|号|折|分期"


@cache
def _counted() -> re.Pattern[str]:
    number = rf"(?:\d{{1,9}}(?:\.\d{{1,4}})?|[{NUMERAL_CLASS}]{{1,6}})"
    return re.compile(
        rf"(?<![{NUMERAL_CLASS}\d.,A-Za-z-])(?P<number>{number})\s?(?P<scale>[万亿])?\s?(?:个\s?)?(?P<unit>{_UNITS})"
    )


@cache
def _digits() -> re.Pattern[str]:
    return re.compile(
        r"(?<![\d.,万亿])(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?!\d)(?:\s?(?P<scale>[万亿]))?",
        re.ASCII,
    )


@cache
def _in_words() -> re.Pattern[str]:
    ordinals = "|".join(sorted(ORDINALS, key=len, reverse=True))
    return re.compile(rf"\b(?:{ordinals}|{ENGLISH_NUMBER})\b")


@cache
def _table_unit() -> re.Pattern[str]:
    return re.compile(r"[(\[]\s?(?:单位\s?[::]\s?)?(?:人民币\s?)?万元\s?[)\]]|单位\s?:\s?(?:人民币)?万元")


_SMALL = (
    r"(?:[\s\W]|人民币|大写|小写|含税|共|计|约|即|为|的|每|按|自|从|至|到|于|在|前|后|内|起|止|以内|之内|之日|届满|期满|期限|整|元|个"
    r"|\b(?:within|from|until|to|on|by|of|the|a|an|each|per|prior|before|after|as|effective|through|and|or|about)\b)*"
)


@cache
def _small_words() -> re.Pattern[str]:
    return re.compile(_SMALL)


@cache
def _small_edges() -> re.Pattern[str]:
    return re.compile(rf"\A{_SMALL}|{_SMALL}\Z")
