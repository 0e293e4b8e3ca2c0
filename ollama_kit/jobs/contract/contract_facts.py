"""All that the rules find in one contract."""

from __future__ import annotations

from dataclasses import dataclass

from ollama_kit.jobs.contract.facts.fact_values import Fact, Length, Money, Party, Payment, Provision, Rate
from ollama_kit.jobs.contract.passages import Evidence
from ollama_kit.jobs.contract.structure.back_matter import Attachment
from ollama_kit.jobs.contract.structure.definitions import Definition
from ollama_kit.jobs.contract.structure.outline import Outline
from ollama_kit.jobs.contract.structure.references import Reference


@dataclass(frozen=True, slots=True)
class Structure:
    """How the contract is built: see the modules of `structure`."""

    outline: Outline
    definitions: tuple[Definition, ...]
    attachments: tuple[Attachment, ...]
    references: tuple[Reference, ...]
    signatures: Evidence | None


@dataclass(frozen=True, slots=True)
class Risk:
    """Something that whoever signs should look at. `rule` is stable, for programs; `evidence` is empty only for what
    is missing or hidden, and has both sides of a contradiction. `message_zh` says the same as `message`."""

    rule: str
    kind: str
    message: str
    message_zh: str
    evidence: tuple[Evidence, ...] = ()

    def said(self, language: str) -> str:
        """The message in one of the contract's languages."""
        return self.message_zh if language == "zh" else self.message


@dataclass(frozen=True, slots=True)
class ContractFacts:
    """The facts of the document called `name`. Offsets are characters of the document's text as it was read."""

    name: str
    kind: str
    language: str
    title: Fact
    contract_type: Fact
    number: Fact
    parties: tuple[Party, ...]
    parties_searched: tuple[str, ...]
    signing_date: Fact
    effective_date: Fact
    end_date: Fact
    term: Fact
    amounts: tuple[Money, ...]
    rates: tuple[Rate, ...]
    warranties: tuple[Length, ...]
    governing_law: Fact
    dispute_forum: Fact
    structure: Structure
    warnings: tuple[str, ...] = ()
    risks: tuple[Risk, ...] = ()
    payments: tuple[Payment, ...] = ()
    provisions: tuple[Provision, ...] = ()

    @property
    def facts(self) -> dict[str, Fact]:
        """The facts that have one answer, by their names in the JSON."""
        return {
            "title": self.title,
            "type": self.contract_type,
            "number": self.number,
            "signing_date": self.signing_date,
            "effective_date": self.effective_date,
            "end_date": self.end_date,
            "term": self.term,
            "governing_law": self.governing_law,
            "dispute_forum": self.dispute_forum,
        }
