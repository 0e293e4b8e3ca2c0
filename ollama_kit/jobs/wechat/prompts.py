"""What a chunk is asked, and the form of the answer: templates that a project can override."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from ollama_kit import resources
from ollama_kit.errors import SpecError, SpecNotFound
from ollama_kit.guard.conversation import language_of
from ollama_kit.jobs.wechat.chunking import Chunk

PROMPT = "jobs/wechat/map.{language}.jinja"
SCHEMA = "schemas/wechat_chunk.schema.json"


def chunk_language(chunk: Chunk) -> str:
    """The language of a chunk, "zh" or "en", by what was said and not by names and marks."""
    return language_of(" ".join(message.text for message in chunk.messages))


def chunk_prompt(chunk: Chunk, language: str) -> str:
    """The question about a chunk, from the project's, the user's or the shipped template; SpecError where it fails."""
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import SandboxedEnvironment

    path = _found(PROMPT.format(language=language))
    environment = SandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    values = {"chat": chunk.group.name, "members": chunk.members, "first": chunk.messages[0].time}
    try:
        return environment.from_string(path.read_text(encoding="utf-8")).render(values).strip()
    except TemplateError as problem:
        line = getattr(problem, "lineno", None) or 1
        raise SpecError(f"can not be rendered: {problem}", path=path, line=line) from problem


BRIEF_ITEMS, BRIEF_CHARACTERS = 2, 48
"""What the smallest models can keep up: so many items of each kind, and texts of at most that length."""


def chunk_schema(chunk: Chunk, *, brief: bool = False) -> dict[str, Any]:
    """The schema of a chunk's answer: ids are those of its messages, and people are those who speak in it. What is
    not there can not be cited. `brief` is for models that would not come to an end."""
    schema: dict[str, Any] = json.loads(_schema_text(_found(SCHEMA)))
    definitions = schema["$defs"]
    definitions["message"] = {"enum": list(chunk.ids)}
    definitions["person"] = {"enum": [*chunk.members, ""]}
    if brief:
        _shorten(schema)
    return schema


def _shorten(schema: Any) -> None:
    """Lowers every bound of a schema to what a brief answer has."""
    if isinstance(schema, dict):
        if "maxItems" in schema:
            schema["maxItems"] = min(schema["maxItems"], BRIEF_ITEMS)
        if "maxLength" in schema:
            schema["maxLength"] = min(schema["maxLength"], BRIEF_CHARACTERS)
        schema = list(schema.values())
    for inner in schema if isinstance(schema, list) else ():
        _shorten(inner)


@cache
def _schema_text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _found(name: str) -> Path:
    path = resources.find("templates", name)
    if path is None:
        raise SpecNotFound(f"there is no template {name}")
    return path
