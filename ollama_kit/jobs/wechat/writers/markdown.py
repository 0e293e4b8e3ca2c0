"""A summary in Markdown, for reading with breakfast."""

from __future__ import annotations

from ollama_kit.documents.pages.page_templates import render_markdown
from ollama_kit.jobs.wechat.summary import Summary
from ollama_kit.jobs.wechat.writers.view import view_of

TEMPLATE = "jobs/wechat/summary.md.jinja"


def write_markdown(summary: Summary) -> str:
    """The summary in the chat's language: to-dos by person, topics, open questions, coverage, suspicious content."""
    return render_markdown(TEMPLATE, {"view": view_of(summary)})
