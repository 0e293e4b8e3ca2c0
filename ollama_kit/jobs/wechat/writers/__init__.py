"""A summary as people and programs read it: JSON, Markdown, HTML, iCalendar, CSV.

Each `write_…` is pure: the same summary gives the same text, byte for byte. What comes from the chat or the model is
escaped in each of them; only JSON keeps it as it was said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.jobs.wechat.writers.calendar import write_ics as write_ics
    from ollama_kit.jobs.wechat.writers.files import (
        FORMATS as FORMATS,
        file_stem as file_stem,
        write_summaries as write_summaries,
        write_summary as write_summary,
    )
    from ollama_kit.jobs.wechat.writers.page import write_html as write_html, write_markdown as write_markdown
    from ollama_kit.jobs.wechat.writers.summary_data import write_csv as write_csv, write_json as write_json
else:
    __getattr__, __dir__ = exports(__name__)
