"""Holds a model's answers against what the rules read: both are kept, and where they differ it is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ollama_kit.jobs.contract.answers import Agreement, Answer, Answered
from ollama_kit.jobs.contract.contract_facts import ContractFacts
from ollama_kit.jobs.contract.facts.values import Fact, Rate
from ollama_kit.jobs.contract.meaning import meaning_of, same_meaning
from ollama_kit.jobs.contract.passages import Evidence

_SAID = {"zh": ("规则读到“{}”，模型没有", "模型读到“{}”，规则没有"), "en": ("only the rules: {}", "only the model: {}")}


@dataclass(frozen=True, slots=True)
class _Read:
    """Something that the rules read: its words, what it comes to, and where it stands."""

    words: str
    meaning: str
    evidence: Sequence[Evidence]


@dataclass(frozen=True, slots=True)
class _Comparison:
    """How one question is compared: what the rules read on it, and the part of a model's value that answers it.

    `all_of_it`: what the rules read and the model does not give is a difference; else they read more than was asked."""

    rules: Callable[[ContractFacts], list[_Read]]
    part: str = ""
    all_of_it: bool = True

    def of(self, value: Any) -> Any:
        return value.get(self.part, "") if self.part and isinstance(value, dict) else value


def compared(answered: Answered, facts: ContractFacts) -> Answered:
    """The answers with how they stand to the facts; those on which rules read nothing stay as they are."""
    comparison = _COMPARED.get(answered.name)
    if comparison is None or answered.failure:
        return answered
    read = comparison.rules(facts)
    given = [answer for answer in answered.answers if answer.is_proven and comparison.of(answer.value)]
    only_rules = [one for one in read if not any(_same(one, answer, comparison) for answer in given)]
    only_model = [answer for answer in given if not any(_same(one, answer, comparison) for one in read)]
    if not comparison.all_of_it and len(only_rules) < len(read):
        only_rules = []
    rules_said, model_said = _SAID[facts.language]
    differences = (
        *(rules_said.format(one.words) for one in only_rules),
        *(model_said.format(comparison.of(answer.value)) for answer in only_model),
    )
    agreement = _agreement(bool(read), bool(given), bool(differences))
    return replace(answered, agreement=agreement, differences=differences if agreement == "differ" else ())


def _agreement(read: bool, given: bool, differ: bool) -> Agreement:
    if not (read and given):
        return "rules_only" if read else "model_only" if given else "neither"
    return "differ" if differ else "agree"


def _same(read: _Read, answer: Answer, comparison: _Comparison) -> bool:
    """Whether both say the same; where the model copied a condition (自盖章之日起), whether they are the same words."""
    meaning = meaning_of(comparison.of(answer.value))
    if same_meaning(read.meaning, meaning):
        return True
    without_figures = not any(map(str.isdigit, meaning))
    return without_figures and any(
        one.start < other.end and other.start < one.end for one in read.evidence for other in answer.evidence
    )


def _single(name: str) -> Callable[[ContractFacts], list[_Read]]:
    return lambda facts: _of_fact(facts.facts[name])


def _of_fact(found: Fact) -> list[_Read]:
    return [_Read(one.value, meaning_of(one.value), (one.evidence, *one.basis)) for one in found.values]


def _parties(facts: ContractFacts) -> list[_Read]:
    names = [party.names[0] for party in facts.parties if party.names]
    return [_Read(name.value, meaning_of(name.value), ()) for name in names]


def _amounts(facts: ContractFacts) -> list[_Read]:
    return [
        _Read(one.evidence.quote, f"{one.currency} {one.value.normalize():f}", (one.evidence,)) for one in facts.amounts
    ]


def _warranties(facts: ContractFacts) -> list[_Read]:
    return [_Read(one.evidence.quote, meaning_of(one.evidence.quote), ()) for one in facts.warranties]


def _rates(kind: str) -> Callable[[ContractFacts], list[_Read]]:
    def read(facts: ContractFacts) -> list[_Read]:
        return [_rate(one) for one in facts.rates if one.kind == kind]

    return read


def _rate(one: Rate) -> _Read:
    return _Read(one.evidence.quote, meaning_of(one.evidence.quote), ())


def _shares(facts: ContractFacts) -> list[_Read]:
    """The shares of the stages of payment."""
    return [_Read(f"{float(100 * one.share):g}%", meaning_of(f"{float(100 * one.share):g}%"), ()) for one in
            facts.payments if one.share is not None]  # fmt: skip


_COMPARED = {
    **{
        name: _Comparison(_single(name))
        for name in (
            *("title", "type", "number", "signing_date", "effective_date", "end_date", "term", "governing_law"),
        )
    },
    "dispute_forum": _Comparison(_single("dispute_forum"), "body"),
    "parties": _Comparison(_parties, "name"),
    "amounts": _Comparison(_amounts, "amount", all_of_it=False),
    "payments": _Comparison(_shares, "share"),
    "warranty": _Comparison(_warranties, "period"),
    "penalty": _Comparison(_rates("penalty"), "rate", all_of_it=False),
    "tax": _Comparison(_rates("tax"), "rate", all_of_it=False),
}
"""The questions on which the rules read something that can be compared."""
