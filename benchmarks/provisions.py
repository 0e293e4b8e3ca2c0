"""What the rules find of payments and provisions, against lawyers' annotations (CUAD) and our own."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from ollama_kit.jobs.contract.contract_facts import ContractFacts
from ollama_kit.jobs.contract.passages import Evidence

Read = tuple[ContractFacts, dict[str, Any]]
"""The facts of a contract and its annotation."""


def _of(topic: str, *names: str) -> Callable[[ContractFacts], list[Evidence]]:
    """The sentences on a topic; those alone that have one of the particulars (name, or name=value)."""

    def found(facts: ContractFacts) -> list[Evidence]:
        return [
            one.evidence
            for one in facts.provisions
            if one.topic == topic
            and (not names or any(d.name in names or f"{d.name}={d.value}" in names for d in one.details))
        ]

    return found


_ANNOTATED: dict[str, Callable[[ContractFacts], list[Evidence]]] = {
    "Renewal Term": _of("renewal"),
    "Notice Period To Terminate Renewal": _of("renewal", "notice", "kind=automatic"),
    "Termination For Convenience": _of("termination", "kind=convenience"),
    "Cap On Liability": _of("liability", "cap", "damages", "kind=no_liability"),
    "Uncapped Liability": _of("liability", "exception"),
    "Liquidated Damages": _of("liability", "penalty", "rate", "amount"),
    "Ip Ownership Assignment": _of("intellectual_property", "owner", "kind=assignment", "kind=work_for_hire"),
    "Warranty Duration": lambda facts: [one.evidence for one in facts.warranties],
}
"""What lawyers annotated, and what of ours answers it."""


def provision_scores(read: Sequence[Read]) -> Iterator[str]:
    """Recall by contract and by clause; of the sentences given, how many stand in an annotated clause."""
    for label, ours in _ANNOTATED.items():
        contracts = found = clauses = met = given = right = 0
        for facts, gold in read:
            spans = [(one["start"], one["start"] + len(one["text"])) for one in gold.get("labels", {}).get(label, ())]
            items = ours(facts)
            hits = [any(one.start < end and start < one.end for one in items) for start, end in spans]
            contracts, found = contracts + bool(spans), found + any(hits)
            clauses, met = clauses + len(spans), met + sum(hits)
            given += len(items)
            right += sum(any(one.start < end and start < one.end for start, end in spans) for one in items)
        if contracts:
            recall = f"{found}/{contracts} contracts, {met}/{clauses} clauses"
            yield f"  {label}: {recall}; {right}/{given} given are annotated"


def own_scores(read: Sequence[Read]) -> Iterator[str]:
    """Recall on our own annotations: stages of payment with their share, and single values."""
    wanted = found = 0
    for facts, gold in read:
        for stage in gold.get("payment", ()):
            wanted += 1
            share = Fraction(stage["pct"], 100) if "pct" in stage else None
            found += any(
                one.share == share and _plain(stage["text"].split("支付")[0]) in _plain(one.evidence.quote)
                for one in facts.payments
            )
    if wanted:
        yield f"  stages of payment: {found}/{wanted}"
    for key, topic, name in (
        ("delivery", "delivery", "date"),
        ("liability_cap", "liability", "cap"),
        ("confidentiality_survival", "confidentiality", "period"),
    ):
        there = [(facts, gold[key]) for facts, gold in read if gold.get(key)]
        right = sum(any(_says(text, value) for value in _values(facts, topic, name)) for facts, text in there)
        if there:
            yield f"  {topic} {name}: {right}/{len(there)}"


def _values(facts: ContractFacts, topic: str, name: str) -> list[str]:
    return [d.value for one in facts.provisions if one.topic == topic for d in one.details if d.name == name]


def _says(annotated: str, value: str) -> bool:
    """Whether the annotation says the value: the same words, or the same count of the same unit."""
    return _plain(value) in _plain(annotated) or _plain(annotated) in _plain(value)


def _plain(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
