"""A real Ollama 0.9.3 takes every derived grammar, and what it writes under one is valid by it."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable
from typing import Any
from urllib.error import HTTPError

import pytest

from ollama_kit.errors import SchemaError
from ollama_kit.structured.schema import Schema, load_schema
from ollama_kit.structured.validation import validate
from tests.realserver.process import RealServer
from tests.structured.conftest import Group
from tests.structured.test_suite_oracle import loaded

pytestmark = pytest.mark.real

HOSTILE: dict[str, Any] = {
    "a group that captures nothing kills 0.9.3": {"type": "string", "pattern": "^(?:a|b)[0-9]$"},
    "a look-ahead kills 0.9.3": {"type": "string", "pattern": "^(?=a)ab$"},
    "a class for digits is refused": {"type": "string", "pattern": r"^1[3-9]\d{9}$"},
    "Chinese in a pattern": {"type": "string", "pattern": r"^(合同|协议)-\d{4}(-[A-Z]+)?$"},
    "anything but a quote": {"type": "string", "pattern": '^[^"]{1,5}$'},
    "bounds crossed stop the runner": {"anyOf": [{"type": "integer", "minimum": 5, "maximum": 3}, {"type": "null"}]},
    "bounds beyond 32 bits": {"type": "integer", "minimum": 10**17, "maximum": 10**18},
    "bounds around zero": {"type": "integer", "minimum": -15, "maximum": 7},
    "a lower bound alone": {"type": "integer", "exclusiveMinimum": 41},
    "an upper bound alone": {"type": "integer", "maximum": -41},
    "a literal beyond a double": {"enum": [10**400, 1]},
    "a root that is a reference": {
        "$ref": "#/$defs/Node",
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {"name": {"type": "string"},
                    "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
                "required": ["name", "next"],
            }
        },
    },
    "a reference to the root": {"type": "object", "properties": {"child": {"$ref": "#"}}, "required": ["child"]},
    "left recursion": {"anyOf": [{"$ref": "#/$defs/a"}],
        "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "null"}]}}},
    "a definition named like a rule of the server": {
        "type": "object",
        "properties": {"string": {"$ref": "#/$defs/string"}, "value": {"$ref": "#/$defs/space"}},
        "required": ["string", "value"],
        "$defs": {"string": {"type": "integer"}, "space": {"type": "boolean"}},
    },
    "a property named $ref": {"type": "object", "properties": {"$ref": {"type": "string"}}, "required": ["$ref"]},
    "a literal that looks like a reference": {"const": {"$ref": 1}},
    "Chinese names beside further keys": {
        "type": "object", "properties": {"客户": {"type": "string"}}, "required": ["客户"],
        "additionalProperties": True,
    },
    "further keys": {"type": "object", "properties": {"ab": {"const": 1}, "a": {"const": 2}},
        "additionalProperties": {"type": "null"}},
    "no keys at all": {"type": "object", "additionalProperties": False},
    "no items at all": {"type": "array", "items": False},
    "a tuple": {"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "null"}], "minItems": 2, "items": False},
    "a long string": {"type": "string", "minLength": 1000, "maxLength": 4000},
    "many optional keys": {"type": "object", "properties": {f"键{index}": {"type": "null"} for index in range(80)}},
    "500 literals each": {"type": "object", "properties": {f"p{index}": {"enum": [1, 2]} for index in range(500)}},
    "quotes and backslashes in names": {"type": "object",
        "properties": {'a"\\]\n': {"const": 'x"\\\n\t'}}, "required": ['a"\\]\n']},
    "types as a list": {"type": ["string", "null"], "minLength": 2, "maxLength": 3},
}  # fmt: skip


def generate(url: str, model: str, form: Any, predict: int) -> dict[str, Any]:
    """The server's reply in full; fails with its words where it refuses."""
    body = {
        "model": model, "prompt": "hi", "raw": True, "stream": False, "format": form,
        "options": {"num_predict": predict, "num_ctx": 512, "seed": 7, "temperature": 1.5},
    }  # fmt: skip
    request = urllib.request.Request(
        f"{url}/api/generate", json.dumps(body, ensure_ascii=False).encode(), {"Content-Type": "application/json"}
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=300) as reply:
            answer: dict[str, Any] = json.load(reply)
    except HTTPError as error:
        return {"refused": f"{error.code} {error.read().decode(errors='replace')[:300]}"}
    return answer


