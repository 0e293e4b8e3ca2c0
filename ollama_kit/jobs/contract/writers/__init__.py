"""A report as people and programs read it: JSON, Markdown, HTML, and a sheet or table of many.

Each `write_…` is pure: the same report gives the same text, byte for byte. Writers for people show one view (`view`);
what comes from the contract or the model is escaped in each of them, and what is unproven says so in all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.jobs.contract.writers.data import facts_as_dict
    from ollama_kit.jobs.contract.writers.files import FORMATS, write_files
    from ollama_kit.jobs.contract.writers.markdown import write_markdown
    from ollama_kit.jobs.contract.writers.page import write_html
    from ollama_kit.jobs.contract.writers.record import report_as_dict, write_json
    from ollama_kit.jobs.contract.writers.table import write_csv
    from ollama_kit.jobs.contract.writers.workbook import write_xlsx

_HOMES = {
    "FORMATS": "files",
    "facts_as_dict": "data",
    "report_as_dict": "record",
    "write_csv": "table",
    "write_files": "files",
    "write_html": "page",
    "write_json": "record",
    "write_markdown": "markdown",
    "write_xlsx": "workbook",
}

__all__ = [
    "FORMATS",
    "facts_as_dict",
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
