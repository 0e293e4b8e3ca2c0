"""Dates in running text, Chinese and English: what a chat calls a deadline, and what a contract calls a date or a term.

    written    absolute dates in every common form: `parse_dates`
    terms      lengths of time and from–to periods: `parse_terms`
    deadlines  what is said against the moment it is said at (明天下午3点, by Friday): `resolve_deadline`
    days       the day that a word means; `chinese` and `english` hold the words
    delays     a time from now: 两天后, within 24h
    hours      parts of the day and clock times
    reckoning  the calendar's arithmetic

All are pure functions of the text and the moment given. Spans are exact offsets of the caller's own text, and the work
grows with the text and no faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.text.dates.deadlines import (
        Deadline,
        Reading,
        find_deadlines,
        read_deadlines,
        resolve_deadline,
    )
    from ollama_kit.text.dates.pieces import Refused
    from ollama_kit.text.dates.terms import Period, Term, parse_terms
    from ollama_kit.text.dates.written import FoundDate, parse_dates

__all__ = [
    "Deadline",
    "resolve_deadline",
    "find_deadlines",
    "read_deadlines",
    "Reading",
    "Refused",
    "FoundDate",
    "parse_dates",
    "Term",
    "Period",
    "parse_terms",
]

_HOMES = {
    "Refused": "pieces",
    "FoundDate": "written",
    "parse_dates": "written",
    "Term": "terms",
    "Period": "terms",
    "parse_terms": "terms",
}


def __getattr__(name: str) -> Any:
    """The public name, imported when first used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'deadlines')}"), name)