def test_every_derived_grammar_is_accepted(real_server: RealServer, tiny_smollm: str, suite: tuple[Group, ...]) -> None:
    """Each distinct grammar that the official suite yields starts a generation; none is refused, none is a crash."""
    grammars: dict[str, Any] = {}
    for group in suite:
        schema = None if "optional/" in group.name else loaded(group)
        if schema is not None:
            grammars.setdefault(json.dumps(schema.grammar, ensure_ascii=False), schema.grammar)
    refused = {
        text: answer["refused"]
        for text, grammar in grammars.items()
        if "refused" in (answer := generate(real_server.url, tiny_smollm, grammar, 1))
    }
    assert refused == {}
    assert len(grammars) > 80


def test_schemas_of_the_real_world_are_accepted_or_fall_back(
    real_server: RealServer, tiny_smollm: str, real_world_schemas: dict[str, Any]
) -> None:
    """Those of well-known configuration files: a grammar that the server takes, or plain JSON mode and the reason;
    one that refers to another file is refused before any request."""
    outcomes: dict[str, str] = {}
    for name, document in real_world_schemas.items():
        try:
            schema = load_schema(document)
        except SchemaError:
            outcomes[name] = "refused here"
            continue
        answer = generate(real_server.url, tiny_smollm, schema.grammar, 1)
        assert "refused" not in answer, name
        assert schema.lost or schema.grammar != "json", name
        outcomes[name] = "json" if schema.grammar == "json" else "grammar"
    assert list(outcomes.values()).count("grammar") >= 8
    assert list(outcomes.values()).count("refused here") <= 1
    assert len(outcomes) > 20


@pytest.mark.parametrize("name", HOSTILE)
def test_schemas_that_break_the_server_are_defused(name: str, real_server: RealServer, tiny_smollm: str) -> None:
    """What is written to its end under the derived grammar is valid by it, and by the schema where nothing is lost."""
    schema = load_schema(HOSTILE[name])
    answer = generate(real_server.url, tiny_smollm, schema.grammar, 48)
    assert "refused" not in answer
    if answer["done_reason"] == "stop":
        value = json.loads(answer["response"])
        if schema.grammar != "json":
            assert validate(load_schema(schema.grammar), value) == ()
        if not schema.lost:
            assert validate(schema, value) == ()


def _optional(count: int) -> dict[str, Any]:
    return {"type": "object", "properties": {f"p{index}": {"enum": [1, 2]} for index in range(count)}}


def _required(count: int) -> dict[str, Any]:
    names = [f"第{index}条" for index in range(count)]
    return {
        "type": "object",
        "properties": {name: {"type": "string", "maxLength": 9} for name in names},
        "required": names,
    }


def _nested(count: int) -> dict[str, Any]:
    inner: dict[str, Any] = {"type": "null"}
    for index in range(count):
        inner = {"type": "object", "properties": {f"level{index}": inner, "other": {"type": ["string", "null"]}}}
    return {"type": "array", "items": inner}


def _patterns(count: int) -> dict[str, Any]:
    return {"anyOf": [{"type": "string", "pattern": f"^(a{{2,{index + 3}}}|[b-d]{{4}})-x$"} for index in range(count)]}


@pytest.mark.parametrize("shape", [_optional, _required, _nested, _patterns])
def test_the_largest_schema_said_to_fit_is_accepted(
    shape: Callable[[int], dict[str, Any]], real_server: RealServer, tiny_smollm: str
) -> None:
    """The bound of the grammar's length is one: at its edge the server's buffer still holds the whole grammar."""
    count = 1
    while count < 400 and _is_whole(load_schema(shape(count + 1), max_items=8)):
        count += 1
    assert count > 5
    assert "refused" not in generate(real_server.url, tiny_smollm, load_schema(shape(count), max_items=8).grammar, 1)


def _is_whole(schema: Schema) -> bool:
    return schema.grammar != "json" and not any("deeper than" in loss.why for loss in schema.lost)
