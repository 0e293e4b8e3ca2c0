"""A report as people and programs read it: JSON, Markdown, HTML, and a sheet or table of many.

Each `write_…` is pure: the same report gives the same text, byte for byte. Writers for people show one view (`view`);
what comes from the contract or the model is escaped in each of them, and what is unproven says so in all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.jobs.contract.writers.files import FORMATS as FORMATS, write_files as write_files
    from ollama_kit.jobs.contract.writers.page import write_html as write_html, write_markdown as write_markdown
    from ollama_kit.jobs.contract.writers.report_json import (
        facts_as_dict as facts_as_dict,
        report_as_dict as report_as_dict,
        write_json as write_json,
    )
    from ollama_kit.jobs.contract.writers.table import write_csv as write_csv
    from ollama_kit.jobs.contract.writers.workbook import write_xlsx as write_xlsx
else:
    __getattr__, __dir__ = exports(__name__)
