"""The official JSON-Schema-Test-Suite is the oracle of loading, checking and deriving."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from ollama_kit.errors import SchemaError
from ollama_kit.structured.schema import Schema, load_schema
from ollama_kit.structured.validation import validate
from tests.structured.conftest import Group

ENFORCED_FORMATS = ("date", "date-time", "time", "ipv4", "ipv6", "uuid")


def loaded(group: Group) -> Schema | None:
    """The group's schema with its dialect named; None where it refers to another document."""
    schema = group.schema
    if isinstance(schema, dict) and "$schema" not in schema and group.dialect == "draft7":
        schema = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    try:
        return load_schema(schema)
    except SchemaError as error:
        text = str(error)
        assert "cannot be followed" in text or "$schema names the dialect" in text, f"{group.name}: {text}"
        return None


def in_scope(group: Group) -> bool:
    file = group.name.split(":")[0].split("/", 1)[1]
    if file.startswith("optional/format/"):
        return file.removeprefix("optional/format/").removesuffix(".json") in ENFORCED_FORMATS
    # Formats are enforced here, which the suite calls optional and tests elsewhere.
    return not file.startswith("optional/") and file != "format.json"


def test_validation_agrees_with_the_official_suite(suite: tuple[Group, ...]) -> None:
    """Every instance of draft 7 and 2020-12 that needs no other document is judged as the suite says."""
    wrong: list[str] = []
    checked = refused = 0
    for group in filter(in_scope, suite):
        schema = loaded(group)
        if schema is None:
            refused += 1
            continue
        for case in group.tests:
            checked += 1
            if (not validate(schema, case["data"])) != case["valid"]:
                wrong.append(f"{group.name}: {case['description']}")
    assert wrong == []
    assert checked > 1500
    assert refused < 80


def test_the_grammar_refuses_nothing_the_schema_allows(suite: tuple[Group, ...]) -> None:
    """Where nothing was added, each valid instance of the suite is valid under the derived schema too."""
    refused: list[str] = []
    kinds: Counter[str] = Counter()
    for group in filter(in_scope, suite):
        schema = loaded(group)
        if schema is None:
            continue
        if schema.grammar == "json":
            kinds["json"] += 1
            assert any("plain JSON mode" in loss.why for loss in schema.lost), group.name
            continue
        narrowed = {addition.keyword for addition in schema.added} - {"maxItems"}
        kinds["narrowed" if narrowed else "relaxed"] += 1
        if narrowed:
            continue
        grammar = load_schema(schema.grammar)
        refused += [
            f"{group.name}: {case['description']}"
            for case in group.tests
            if case["valid"] and not validate(schema, case["data"]) and validate(grammar, case["data"])
        ]
    assert refused == []
    assert kinds["relaxed"] > 100


def test_a_grammar_that_lost_nothing_is_as_strict_as_the_schema(suite: tuple[Group, ...]) -> None:
    """What the derived schema lets through and the full one does not is accounted for in `lost`."""
    silent: list[str] = []
    compared = 0
    for group in filter(in_scope, suite):
        schema = loaded(group)
        if schema is None or schema.lost:
            continue
        compared += 1
        grammar = load_schema(schema.grammar)
        silent += [
            f"{group.name}: {case['description']}"
            for case in group.tests
            if not case["valid"] and not validate(grammar, case["data"])
        ]
    assert silent == []
    assert compared > 50


def test_derived_schemas_are_derived_from_themselves_unchanged(suite: tuple[Group, ...]) -> None:
    """Deriving twice changes nothing: the safe form is a fixed point, references apart."""
    for group in suite:
        schema = loaded(group) if in_scope(group) else None
        if schema is not None and schema.grammar != "json" and "$defs" not in schema.grammar:
            again = load_schema(schema.grammar)
            assert _text(again.grammar) == _text(schema.grammar), group.name
            assert not again.lost, group.name


def _text(grammar: Any) -> str:
    return json.dumps(grammar, ensure_ascii=False)


@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef"])
def test_a_remote_reference_is_refused_before_any_request(keyword: str) -> None:
    """The message names the place and the reference, and nothing is fetched."""
    with pytest.raises(SchemaError, match="nothing is fetched") as caught:
        load_schema({"properties": {"a": {keyword: "https://example.com/person.json"}}})
    assert f"/properties/a/{keyword}" in str(caught.value)
