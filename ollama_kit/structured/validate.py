"""An answer checked against its schema: the problems, the likeliest cause first."""

from __future__ import annotations

import dataclasses
import itertools
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ollama_kit.structured.dialect import Json
from ollama_kit.structured.pointers import join
from ollama_kit.structured.schema import Schema

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

_MAX_COLLECTED = 200
_MAX_TEXT = 120


@dataclass(frozen=True)
class Problem:
    """What is wrong at one place of an answer: `path` is a JSON Pointer, empty for the answer as a whole.

    `keyword` is the rule of the schema that failed and `limit` its value; `got` is the value found, shortened.
    """

    path: str
    expected: str
    got: str
    keyword: str = ""
    limit: Json = None

    @property
    def message(self) -> str:
        """One line for a log or a person."""
        return f"{self.path or '(the whole answer)'}: expected {self.expected}, got {self.got}"


def validate(schema: Schema, value: Json, *, most: int = 5) -> tuple[Problem, ...]:
    """The problems of `value`, at most `most`, the most telling first; empty where it is valid. Never raises.

    Where the schema came from a class, what the class itself refuses counts too.
    """
    from referencing.exceptions import Unresolvable

    try:
        errors = list(itertools.islice(schema.validator.iter_errors(value), _MAX_COLLECTED))
    except (RecursionError, Unresolvable, re.error, OverflowError) as error:
        return (Problem("", "an answer that can be checked", shorten(value), "", str(error)[:_MAX_TEXT]),)
    if errors:
        return _ranked(errors, most)
    return _refused_by_class(schema, value)[:most]


def _ranked(errors: Iterable[ValidationError], most: int) -> tuple[Problem, ...]:
    from jsonschema.exceptions import best_match, relevance

    problems: dict[tuple[str, str, str], Problem] = {}
    for error in sorted(errors, key=relevance, reverse=True):
        # Inside an anyOf the failure that a reader can act on is that of the branch that nearly fits.
        problem = _problem(best_match([error]) or error)
        problems.setdefault((problem.path, problem.keyword, problem.expected), problem)
    return tuple(itertools.islice(problems.values(), most))


def _problem(error: ValidationError) -> Problem:
    keyword, limit = str(error.validator or "false"), error.validator_value
    expected, got = _EXPECTED.get(keyword, "{limit}"), shorten(error.instance)
    if keyword == "required" and isinstance(error.instance, dict) and isinstance(limit, list):
        limit = [name for name in limit if name not in error.instance]
        got = "an object without " + ", ".join(map(shorten, limit)) if limit else got
    elif keyword in ("additionalProperties", "unevaluatedProperties") and isinstance(error.instance, dict):
        known = error.schema.get("properties", {}) if isinstance(error.schema, dict) else {}
        limit = list(known)
        got = "also " + ", ".join(shorten(name) for name in list(error.instance)[:20] if name not in known)
    elif keyword not in _EXPECTED:
        expected, limit = "what `{keyword}` asks for: {limit}", error.message
    text = expected.format(keyword=keyword, limit=shorten(limit))
    return Problem(join(error.absolute_path), text, got, keyword, limit)


_EXPECTED = {
    "type": "the type {limit}",
    "enum": "one of {limit}",
    "const": "exactly {limit}",
    "required": "the missing keys {limit}",
    "additionalProperties": "no keys besides {limit}",
    "unevaluatedProperties": "no keys besides {limit}",
    "minimum": "at least {limit}",
    "maximum": "at most {limit}",
    "exclusiveMinimum": "more than {limit}",
    "exclusiveMaximum": "less than {limit}",
    "multipleOf": "a multiple of {limit}",
    "minLength": "at least {limit} characters",
    "maxLength": "at most {limit} characters",
    "minItems": "at least {limit} items",
    "maxItems": "at most {limit} items",
    "uniqueItems": "items that all differ",
    "pattern": "text that matches {limit}",
    "format": "the format {limit}",
    "anyOf": "one of the forms the schema allows",
    "oneOf": "exactly one of the forms the schema allows",
    "not": "anything but what the schema excludes",
    "false": "nothing here",
}


def _refused_by_class(schema: Schema, value: Json) -> tuple[Problem, ...]:
    try:
        schema.to_python(value)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        listed = getattr(error, "errors", None)
        if not callable(listed):
            return (Problem("", str(error)[:_MAX_TEXT], shorten(value), "class", str(error)[:_MAX_TEXT]),)
        unwrapped = dataclasses.is_dataclass(schema.target)
        return tuple(_refusal(one, value, unwrapped=unwrapped) for one in listed())
    return ()


def _refusal(error: dict[str, Any], value: Json, *, unwrapped: bool) -> Problem:
    """One of pydantic's errors: a place, a message, the input. `unwrapped`: the words of a `__post_init__` alone,
    without what pydantic puts before them."""
    said = error["msg"]
    if unwrapped and error["type"] == "value_error":
        said = str(error["ctx"]["error"])
    return Problem(join(_leading_into(value, error["loc"])), said, shorten(error.get("input")), "class", said)


def _leading_into(value: Json, place: Iterable[str | int]) -> Iterator[str | int]:
    """The parts of one of pydantic's places that are keys and indexes: it names branches of a union among them.

    >>> list(_leading_into({"a": [1]}, ("a", "list[int]", 0)))
    ['a', 0]
    """
    for part in place:
        inside = isinstance(value, dict) and part in value
        if inside or (isinstance(value, list) and isinstance(part, int) and part < len(value)):
            yield part
            value = value[part]


def shorten(value: Any, most: int = _MAX_TEXT) -> str:
    """A value as JSON on one line, cut in the middle where it is longer than `most` characters."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=str)
    except (ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    if len(text) <= most:
        return text
    half = (most - 3) // 2
    return f"{text[:half]} … {text[-half:]}"
