"""What an answer comes to, by which two ways of writing it can be told to be one."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from ollama_kit.jobs.dates.terms import Term, parse_terms
from ollama_kit.jobs.dates.written import parse_dates
from ollama_kit.jobs.figures.amounts import parse_amounts
from ollama_kit.jobs.figures.percentages import parse_percentages
from ollama_kit.jobs.likeness import letters_of

_DAYS = {"day": 1, "week": 7}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}


def meaning_of(value: Any) -> str:
    """What a value comes to: a date in ISO, an amount with its currency, a rate, a length of time; of anything else
    its letters.

    >>> meaning_of("2026年3月1日") == meaning_of("March 1, 2026"), meaning_of("两年") == meaning_of("24 months")
    (True, True)
    >>> meaning_of("人民币伍拾万元整") == meaning_of("RMB 500,000"), meaning_of("甲方 ") == meaning_of("甲方")
    (True, True)
    """
    if isinstance(value, Mapping):
        return "|".join(f"{name}={meaning_of(inner)}" for name, inner in sorted(value.items()))
    if isinstance(value, list):
        return "|".join(map(meaning_of, value))
    if not isinstance(value, str):
        return str(value)
    return _of_text(value) or letters_of(value)


def same_meaning(one: str, other: str) -> bool:
    """Whether two meanings are one: equal, or one a part of the other (a name with and without its city, a month and a
    day in it).

    >>> same_meaning("2026-03", "2026-03-01"), same_meaning("3", "13")
    (True, False)
    """
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if short[:4].isdigit() and short[4:5] in ("-", ""):
        return len(short) >= 4 and long.startswith(f"{short}-")
    return len(short) > 1 and not _is_figure(short) and not _is_figure(long) and short in long


def _of_text(text: str) -> str:
    """The one figure that a short text writes; empty where it writes none, or more than one."""
    dates = {found.day.isoformat() for found in parse_dates(text)}
    amounts = {f"{found.currency} {found.value.normalize():f}" for found in parse_amounts(text)}
    rates = {f"{found.low}–{found.high} {found.per or ''}" for found in parse_percentages(text)}
    terms = {_length(found) for found in parse_terms(text) if isinstance(found, Term)}
    found = dates or amounts or rates or terms
    return found.pop() if len(found) == 1 else ""


def _length(term: Term) -> str:
    if term.unit in _MONTHS:
        return f"{Fraction(term.count) * _MONTHS[term.unit]} months"
    return f"{Fraction(term.count) * _DAYS.get(term.unit, 1)} {'days' if term.unit in _DAYS else term.unit}"


def _is_figure(meaning: str) -> bool:
    return any(character.isdigit() for character in meaning)
