"""The form of an answer: for each question a list of values, each with the words of the contract that prove it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ollama_kit.jobs.contract.questions.keywords import OURS
from ollama_kit.jobs.contract.questions.questionnaire import Question
from ollama_kit.jobs.contract.questions.resolution import changed_within

MOST_QUOTES = 3
LONGEST_QUOTE = 400
LONGEST_SAID = 240
"""Characters of a statement when it is asked about again."""


def form_of(questions: Sequence[Question], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of the answers to `questions`: {name: [{"quotes": […], "value": …}]}.

    A question that can have one answer takes a list as well, so that two clauses that contradict each other can both
    be given. Quotes stand first: a model that has copied the words answers from them."""
    quotes = {
        "type": "array",
        "minItems": 1,
        "maxItems": MOST_QUOTES,
        "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_QUOTE},
    }
    properties = {}
    for question in questions:
        value = _plain(question.schema)
        item = {
            "type": "object",
            "properties": {"quotes": quotes, "value": value},
            "required": ["quotes", "value"],
            "additionalProperties": False,
        }
        properties[question.name] = {"type": "array", "maxItems": question.most, "items": item}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        **_plain(definitions),
    }


def passage_form(count: int) -> dict[str, Any]:
    """The schema of the quotes for `count` statements that are asked about again, by their numbers from 1."""
    item = {
        "type": "object",
        "properties": {
            "claim": {"enum": list(range(1, count + 1))},
            "quote": {"type": "string", "maxLength": LONGEST_QUOTE},
        },
        "required": ["claim", "quote"],
        "additionalProperties": False,
    }
    quotes = {"type": "array", "maxItems": count, "items": item}
    return {"type": "object", "properties": {"quotes": quotes}, "required": ["quotes"], "additionalProperties": False}


def said(question: Question, value: Any) -> str:
    """A value as a statement on one line."""
    text = "; ".join(_leaves(value))
    return " ".join(f"{question.label}: {text}".split())[:LONGEST_SAID]


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from _leaves(inner)
    elif value not in (None, ""):
        yield str(value)


def _plain(schema: Any) -> Any:
    """A schema without the keywords that are ours."""
    if not isinstance(schema, Mapping):
        return schema
    kept = {name: value for name, value in schema.items() if name not in OURS}
    return changed_within(kept, lambda _, inner: _plain(inner))
