"""Checking an answer ends, whatever the schema: alternatives that multiply, patterns that run for years."""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest

from ollama_kit.errors import SchemaError
from ollama_kit.structured.dialect import MOST_STEPS, TooMuchWork, bounded_work, found
from ollama_kit.structured.schema import load_schema
from ollama_kit.structured.validation import validate


def doubling(depth: int) -> dict[str, Any]:
    """Each definition tries the next one twice."""
    names = [f"d{at}" for at in range(depth + 1)]
    defined: dict[str, Any] = {name: {"anyOf": [{"$ref": f"#/$defs/{below}"}] * 2} for name, below in pairwise(names)}
    return {"$defs": {**defined, names[-1]: {"type": "integer"}}, "$ref": "#/$defs/d0"}


@pytest.mark.parametrize("depth", [20, 60])
def test_alternatives_that_multiply_end(depth: int) -> None:
    """1.4 KB of schema would take a million steps, or more than there are atoms; the error names the keyword."""
    with pytest.raises(SchemaError, match=rf"more than {MOST_STEPS:,} steps"):
        validate(load_schema(doubling(depth)), "x")


def test_what_fits_is_checked() -> None:
    assert validate(load_schema(doubling(6)), 3) == ()
    assert validate(load_schema(doubling(6)), "x")


def test_a_large_answer_is_well_within_the_bound() -> None:
    """A megabyte of plain rows."""
    row = {"type": "object", "required": ["a"], "properties": {key: {"type": "string"} for key in "abc"}}
    schema = load_schema({"type": "array", "items": row})
    assert validate(schema, [{"a": "x" * 30, "b": "y" * 30, "c": "z" * 30}] * 10_000) == ()


@pytest.mark.parametrize("pattern", ["^(a|aa)+$", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y"])
def test_a_pattern_that_would_run_for_years_ends(pattern: str) -> None:
    """It is found to match, not to match, or to take too long; it never runs on."""
    for text in ("a" * 40 + "!", "x" * 40):
        with bounded_work(), suppress(TooMuchWork):
            assert found(pattern, text) in (True, False)


@pytest.mark.parametrize(
    ("pattern", "text", "matches"), [("[0-9]{3}", "a123", True), ("^合同$", "合同", True), ("b", "a", False)]
)
def test_plain_patterns_are_what_they_were(pattern: str, text: str, matches: bool) -> None:
    schema = load_schema({"type": "string", "pattern": pattern})
    assert (validate(schema, text) == ()) is matches


def test_keys_are_matched_with_the_same_bound() -> None:
    schema = load_schema({"type": "object", "patternProperties": {"^x-": {"type": "integer"}}})
    assert validate(schema, {"x-a": 1, "b": "c"}) == ()
    assert validate(schema, {"x-a": "1"})
