"""A report in Markdown, for whoever reads before signing: each answer with the words that prove it."""

from __future__ import annotations

from ollama_kit.documents.pages.page_templates import render_markdown
from ollama_kit.jobs.contract.report import ContractReport
from ollama_kit.jobs.contract.writers.view import view_of

TEMPLATE = "jobs/contract/report.md.jinja"


def write_markdown(report: ContractReport) -> str:
    """The report in the contract's language. What is unproven, contradicted or absent says so."""
    return render_markdown(TEMPLATE, {"view": view_of(report)})
