"""The figures of a contract: amounts, percentages, dates and lengths of time, each read once for all who ask."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from ollama_kit.text.dates.written import FoundDate, Period, Term, dates_in, terms_in
from ollama_kit.text.figures.amounts import Amount, amounts_in
from ollama_kit.text.figures.percentages import Percentage, percentages_in
from ollama_kit.text.folding import FoldedViews
from ollama_kit.text.pattern_search import Placed

P = TypeVar("P", bound=Placed)


@dataclass(frozen=True)
class Row(Generic[P]):
    """Figures of one kind, in order and without overlap, that are found by their place."""

    found: tuple[P, ...]
    starts: list[int] = field(init=False, repr=False, compare=False)
    ends: list[int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", [one.start for one in self.found])
        object.__setattr__(self, "ends", [one.end for one in self.found])

    def within(self, start: int, end: int) -> tuple[P, ...]:
        """Those that stand wholly in `[start:end]`."""
        return self.found[bisect_left(self.starts, start) : bisect_right(self.ends, end)]


@dataclass(frozen=True, slots=True)
class Numbers:
    """All figures of one text, at offsets of that text."""

    amounts: Row[Amount]
    percentages: Row[Percentage]
    dates: Row[FoundDate]
    terms: Row[Term]
    periods: Row[Period]

    @staticmethod
    def of(seen: FoldedViews) -> Numbers:
        """Reads them."""
        dates = dates_in(seen)
        terms = terms_in(seen, dates)
        return Numbers(
            Row(amounts_in(seen)),
            Row(percentages_in(seen)),
            Row(dates),
            Row(tuple(one for one in terms if isinstance(one, Term))),
            Row(tuple(one for one in terms if isinstance(one, Period))),
        )
