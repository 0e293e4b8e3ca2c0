"""Holds a model's answers against what the rules read: both are kept, and where they differ it is said."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ollama_kit.jobs.contract.answers import Agreement, Answer, Answered
from ollama_kit.jobs.contract.contract_facts import ContractFacts
from ollama_kit.jobs.contract.facts.fact_values import Fact, Money, Rate
from ollama_kit.jobs.contract.meaning import figures_alike, meaning_of, rate_meaning, same_meaning
from ollama_kit.jobs.contract.passages import Evidence
from ollama_kit.jobs.contract.proof.figures import figures_of
from ollama_kit.jobs.contract.proof.own_words import sides_in
from ollama_kit.text.locate import letters_of

_SAID = {
    "zh": ("规则读到“{}”，模型没有", "规则读到“{}”，模型也说到，但未证实", "模型读到“{}”，规则没有"),
    "en": ("only the rules: {}", "the rules, and the model without proof: {}", "only the model: {}"),
}


@dataclass(frozen=True, slots=True)
class _Read:
    """Something that the rules read: its words, what it comes to, and where it stands. `computed`: the contract says it
    in other words (from the day of signing on); `sides` are the roles of a party."""

    words: str
    meaning: str
    evidence: Sequence[Evidence] = ()
    computed: bool = False
    sides: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Comparison:
    """How one question is compared: what the rules read on it, and the part of a model's value that answers it.

    `all_of_it`: what the rules read and the model does not give is a difference; else they read more than was asked.
    `each`: what the rules read twice the model must give twice."""

    rules: Callable[[ContractFacts], list[_Read]]
    part: str = ""
    all_of_it: bool = True
    each: bool = False

    def of(self, value: Any) -> str:
        """The words of a value that are compared."""
        return str(value.get(self.part, "") if self.part and isinstance(value, dict) else value)


def compared(answered: Answered, facts: ContractFacts) -> Answered:
    """The answers with how they stand to the facts; those on which rules read nothing stay as they are."""
    comparison = _COMPARED.get(answered.name)
    if comparison is None or answered.failure:
        return answered
    read = comparison.rules(facts)
    said = [answer for answer in answered.answers if comparison.of(answer.value).strip()]
    given = [answer for answer in said if answer.is_proven]
    only_rules = _unmatched(read, given, comparison)
    only_model = [answer for answer in given if not any(_same(one, answer, comparison) for one in read)]
    if not comparison.all_of_it and len(only_rules) < len(read):
        only_rules = []
    differences = tuple(_differences(only_rules, only_model, said, comparison, facts.language))
    agreement = _agreement(bool(read), bool(given), bool(differences))
    return replace(answered, agreement=agreement, differences=differences if agreement == "differ" else ())


def _unmatched(read: list[_Read], given: list[Answer], comparison: _Comparison) -> list[_Read]:
    """What the rules read and no answer gives; where each counts, an answer serves one of them only."""
    free = list(given)
    left = []
    for one in read:
        answer = next((answer for answer in free if _same(one, answer, comparison)), None)
        if answer is None:
            left.append(one)
        elif comparison.each:
            free.remove(answer)
    return left


def _differences(
    rules: list[_Read], model: list[Answer], said: list[Answer], comparison: _Comparison, language: str
) -> Iterable[str]:
    only_rules, unproven, only_model = _SAID[language]
    doubted = [answer for answer in said if not answer.is_proven]
    for one in rules:
        known = any(_same(one, answer, comparison) for answer in doubted)
        yield (unproven if known else only_rules).format(one.words)
    yield from (only_model.format(comparison.of(answer.value)) for answer in model)


def _agreement(read: bool, given: bool, differ: bool) -> Agreement:
    if not (read and given):
        return "rules_only" if read else "model_only" if given else "neither"
    return "differ" if differ else "agree"


def _same(read: _Read, answer: Answer, comparison: _Comparison) -> bool:
    """Whether both say the same: by meaning; or at the same place of the contract one in more words than the other, or
    the model in the words from which the rules computed it. A party has the same side as well."""
    words = comparison.of(answer.value)
    if read.sides and isinstance(answer.value, dict):
        sides = sides_in(str(answer.value.get("role", "")))
        if sides and not sides & read.sides:
            return False
    if same_meaning(read.meaning, meaning_of(words)):
        return True
    if not any(one.start < other.end and other.start < one.end for one in read.evidence for other in answer.evidence):
        return False
    first, second = letters_of(read.words), letters_of(words)
    if min(len(first), len(second)) > 1 and (first in second or second in first):
        return figures_alike(read.words, words)
    return read.computed and not figures_of(words)


def _single(name: str) -> Callable[[ContractFacts], list[_Read]]:
    return lambda facts: _of_fact(facts.facts[name])


def _of_fact(found: Fact) -> list[_Read]:
    return [
        _Read(one.value, meaning_of(one.value), (one.evidence, *one.basis), computed=bool(one.basis))
        for one in found.values
    ]


def _parties(facts: ContractFacts) -> list[_Read]:
    return [
        _Read(party.name, meaning_of(party.name), (party.names[0].evidence,), sides=sides_in(" ".join(party.roles)))
        for party in facts.parties
        if party.names
    ]


def _amounts(facts: ContractFacts) -> list[_Read]:
    return [_money(one) for one in facts.amounts]


def _money(one: Money) -> _Read:
    return _Read(one.evidence.quote, meaning_of(f"{one.currency} {one.value:f}"), (one.evidence,))


def _warranties(facts: ContractFacts) -> list[_Read]:
    return [_Read(one.evidence.quote, meaning_of(one.evidence.quote), (one.evidence,)) for one in facts.warranties]


def _rates(kind: str) -> Callable[[ContractFacts], list[_Read]]:
    return lambda facts: [_rate(one) for one in facts.rates if one.kind == kind]


def _rate(one: Rate) -> _Read:
    return _Read(one.evidence.quote, rate_meaning(one.low, one.high, one.per), (one.evidence,))


def _penalties(facts: ContractFacts) -> list[_Read]:
    """The rates and the amounts of penalties."""
    amounts = (one for one in facts.amounts if re.search(r"违约金|滞纳金|罚款|liquidated|penalt|late fee", one.about))
    return [*_rates("penalty")(facts), *map(_money, amounts)]


def _shares(facts: ContractFacts) -> list[_Read]:
    """The shares of the stages of payment."""
    shares = ((one.share, one.evidence) for one in facts.payments if one.share is not None)
    return [_Read(f"{float(100 * share):g}%", rate_meaning(share, share, None), (proof,)) for share, proof in shares]


_SINGLE = ("title", "type", "number", "signing_date", "effective_date", "end_date", "term", "governing_law")
_COMPARED = {
    **{name: _Comparison(_single(name)) for name in _SINGLE},
    "dispute_forum": _Comparison(_single("dispute_forum"), "body"),
    "parties": _Comparison(_parties, "name"),
    "amounts": _Comparison(_amounts, "amount", all_of_it=False),
    "payments": _Comparison(_shares, "share", each=True),
    "warranty": _Comparison(_warranties, "period"),
    "penalty": _Comparison(_penalties, "rate", all_of_it=False),
    "tax": _Comparison(_rates("tax"), "rate", all_of_it=False),
}
"""The questions on which the rules read something that can be compared."""
