"""Questions as a JSON Schema gives them: each property is one, a list may have several answers, the rest have one.

Keywords of ours, all optional: `x-ask` (what is asked) and `x-label` (what it is called), each a text or one a
language; `x-group` (questions of one group are asked together); `x-topics` (names of `topics.TOPICS`) and `x-search`
(words) say where in a long contract to look; `x-verbatim` says that a text must stand in the contract as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ollama_kit.errors import SchemaError
from ollama_kit.jobs.contract.topics import TOPICS
from ollama_kit.jobs.prompts import find_template, template_text
from ollama_kit.structured.schema import load_schema

FACTS = "schemas/contract_questions.schema.json"
SUMMARY = "schemas/contract_summary.schema.json"
TOGETHER = 4
"""Questions asked at once where the schema says nothing of groups."""


@dataclass(frozen=True)
class Question:
    """One question. `schema` is that of a single answer, `most` how many answers are taken.

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
        """Name and meaning of each part of an answer that has parts."""
        for name, inner in (self.schema.get("properties") or {}).items():
            yield name, str((inner if isinstance(inner, Mapping) else {}).get("x-ask") or name)


@dataclass(frozen=True)
class Questionnaire:
    """The questions of a schema in its order. `source` is the whole schema, `definitions` what its `$ref`s lead to.

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

    SchemaError for what is no JSON Schema or none of an object with properties."""
    where = path or find_template(name)
    source = dict(load_schema(where).document) if path else json.loads(template_text(where))
    properties = source.get("properties") if isinstance(source, Mapping) else None
    if source.get("type", "object") != "object" or not properties:
        raise SchemaError(
            f"{where}: a contract's questions are the properties of an object, and this schema has none",
            hint=(
                'Write {"type": "object", "properties": {"deposit": {"type": "string", "description": "…"}}}.',
                '请写成 {"type": "object", "properties": {"押金": {"type": "string", "description": "…"}}}。',
            ),
        )
    spoken = _in_language(source, language)
    questions = tuple(
        _question(name, schema if isinstance(schema, Mapping) else {}, at, where)
        for at, (name, schema) in enumerate(spoken["properties"].items())
    )
    kept = {key: spoken[key] for key in ("$defs", "definitions") if key in spoken}
    return Questionnaire(questions, source, kept, own=path is not None)


def _question(name: str, schema: Mapping[str, Any], at: int, where: Path) -> Question:
    several = schema.get("type") == "array"
    items = schema.get("items") if several else schema
    topics = _topics(schema, name, where)
    return Question(
        name=name,
        label=str(schema.get("x-label") or schema.get("title") or name),
        ask=str(schema.get("x-ask") or schema.get("description") or schema.get("title") or name),
        group=str(schema.get("x-group") or f"group {at // TOGETHER + 1}"),
        schema=items if isinstance(items, Mapping) else {},
        several=several,
        most=min(int(schema.get("maxItems", 12)), 64) if several else 3,
        topics=topics,
        words=tuple(map(str, schema.get("x-search") or ())),
    )


def _topics(schema: Mapping[str, Any], name: str, where: Path) -> tuple[str, ...]:
    topics = tuple(schema.get("x-topics") or ())
    for topic in topics:
        if topic not in TOPICS:
            hint = f"There are {', '.join(TOPICS)}; x-search takes any words."
            raise SchemaError(f"{where}: {name}: there is no topic {topic!r}", hint=hint)
    return topics


def _in_language(schema: Any, language: str) -> Any:
    """The schema with each of our texts in one language."""
    if isinstance(schema, Mapping):
        said = {"x-ask", "x-label"} & schema.keys()
        spoken = {name: _in_language(inner, language) for name, inner in schema.items() if name not in said}
        for name in said:
            text = schema[name]
            spoken[name] = text.get(language) or next(iter(text.values()), "") if isinstance(text, Mapping) else text
        return spoken
    return [_in_language(inner, language) for inner in schema] if isinstance(schema, list) else schema
