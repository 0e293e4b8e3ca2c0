"""The figures of a text, by which what is said and what is quoted can be compared however either writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from ollama_kit.guard.private.folding import fold
from ollama_kit.jobs.dates.terms import Term, parse_terms
from ollama_kit.jobs.dates.written import parse_dates
from ollama_kit.jobs.figures.amounts import parse_amounts
from ollama_kit.jobs.figures.numerals import NUMERAL_CLASS, read_numeral
from ollama_kit.jobs.figures.percentages import parse_percentages

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure as it is written, and what it comes to: a date in ISO, or a number (30 % is 3/10)."""

    words: str
    date: str = ""
    number: Fraction = Fraction(0)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a quote gives: its dates, and every number in it, in figures or words, alone or in a date."""

    dates: frozenset[str]
    numbers: frozenset[Fraction]

    @staticmethod
    def of(text: str) -> Figures:
        """All that can be read as a figure, more rather than less: it is what a statement may rest on.

        >>> held = Figures.of("货款人民币伍拾万元，于2026年3月1日前付30%")
        >>> Fraction(500000) in held.numbers, held.dates
        (True, frozenset({'2026-03-01'}))
        """
        dates = [found.day.isoformat() for found in parse_dates(text)]
        numbers: set[Fraction] = set(_digits(text))
        for amount in parse_amounts(text):
            numbers |= {Fraction(value) for value in (amount.figures, amount.words) if value is not None}
        for rate in parse_percentages(text):
            numbers |= {rate.low, rate.high}
        numbers |= {term.count for term in parse_terms(text) if isinstance(term, Term) and term.count is not None}
        folded = fold(text)
        for match in _numerals().finditer(folded):
            value = read_numeral(match[0])
            numbers |= set() if value is None else {value}
        return Figures(frozenset(dates), frozenset(numbers))

    def hold(self, figure: Figure) -> bool:
        """Whether a figure is among these."""
        if figure.date:
            return any(date.startswith(figure.date) for date in self.dates)
        return figure.number in self.numbers


def figures_in(text: str) -> Iterator[Figure]:
    """The figures that a statement makes: dates, amounts, rates, lengths of time, and other numbers in digits.

    Chinese numerals by themselves are left out, for words are full of them (双方, 一方, 三包).

    >>> [figure.words for figure in figures_in("乙方于2026年3月1日前付50万元，即30%，共3期")]
    ['2026年3月1日', '50万元', '30%', '3']
    """
    taken: list[tuple[Span, Figure]] = []
    for date in parse_dates(text):
        taken.append(((date.start, date.end), Figure(text[date.start : date.end], date=date.day.isoformat())))
    for amount in parse_amounts(text):
        words = text[amount.start : amount.end]
        taken.append(((amount.start, amount.end), Figure(words, number=Fraction(amount.value))))
    for rate in parse_percentages(text):
        words = text[rate.start : rate.end]
        taken += [((rate.start, rate.end), Figure(words, number=value)) for value in {rate.low, rate.high}]
    for term in parse_terms(text):
        if isinstance(term, Term) and term.count is not None and any(map(str.isdigit, text[term.start : term.end])):
            taken.append(((term.start, term.end), Figure(text[term.start : term.end], number=term.count)))
    for match in _number().finditer(fold(text)):
        if not any(start < match.end() and match.start() < end for (start, end), _ in taken):
            taken.append((match.span(), Figure(text[slice(*match.span())], number=_value(match))))
    yield from (figure for _, figure in sorted(taken, key=lambda one: (one[0], one[1].number)))


def _digits(text: str) -> Iterator[Fraction]:
    return map(_value, _number().finditer(fold(text)))


def _value(match: re.Match[str]) -> Fraction:
    return Fraction(match[0].replace(",", ""))


@cache
def _number() -> re.Pattern[str]:
    return re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?", re.ASCII)


@cache
def _numerals() -> re.Pattern[str]:
    return re.compile(rf"[{NUMERAL_CLASS}]{{1,24}}")
