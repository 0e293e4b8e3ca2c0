"""What stands in a contract, found by rules: facts with the words that prove them, structure, risks.

passages        the text as rules read it, and the way back into the document; Evidence
structure/      numbers, the outline, definitions, attachments and signatures, cross-references
facts/          one module a question: parties, dates, money, law and disputes, title
risks/          missing, contradictory and one-sided clauses
extraction      extract_facts: all of it, for a document that was read
batch           read_contracts: many files
report          ContractReport: a document, its facts, a model's answers and its summary
writers/        JSON (templates/schemas/contract_report.schema.json), Markdown, HTML, XLSX, CSV, files

Nothing is loaded before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.jobs.contract.batch import read_contracts
    from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk
    from ollama_kit.jobs.contract.extraction import extract_facts
    from ollama_kit.jobs.contract.passages import Evidence
    from ollama_kit.jobs.contract.report import ContractReport
    from ollama_kit.jobs.contract.writers import (
        facts_as_dict,
        report_as_dict,
        write_csv,
        write_files,
        write_html,
        write_json,
        write_markdown,
        write_xlsx,
    )

_HOMES = {
    "ContractFacts": "contract_facts",
    "ContractReport": "report",
    "Evidence": "passages",
    "Risk": "contract_facts",
    "extract_facts": "extraction",
    "facts_as_dict": "writers",
    "read_contracts": "batch",
    "report_as_dict": "writers",
    "write_csv": "writers",
    "write_files": "writers",
    "write_html": "writers",
    "write_json": "writers",
    "write_markdown": "writers",
    "write_xlsx": "writers",
}

__all__ = [
    "ContractFacts",
    "ContractReport",
    "Evidence",
    "Risk",
    "extract_facts",
    "facts_as_dict",
    "read_contracts",
    "report_as_dict",
    "write_csv",
    "write_files",
    "write_html",
    "write_json",
    "write_markdown",
    "write_xlsx",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
