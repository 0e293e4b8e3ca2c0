"""Dates in running text, Chinese and English: what a chat calls a deadline, and what a contract calls a date or a term.

    written    absolute dates in every common form (`parse_dates`), lengths of time and from–to periods (`parse_terms`)
    deadlines  what is said against the moment it is said at (明天下午3点, by Friday): `resolve_deadline`
    days       the day that a word means; `chinese` and `english` hold the words
    times      parts of the day, clock times, and a time from now: 两天后, within 24h
    reckoning  the calendar's arithmetic

All are pure functions of the text and the moment given. Spans are exact offsets of the caller's own text, and the work
grows with the text and no faster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.text.dates.days import RefusedTime as RefusedTime
    from ollama_kit.text.dates.deadlines import (
        Deadline as Deadline,
        FoundDeadlines as FoundDeadlines,
        find_deadlines as find_deadlines,
        read_deadlines as read_deadlines,
        resolve_deadline as resolve_deadline,
    )
    from ollama_kit.text.dates.written import (
        FoundDate as FoundDate,
        Period as Period,
        Term as Term,
        parse_dates as parse_dates,
        parse_terms as parse_terms,
    )
else:
    __getattr__, __dir__ = exports(__name__)
