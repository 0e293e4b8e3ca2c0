"""What can not both be right: figures and capitals, two prices of one thing, an end before the start."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk
from ollama_kit.jobs.contract.facts.moments import is_iso
from ollama_kit.jobs.contract.facts.values import Fact, Length, Money
from ollama_kit.jobs.contract.passages import ContractText, Evidence

_ONE_OF_ITS_KIND = frozenset(
    "总价 总价款 总额 总金额 合同总价 合同总价款 合同总额 合同总金额 价税合计 月租金 年租金 押金 违约金 "
    "liquidated|damages purchase|price "
    "monthly|rent deposit total|price total|amount".replace("|", "\u00a0").split(" ")
)
"""What a contract has one of, so that two amounts contradict each other; there may be many fees."""


def find_contradictions(_: ContractText, facts: ContractFacts) -> Iterator[Risk]:
    """Every contradiction, with the words of both sides."""
    yield from chain(
        _figures_and_words(facts),
        _two_prices(facts.amounts),
        _two_warranties(facts.warranties),
        _two_answers(facts),
        _order_of_dates(facts),
        _parties(facts),
        _references(facts),
    )


def _figures_and_words(facts: ContractFacts) -> Iterator[Risk]:
    for amount in facts.amounts:
        if amount.conflict:
            said = f"the figures say {amount.figures}, the words {amount.words}"
            yield Risk("figures_and_words", "contradictory", f"{said} {amount.currency}", (amount.evidence,))
    for rate in facts.rates:
        if rate.conflict:
            yield Risk("figures_and_words", "contradictory", "a rate differs in figures and words", (rate.evidence,))


def _two_prices(amounts: Iterable[Money]) -> Iterator[Risk]:
    by_name: dict[str, list[Money]] = {}
    for amount in amounts:
        if amount.about.replace(" ", "\u00a0") in _ONE_OF_ITS_KIND:
            by_name.setdefault(_SAME.get(amount.about, amount.about), []).append(amount)
    for name, found in by_name.items():
        different = {(one.currency, one.value): one for one in reversed(found)}
        if len(different) > 1:
            said = ", ".join(f"{currency} {value:,}" for currency, value in reversed(different))
            proof = tuple(one.evidence for one in reversed(different.values()))
            yield Risk("two_amounts", "contradictory", f"{name} is given as {said}", proof)


_SAME = {"liquidated damages": "违约金"}
"""What the two languages of one contract call the same."""


def _two_warranties(warranties: Iterable[Length]) -> Iterator[Risk]:
    months = {one.count * {"month": 1, "quarter": 3, "year": 12}[one.unit]: one for one in warranties}
    if len(months) > 1:
        said = " and ".join(f"{months_long} months" for months_long in months)
        proof = tuple(one.evidence for one in months.values())
        yield Risk("two_warranties", "contradictory", f"the warranty runs {said}", proof)


def _two_answers(facts: ContractFacts) -> Iterator[Risk]:
    for name, found in facts.facts.items():
        if found.state == "conflict":
            called = name.replace("_", " ")
            said = "; ".join(value.value for value in found.values)
            yield Risk(f"two_{name}s", "contradictory", f"more than one {called}: {said}", _proof(found))


def _order_of_dates(facts: ContractFacts) -> Iterator[Risk]:
    start, end = facts.effective_date.first, facts.end_date.first
    if is_iso(start) and is_iso(end) and end < start[: len(end)]:
        proof = (*_proof(facts.effective_date)[:1], *_proof(facts.end_date)[:1])
        yield Risk("end_before_start", "contradictory", f"it ends on {end}, before it begins on {start}", proof)


def _parties(facts: ContractFacts) -> Iterator[Risk]:
    for party in facts.parties:
        if len(party.names) > 1:
            said = " / ".join(name.value for name in party.names)
            proof = tuple(name.evidence for name in party.names)
            yield Risk("two_names", "contradictory", f"one party has different names: {said}", proof)
        if party.registration_valid is False and party.registration:
            said = f"the check character of the credit code of {party.name} is wrong"
            yield Risk("wrong_code", "contradictory", said, (party.registration.evidence,))


def _references(facts: ContractFacts) -> Iterator[Risk]:
    if not facts.structure.outline.clauses:
        return
    seen = set()
    for reference in facts.structure.references:
        quote = "".join(reference.evidence.quote.split()).lower()
        if not reference.resolved and quote not in seen:
            seen.add(quote)
            said = f"{reference.evidence.quote} is referred to, and there is none"
            yield Risk("dangling_reference", "contradictory", said, (reference.evidence,))


def _proof(found: Fact) -> tuple[Evidence, ...]:
    return tuple(value.evidence for value in found.values)
