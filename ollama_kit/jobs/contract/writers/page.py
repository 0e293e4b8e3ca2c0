"""A report as one page for people: in Markdown, for whoever reads before signing, and in HTML that needs nothing else,
the facts beside the contract. Each answer has the words that prove it; in HTML a quote is a link into the text."""

from __future__ import annotations

from collections.abc import Sequence

from ollama_kit.documents.pages.escaping import escape_html
from ollama_kit.documents.pages.page_templates import StyleSheet, read_style, render_markdown
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.writers.glossary import term_of
from ollama_kit.jobs.contract.writers.source_pane import read_pane
from ollama_kit.jobs.contract.writers.view import view_of
from ollama_kit.templating import render_page

MARKDOWN = "jobs/contract/report.md.jinja"
HTML = "jobs/contract/report.html.jinja"
STYLE = "jobs/contract/report.css"


def write_markdown(report: ContractReport) -> str:
    """The report in the contract's language. What is unproven, contradicted or absent says so."""
    return render_markdown(MARKDOWN, {"view": view_of(report)})


def write_html(report: ContractReport) -> str:
    """The page of one contract. No script runs: a link leads to the quote, and the style sheet lights it up.

    Its Content-Security-Policy lets nothing run or load but its own style sheet; see `pages.style`."""
    from markupsafe import Markup

    view = view_of(report)
    pane = read_pane(report.document, view)
    style = StyleSheet(read_style(STYLE).text + _highlights(pane.numbers))
    values = {
        "view": view,
        "pane": pane,
        "note_terms": [term_of("note", note.kind, view.language) for note in pane.notes],
        "style": Markup(style.text),
        "policy": style.policy,
    }
    return render_page(HTML, values, escape_html)


def _highlights(numbers: Sequence[int]) -> str:
    """The rules that light up every piece of the quote that a link led to.

    Pieces of one paragraph are siblings of the number before the quote; `:has` finds those of other paragraphs and
    cells. They are two rules, for a browser that does not know `:has` drops the whole of a rule with it."""
    if not numbers:
        return ""
    lit = "{background:var(--hit);color:var(--hit-ink);box-shadow:0 0 0 .15em var(--hit)}\n"
    near = ",\n".join(f"#q{number}:target~.s{number}" for number in numbers)
    far = ",\n".join(f".text:has(#q{number}:target) .s{number}" for number in numbers)
    return f"{near}{lit}{far}{lit}"
