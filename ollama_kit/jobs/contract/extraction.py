"""Reads the facts of a contract by rules alone: no model, nothing drawn, the same text gives the same facts."""

from __future__ import annotations

from dataclasses import replace

from ollama_kit.documents.document import ReadDocument
from ollama_kit.jobs.contract.contract_facts import ContractFacts, Structure
from ollama_kit.jobs.contract.facts.disputes import read_dispute_forum, read_governing_law
from ollama_kit.jobs.contract.facts.identity import read_number, read_title, read_type
from ollama_kit.jobs.contract.facts.moments import read_dates
from ollama_kit.jobs.contract.facts.money import read_amounts, read_rates, read_warranties
from ollama_kit.jobs.contract.facts.parties import SEARCHED, read_parties
from ollama_kit.jobs.contract.facts.payments import read_payments
from ollama_kit.jobs.contract.facts.provisions.reading import read_provisions
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.risks import find_risks
from ollama_kit.jobs.contract.structure.definitions import read_definitions
from ollama_kit.jobs.contract.structure.outline import read_outline
from ollama_kit.jobs.contract.structure.parts import Parts, read_parts
from ollama_kit.jobs.contract.structure.references import read_references


def extract_facts(document: ReadDocument) -> ContractFacts:
    """The facts of a contract in Chinese, English or both, each with the words that prove it.

    What is not there is `absent` with what was searched; answers that contradict each other are all kept. The work
    grows with the text and no faster."""
    return facts_of(ContractText.of(document))


def facts_of(text: ContractText) -> ContractFacts:
    """The same of a text that was made plain already."""
    document = text.document
    parts = read_parts(text)
    structure = read_structure(text, parts)
    dates = read_dates(text, parts)
    title = read_title(text)
    payments = read_payments(text, structure.outline)
    facts = ContractFacts(
        name=document.name,
        kind=document.kind,
        language=language_of(text.plain),
        title=title,
        contract_type=read_type(title),
        number=read_number(text),
        parties=read_parties(text, parts),
        parties_searched=SEARCHED,
        signing_date=dates.signing,
        effective_date=dates.effective,
        end_date=dates.end,
        term=dates.term,
        amounts=read_amounts(text, structure.outline),
        rates=read_rates(text, structure.outline, payments),
        warranties=read_warranties(text, structure.outline),
        governing_law=read_governing_law(text),
        dispute_forum=read_dispute_forum(text),
        structure=structure,
        warnings=document.warnings,
        payments=payments,
        provisions=read_provisions(text, structure.outline),
    )
    return replace(facts, risks=find_risks(text, facts))


def read_structure(text: ContractText, parts: Parts) -> Structure:
    """Clauses, definitions, attachments, references and the signature block."""
    outline = read_outline(text, parts.body)
    return Structure(
        outline,
        read_definitions(text),
        parts.attachments,
        read_references(text, outline, parts.attachments),
        text.evidence(*parts.signatures) if parts.signatures else None,
    )


def language_of(plain: str) -> str:
    """zh where one letter in five is Chinese, else en."""
    sample = plain[:20_000]
    chinese = sum("\u4e00" <= character <= "\u9fff" for character in sample)
    return "zh" if chinese * 5 > sum(map(str.isalpha, sample)) else "en"
