"""Finds the quotes of an answer in the contract, and says what of the answer they do not hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ollama_kit.jobs.contract.passages import ContractText, sentence_around
from ollama_kit.jobs.contract.proof.figures import Figure, around_figures, figures_of, is_whole
from ollama_kit.jobs.contract.proof.own_words import Passage, is_name, sides_in
from ollama_kit.jobs.contract.proof.value_parts import Part, parts_of
from ollama_kit.text.locate import FoldedText, letters_of

Span = tuple[int, int]
"""(start, end) in a contract's plain text."""
LONGEST_DOUBT = 80
_LISTED = frozenset({"期", "次", "批", "笔", "份", "台", "套"})
SHORTEST_QUOTE = 4
"""Letters of a quote that proves a statement; one that is the value itself may be shorter."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a model says: the answer to a question, and where in the contract its quotes stand.

    `invented` are quotes that stand nowhere, or are too short to prove anything; `doubts` the parts of `value` that no
    quote holds."""

    question: str
    value: Any
    spans: tuple[Span, ...] = ()
    invented: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    @property
    def is_proven(self) -> bool:
        return bool(self.spans) and not self.doubts

    def as_dict(self) -> dict[str, Any]:
        """The claim as plain data for the ledger."""
        return {
            "question": self.question,
            "value": self.value,
            "spans": [list(span) for span in self.spans],
            "invented": list(self.invented),
            "doubts": list(self.doubts),
        }

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Claim:
        """The claim that `as_dict` gave."""
        spans = tuple((start, end) for start, end in data["spans"])
        return Claim(data["question"], data["value"], spans, tuple(data["invented"]), tuple(data["doubts"]))


@dataclass(frozen=True)
class Prover:
    """Proves claims about one contract; its text is folded once."""

    text: ContractText
    sides: tuple[frozenset[str], ...] = ()
    """What each party is called, in lower case: 甲方 and 买方 may be one."""

    @cached_property
    def _folded(self) -> FoldedText:
        return FoldedText.of(self.text.plain)

    def prove(self, claim: Claim, quotes: Sequence[str], schema: Mapping[str, Any], near: Sequence[Span] = ()) -> Claim:
        """The claim with `quotes` located, in addition to those it has: within `near` first, where the model was
        reading. White space, width and quotation marks may differ from the contract's; nothing else may. `schema` is
        that of the value."""
        spans, invented = list(claim.spans), []
        parts = list(parts_of(claim.value, schema))
        for quote in dict.fromkeys(filter(str.strip, quotes)):
            place = self._place(quote, near) if _says_enough(quote, parts) else None
            if place is None:
                invented.append(quote)
            elif place not in spans:
                spans.append(place)
        found, doubts = self.judge(parts, spans) if spans else ([], [])
        kept = tuple(dict.fromkeys((*claim.invented, *invented)))
        return replace(claim, spans=(*spans, *found), invented=kept, doubts=tuple(dict.fromkeys(doubts)))

    def judge(self, parts: Sequence[Part], spans: Sequence[Span]) -> tuple[list[Span], list[str]]:
        """What else proves the parts of a value, found by their own words, and what nothing proves."""
        held = _Held.of([self.text.plain[start:end] for start, end in spans])
        elsewhere, doubts = [], []
        for part in parts:
            missing = held.missing(part)
            place = self._elsewhere(part) if missing else None
            if place is not None:
                elsewhere.append(place)
            else:
                doubts += missing
        return elsewhere, doubts + self._other_side(parts, spans)

    def _place(self, quote: str, near: Sequence[Span]) -> Span | None:
        """Where a quote stands: the first place within `near`, else the first of all."""
        first = self._folded.find(quote)
        if first is None or not near or _within(first, near):
            return first
        return next((place for place in self._folded.find_all(quote) if _within(place, near)), first)

    def _elsewhere(self, part: Part) -> Span | None:
        """Where a part that is the contract's own words stands outside the quotes: a name or a code, no figure."""
        if not part.verbatim or is_whole(part.text) or not is_name(part.text):
            return None
        return self._folded.find(part.text)

    def _other_side(self, parts: Sequence[Part], spans: Sequence[Span]) -> list[str]:
        """The sides that the value names, where the sentences of its quotes name others and none of these."""
        named = frozenset[str]().union(*(sides_in(part.text) for part in parts if part.number is None))
        if not named:
            return []
        plain = self.text.plain
        sentences = (plain[slice(*sentence_around(plain, start, end))] for start, end in spans)
        there = frozenset[str]().union(*map(sides_in, sentences))
        return sorted(named) if there and not self._with_others(named) & there else []

    def _with_others(self, named: frozenset[str]) -> frozenset[str]:
        """The sides with whatever else the same parties are called."""
        return named.union(*(side for side in self.sides if side & named))


@dataclass(frozen=True)
class _Held:
    """What the quotes of a claim hold, each by itself: two of them joined may make words that stand nowhere."""

    passages: tuple[Passage, ...]
    figures: tuple[Figure, ...]

    @staticmethod
    def of(quotes: Sequence[str]) -> _Held:
        figures = (figure for quote in quotes for figure in figures_of(quote))
        return _Held(tuple(map(Passage.of, quotes)), tuple(figures))

    def missing(self, part: Part) -> list[str]:
        """The words of a part that the quotes do not hold."""
        if part.number is not None:
            said = Figure(part.text, 0, 0, "count", part.number)
            return [] if any(figure.bears(said) for figure in self.figures) else [part.text]
        if any(passage.holds(part.text) for passage in self.passages):
            return []
        missing = [figure for figure in figures_of(part.text) if not self._bears(figure)]
        if part.verbatim and not is_whole(part.text) and not self._stands(part.text, figures_hold=not missing):
            return [part.text[:LONGEST_DOUBT]]
        if part.verbatim and not is_whole(part.text):
            return []
        return list(dict.fromkeys(figure.words for figure in missing))

    def _bears(self, said: Figure) -> bool:
        """Whether a quote holds a figure, or the quotes are as many as it counts: three stages of payment."""
        counted = said.kind == "count" and said.unit in _LISTED and said.number == len(self.passages) > 1
        return counted or any(figure.bears(said) for figure in self.figures)

    def _stands(self, words: str, *, figures_hold: bool) -> bool:
        """Whether words stand in the quotes, whole or in the parts they are put together of: the figures in whatever
        form, and what is said beside them."""
        if any(passage.holds_parts(words) for passage in self.passages):
            return True
        beside = around_figures(words)
        return (
            figures_hold
            and "".join(beside) != words.strip()
            and all(any(passage.holds(one) for passage in self.passages) for one in beside)
        )


def _within(place: Span, near: Sequence[Span]) -> bool:
    return any(start <= place[0] and place[1] <= end for start, end in near)


def _says_enough(quote: str, parts: Sequence[Part]) -> bool:
    """Whether a quote could prove anything: one of a few letters proves nothing but itself."""
    letters = letters_of(quote)
    if any(letters and letters == letters_of(part.text) for part in parts):
        return True
    return len(letters) >= (2 if any(part.verbatim for part in parts) else SHORTEST_QUOTE)
