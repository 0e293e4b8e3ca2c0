"""The figures of a contract: amounts, percentages, dates and lengths of time, each read once for all who ask."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from ollama_kit.guard.private.folding import Seen
from ollama_kit.jobs.dates.terms import Period, Term, terms_in
from ollama_kit.jobs.dates.written import FoundDate, dates_in
from ollama_kit.jobs.figures.amounts import Amount, amounts_in
from ollama_kit.jobs.figures.pairs import Placed
from ollama_kit.jobs.figures.percentages import Percentage, percentages_in

P = TypeVar("P", bound=Placed)


@dataclass(frozen=True, slots=True)
class Numbers:
    """All figures of one text in order, at offsets of that text."""

    amounts: tuple[Amount, ...]
    percentages: tuple[Percentage, ...]
    dates: tuple[FoundDate, ...]
    terms: tuple[Term, ...]
    periods: tuple[Period, ...]

    @staticmethod
    def of(seen: Seen) -> Numbers:
        """Reads them."""
        dates = dates_in(seen)
        terms = terms_in(seen, dates)
        return Numbers(
            amounts_in(seen),
            percentages_in(seen),
            dates,
            tuple(one for one in terms if isinstance(one, Term)),
            tuple(one for one in terms if isinstance(one, Period)),
        )


def within(found: Sequence[P], start: int, end: int) -> Sequence[P]:
    """Those of `found`, which are in order and do not overlap, that stand wholly in `[start:end]`."""
    first = bisect_left(found, start, key=lambda one: one.start)
    last = bisect_left(found, end + 1, first, key=lambda one: one.end)
    return found[first:last]
