"""Reads the facts of a contract by rules alone: no model, nothing drawn, the same text gives the same facts. Of many
contracts, one that cannot be read does not stop the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ollama_kit.documents.document import ReadDocument
from ollama_kit.documents.reading import read_document
from ollama_kit.errors import DocumentError
from ollama_kit.jobs.contract.contract_facts import ContractFacts, Structure
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.facts.contract_dates import read_dates
from ollama_kit.jobs.contract.facts.disputes import read_dispute_forum, read_governing_law
from ollama_kit.jobs.contract.facts.identity import read_number, read_title, read_type
from ollama_kit.jobs.contract.facts.money import read_amounts, read_rates, read_warranties
from ollama_kit.jobs.contract.facts.parties import SEARCHED, read_parties
from ollama_kit.jobs.contract.facts.payments import read_payments
from ollama_kit.jobs.contract.facts.provisions.extractor import read_provisions
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.risks import find_risks
from ollama_kit.jobs.contract.structure.back_matter import Parts, read_parts
from ollama_kit.jobs.contract.structure.definitions import read_definitions
from ollama_kit.jobs.contract.structure.outline import read_outline
from ollama_kit.jobs.contract.structure.references import read_references


def extract_facts(document: ReadDocument) -> ContractFacts:
    """The facts of a contract in Chinese, English or both, each with the words that prove it.

    What is not there is `absent` with what was searched; answers that contradict each other are all kept. The work
    grows with the text and no faster."""
    return facts_of(ContractText.of(document))


def read_contracts(
    paths: Sequence[Path], *, password: str | None = None
) -> tuple[tuple[ContractReport, ...], tuple[DocumentError, ...]]:
    """A report with the facts of each file that can be read, in order, and the errors of those that cannot.

    `password` opens those of the PDFs that are encrypted."""
    found, refused = [], []
    for path in paths:
        try:
            document = read_document(path, password=password)
        except DocumentError as error:
            refused.append(error)
        else:
            found.append(ContractReport(document, extract_facts(document)))
    return tuple(found), tuple(refused)


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
