"""Questions as a JSON Schema gives them: each property is one, a list may have several answers, the rest have one.

The keywords of ours that say more of a question are those of `keywords`; all are optional.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ollama_kit.errors import SchemaError
from ollama_kit.jobs.contract.questions.keywords import several
from ollama_kit.jobs.contract.questions.resolution import resolve, without_null
from ollama_kit.structured.schema import load_schema
from ollama_kit.templating import find_template

FACTS = "schemas/contract_questions.schema.json"
SUMMARY = "schemas/contract_summary.schema.json"
TOGETHER = 4
"""Questions asked at once where the schema says nothing of groups."""


@dataclass(frozen=True)
class Question:
    """One question. `schema` is that of a single answer, its references followed; `most` is how many answers are taken.

    Where both `topics` and `words` are empty, it is asked of every part of the contract."""

    name: str
    label: str
    ask: str
    group: str
    schema: Mapping[str, Any]
    several: bool
    most: int
    topics: tuple[str, ...] = ()
    words: tuple[str, ...] = ()

    @property
    def fields(self) -> Iterator[tuple[str, str]]:
        """Name and meaning of each part of an answer that has parts; of all its forms, where it may have several."""
        parts: dict[str, Any] = {}
        for form in (self.schema, *self.schema.get("anyOf", ()), *self.schema.get("oneOf", ())):
            for name, inner in (form.get("properties", {}) if isinstance(form, Mapping) else {}).items():
                parts.setdefault(name, inner)
        for name, inner in parts.items():
            yield name, str((inner if isinstance(inner, Mapping) else {}).get("x-ask") or name)


@dataclass(frozen=True)
class Questionnaire:
    """The questions of a schema in its order. `source` is the whole schema, `definitions` what those references lead to
    that the questions still hold: a tree's.

    `own` says that it is a user's."""

    questions: tuple[Question, ...]
    source: Mapping[str, Any]
    definitions: Mapping[str, Any]
    own: bool = False

    def groups(self) -> dict[str, tuple[Question, ...]]:
        """The questions that are asked together, by the name of their group."""
        found: dict[str, tuple[Question, ...]] = {}
        for question in self.questions:
            found[question.group] = (*found.get(question.group, ()), question)
        return found


def load_questionnaire(language: str, *, name: str = FACTS, path: Path | None = None) -> Questionnaire:
    """The questions of the shipped schema `name` (a project may have its own of that name), or of the user's at `path`.

    SchemaError, with the file and the place in it, for what cannot be read, is no JSON Schema, or none of an object
    with properties."""
    where = path or find_template(name)
    source = load_schema(where).document
    try:
        resolved = resolve(source, str(where), language) if isinstance(source, Mapping) else None
        root = resolved.root if resolved else None
        properties = root.get("properties") if isinstance(root, Mapping) else None
        asked = {
            one: {} if schema is True else schema for one, schema in (properties or {}).items() if schema is not False
        }
        if resolved is None or not asked or not _is_of_objects(root):
            raise SchemaError(
                f"{where}: a contract's questions are the properties of an object, and this schema has none",
                hint=(
                    'Write {"type": "object", "properties": {"deposit": {"type": "string", "description": "…"}}}.',
                    '请写成 {"type": "object", "properties": {"押金": {"type": "string", "description": "…"}}}。',
                ),
            )
        questions = tuple(_question(one, schema, at) for at, (one, schema) in enumerate(asked.items()))
    except RecursionError:
        raise SchemaError(f"{where}: nested too deep to be read") from None
    return Questionnaire(questions, source, resolved.definitions, own=path is not None)


def _is_of_objects(root: Any) -> bool:
    kinds = root.get("type", "object")
    return "object" in ([kinds] if isinstance(kinds, str) else kinds)


def _question(name: str, asked: Mapping[str, Any], at: int) -> Question:
    schema = without_null(asked)
    schema = schema if isinstance(schema, dict) else {}
    kind = schema.get("type", "array" if "items" in schema else "")
    # A list whose places have their own meaning is one answer.
    listed = kind == "array" and "prefixItems" not in schema
    items = schema.get("items") if listed else schema
    return Question(
        name=name,
        label=str(schema.get("x-label") or schema.get("title") or name),
        ask=str(schema.get("x-ask") or schema.get("description") or schema.get("title") or name),
        group=str(schema.get("x-group") or f"group {at // TOGETHER + 1}"),
        schema=items if isinstance(items, Mapping) else {},
        several=listed,
        most=min(int(schema.get("maxItems", 12)), 64) if listed else 3,
        topics=several(schema.get("x-topics")),
        words=several(schema.get("x-search")),
    )
