"""Finds the quotes of an answer in the contract, and says what of the answer they do not hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from ollama_kit.guard.locate import FoldedText
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.proof.figures import Figures, figures_in

Span = tuple[int, int]
"""(start, end) in a contract's plain text."""
LONGEST_DOUBT = 80


@dataclass(frozen=True, slots=True)
class Claim:
    """What a model says: the answer to a question, and where in the contract its quotes stand.

    `invented` are quotes that stand nowhere; `doubts` the parts of `value` that no quote holds."""

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

    @cached_property
    def _folded(self) -> FoldedText:
        return FoldedText.of(self.text.plain)

    def prove(self, claim: Claim, quotes: Sequence[str], schema: Mapping[str, Any]) -> Claim:
        """The claim with `quotes` located, in addition to those it has. White space, width and quotation marks may
        differ from the contract's; nothing else may. `schema` is that of the value."""
        spans, invented = list(claim.spans), []
        for quote in dict.fromkeys(filter(str.strip, quotes)):
            place = self._folded.find(quote)
            if place is None:
                invented.append(quote)
            elif place not in spans:
                spans.append(place)
        doubts = []
        if spans:
            held = _Held.of(self.text.plain[start:end] for start, end in spans)
            for part in _parts(claim.value, schema):
                place = None if held.holds(part) else self._elsewhere(part)
                if place is not None:
                    spans.append(place)
                elif not held.holds(part):
                    doubts += held.missing(part)
        kept = tuple(dict.fromkeys((*claim.invented, *invented)))
        return replace(claim, spans=tuple(spans), invented=kept, doubts=tuple(dict.fromkeys(doubts)))

    def _elsewhere(self, part: _Part) -> Span | None:
        """Where a part that is the contract's own words stands outside the quotes: a name, a code."""
        return self._folded.find(part.text) if part.verbatim else None


@dataclass(frozen=True, slots=True)
class _Part:
    """A text or number of a value. `verbatim`: the contract's own words."""

    text: str
    verbatim: bool
    number: Fraction | None = None


@dataclass(frozen=True)
class _Held:
    """What the quotes of a claim hold."""

    words: FoldedText
    figures: Figures

    @staticmethod
    def of(quotes: Iterator[str]) -> _Held:
        together = "\n".join(quotes)
        return _Held(FoldedText.of(together), Figures.of(together))

    def holds(self, part: _Part) -> bool:
        return not self.missing(part)

    def missing(self, part: _Part) -> list[str]:
        """The words of a part that the quotes do not hold."""
        if part.number is not None:
            given = {part.number, part.number / 100}  # 30 for 30 %
            return [] if given & self.figures.numbers else [part.text]
        if self.words.find(part.text) is not None:
            return []
        figures = list(figures_in(part.text))
        if part.verbatim and not figures:
            return [part.text[:LONGEST_DOUBT]]
        return [figure.words for figure in figures if not self.figures.hold(figure)]


def _parts(value: Any, schema: Mapping[str, Any]) -> Iterator[_Part]:
    """The texts and numbers of a value that its quotes must hold. What is chosen from a list is no text of the
    contract, and what is empty says nothing."""
    if isinstance(value, Mapping):
        properties = schema.get("properties") or {}
        for name, inner in value.items():
            yield from _parts(inner, _schema(properties.get(name)))
    elif isinstance(value, list):
        for inner in value:
            yield from _parts(inner, _schema(schema.get("items")))
    elif isinstance(value, bool) or value is None or "enum" in schema or "const" in schema:
        return
    elif isinstance(value, int | float):
        yield _Part(str(value), verbatim=False, number=Fraction(str(value)))
    elif value.strip():
        dated = schema.get("format") in ("date", "date-time")
        yield _Part(value, verbatim=bool(schema.get("x-verbatim")) or dated)


def _schema(schema: Any) -> Mapping[str, Any]:
    return schema if isinstance(schema, Mapping) else {}
