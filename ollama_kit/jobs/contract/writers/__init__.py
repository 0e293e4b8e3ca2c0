"""The facts of a contract as people and programs read them: JSON and Markdown.

Each `write_…` is pure: the same facts give the same text, byte for byte.
"""

from __future__ import annotations

from ollama_kit.jobs.contract.writers.data import facts_as_dict, write_json
from ollama_kit.jobs.contract.writers.files import FORMATS, write_files
from ollama_kit.jobs.contract.writers.markdown import write_markdown

__all__ = ["FORMATS", "facts_as_dict", "write_files", "write_json", "write_markdown"]
