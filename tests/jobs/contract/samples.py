"""Contracts of the tests: texts in memory, and the annotated ones that this project wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ollama_kit.documents.document import ReadDocument
from ollama_kit.documents.draft import assemble
from ollama_kit.documents.plain_text import read_plain
from ollama_kit.documents.reading import read_document
from ollama_kit.jobs.contract.contract_facts import ContractFacts
from ollama_kit.jobs.contract.extraction import extract_facts
from ollama_kit.jobs.contract.passages import ContractText

FOLDER = Path(__file__).parents[2] / "data" / "contracts" / "zh_synthetic"
NAMES = ("bilingual_nda", "zh_lease_conflict", "zh_sale", "zh_tech_service_injection")


def document(text: str) -> ReadDocument:
    """A text as the reader of TXT gives it."""
    draft, pages = read_plain(text)
    return assemble(draft, "sample.txt", "txt", range(1, pages + 1))


def contract(text: str) -> ContractText:
    return ContractText.of(document(text))


def facts_of(text: str) -> ContractFacts:
    return extract_facts(document(text))


def annotated(name: str) -> tuple[ContractFacts, dict[str, Any], ReadDocument]:
    """The facts of one of NAMES, its annotation, and the document."""
    read = read_document(FOLDER / f"synthetic_{name}.txt")
    gold = json.loads((FOLDER / f"synthetic_{name}.gold.json").read_text(encoding="utf-8"))
    return extract_facts(read), gold, read


def rules_of(facts: ContractFacts) -> set[str]:
    return {risk.rule for risk in facts.risks}
