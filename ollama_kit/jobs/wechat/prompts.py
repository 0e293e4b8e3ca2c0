"""What a chunk is asked, and the form of the answer: templates that a project can override."""

from __future__ import annotations

import copy
from typing import Any

from ollama_kit.errors import SchemaError
from ollama_kit.jobs.wechat.chunking import Chunk
from ollama_kit.structured.schema import load_schema
from ollama_kit.templating import find_template, render_prompt
from ollama_kit.text.language import language_of

PROMPT = "jobs/wechat/map.{language}.jinja"
SCHEMA = "schemas/wechat_chunk.schema.json"


def chunk_language(chunk: Chunk) -> str:
    """The language of a chunk, "zh" or "en", by what was said and not by names and marks."""
    return language_of(" ".join(message.text for message in chunk.messages))


def chunk_prompt(chunk: Chunk, language: str) -> str:
    """The question about a chunk, from the project's, the user's or the shipped template; SpecError where it fails."""
    values = {"chat": chunk.group.name, "members": chunk.members, "first": chunk.messages[0].time}
    return render_prompt(PROMPT.format(language=language), values)


BRIEF_ITEMS, BRIEF_CHARACTERS = 2, 48
"""What the smallest models can keep up: so many items of each kind, and texts of at most that length."""


def chunk_schema(chunk: Chunk, *, brief: bool = False) -> dict[str, Any]:
    """The schema of a chunk's answer: ids are those of its messages, and people are those who speak in it. What is
    not there cannot be cited. `brief` is for models that would not come to an end. SchemaError where the project's own
    schema is none."""
    where = find_template(SCHEMA)
    schema: Any = copy.deepcopy(load_schema(where).document)
    if not isinstance(schema, dict):
        raise SchemaError(f"{where}: a chunk's summary is an object, and this schema describes none")
    definitions = schema.setdefault("$defs", {})
    definitions["message"] = {"enum": list(chunk.ids)}
    definitions["person"] = {"enum": [*chunk.members, ""]}
    if brief:
        _shorten(schema)
    return schema


def _shorten(schema: Any) -> None:
    """Lowers every bound of a schema to what a brief answer has."""
    if isinstance(schema, dict):
        if isinstance(schema.get("maxItems"), int):
            schema["maxItems"] = min(schema["maxItems"], BRIEF_ITEMS)
        if isinstance(schema.get("maxLength"), int):
            schema["maxLength"] = min(schema["maxLength"], BRIEF_CHARACTERS)
        schema = list(schema.values())
    for inner in schema if isinstance(schema, list) else ():
        _shorten(inner)
