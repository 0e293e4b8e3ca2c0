"""The facts of many contracts; one that cannot be read does not stop the others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ollama_kit.documents.reading import read_document
from ollama_kit.errors import DocumentError
from ollama_kit.jobs.contract.extraction import extract_facts
from ollama_kit.jobs.contract.report import ContractReport


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
