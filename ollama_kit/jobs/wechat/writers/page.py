"""Summaries as pages for people: one in Markdown, for reading with breakfast, or all in one HTML page that needs
nothing else: no script, no picture, no font, no address from outside."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ollama_kit.documents.pages.page_templates import read_style, render_markdown
from ollama_kit.jobs.wechat.summary import Summary
from ollama_kit.jobs.wechat.writers.view import view_of
from ollama_kit.jobs.wechat.writers.wording import wording
from ollama_kit.templating import render_page

MARKDOWN = "jobs/wechat/summary.md.jinja"
HTML = "jobs/wechat/summary.html.jinja"
STYLE = "jobs/wechat/summary.css"


def write_markdown(summary: Summary) -> str:
    """The summary in the chat's language: to-dos by person, topics, open questions, coverage, suspicious content."""
    return render_markdown(MARKDOWN, {"view": view_of(summary)})


def write_html(summaries: Sequence[Summary]) -> str:
    """One page with each summary beside the messages it rests on, in the order given.

    Its Content-Security-Policy lets nothing run or load but its own style sheet; see `pages.style`.
    """
    from markupsafe import Markup

    style = read_style(STYLE)
    values = {
        "views": [view_of(summary) for summary in summaries],
        "words": wording(summaries[0].language if summaries else "en", None).words,
        "style": Markup(style.text),
        "policy": style.policy,
    }
    return render_page(HTML, values, escape)
