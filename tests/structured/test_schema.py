"""Schemas from every source, what of them a grammar holds, and the words for what is wrong with an answer."""

from __future__ import annotations

import datetime
import enum
import json
import subprocess
import sys
import uuid
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Optional, Union

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.errors import SchemaError
from ollama_kit.structured.find import NotFound, find_json
from ollama_kit.structured.scalars import Unsafe, safe_pattern
from ollama_kit.structured.schema import Schema, load_schema
from ollama_kit.structured.validation import MAX_PART, failing_part, feedback, feedback_on_no_json, validate
from tests.intensity import examples
from tests.structured.test_find import VALUES


class Kind(enum.Enum):
    TASK = "任务"
    NOTE = "备注"


@dataclass
class Item:
    text: Annotated[str, "what was said"]
    kind: Kind = Kind.NOTE
    due: Optional[datetime.date] = None  # noqa: UP045  both spellings are read
    parts: list[Item] = field(default_factory=list)


@dataclass(frozen=True)
class Summary:
    title: str
    made: datetime.datetime
    items: tuple[Item, ...]
    score: float | None
    tags: set[str]
    place: tuple[int, str]
    level: Literal[1, 2, "high"]
    extra: dict[str, Union[int, list[str]]]  # noqa: UP007
    key: uuid.UUID = field(default=uuid.UUID(int=0), metadata={"description": "set by us"})

    def __post_init__(self) -> None:
        if not self.title:
            raise ValueError("a summary has a title")


SUMMARY: dict[str, Any] = {
    "title": "周报", "made": "2026-11-30T08:00:00.5Z", "score": 1, "tags": ["a"], "place": [1, "x"], "level": "high",
    "items": [{"text": "t", "kind": "任务", "due": "2026-12-01", "parts": [{"text": "u"}]}],
    "extra": {"n": 1, "l": ["a"]},
}  # fmt: skip


def test_a_dataclass_becomes_a_schema_and_answers_become_it() -> None:
    """Types, enums, nesting, recursion and dates go there and back."""
    schema = load_schema(Summary)
    assert validate(schema, SUMMARY) == ()
    made = schema.to_python(SUMMARY)
    assert made == Summary(
        "周报", datetime.datetime(2026, 11, 30, 8, 0, 0, 500_000, datetime.timezone.utc),
        (Item("t", Kind.TASK, datetime.date(2026, 12, 1), [Item("u")]),), 1.0, {"a"}, (1, "x"),
        "high", {"n": 1, "l": ["a"]},
    )  # fmt: skip
    assert schema.document["properties"]["key"]["description"] == "set by us"
    assert schema.document["$defs"]["Item"]["properties"]["text"] == {"type": "string", "description": "what was said"}
    assert list(schema.grammar["properties"]) == list(schema.document["properties"])
    assert load_schema(Summary) is schema
    assert load_schema(schema) is schema


def test_what_the_class_itself_refuses_is_a_problem() -> None:
    """`__post_init__` is heard after the schema, with its own words."""
    (problem,) = validate(load_schema(Summary), {**SUMMARY, "title": ""})
    assert "a summary has a title" in problem.message


@pytest.mark.parametrize("change", [{"due": "30.11.2026"}, {"kind": "?"}, {"text": None}, {"more": 1}])
def test_an_item_that_does_not_fit_is_named_by_its_pointer(change: dict[str, Any]) -> None:
    """The pointer leads into the answer."""
    problems = validate(load_schema(Summary), {**SUMMARY, "items": [{"text": "t", **change}]})
    assert problems[0].path.startswith("/items/0")


@pytest.mark.parametrize(
    ("hint", "given", "made"),
    [
        (int, 1.0, 1), (bool | int, 1.0, 1), (bool | int, True, True), (int | str, "1", "1"), (str | int, 1, 1),
        (datetime.date | str, "2026-12-01", datetime.date(2026, 12, 1)), (Literal["1", 1], 1, 1), (float, 1, 1.0),
        (datetime.date | int, 5, 5), (Any, "1", "1"),
    ],
)  # fmt: skip
def test_a_value_keeps_its_type_on_the_way_into_a_dataclass(hint: Any, given: Any, made: Any) -> None:
    """What is valid by the schema is not made into something else: no text becomes a number, no number a boolean."""
    schema = load_schema(make_dataclass("One", [("value", hint)]))
    assert validate(schema, {"value": given}) == ()
    value = schema.to_python({"value": given}).value
    assert (value, type(value)) == (made, type(made))


@pytest.mark.parametrize(
    ("hint", "given"), [(int, "1"), (int, True), (bool, 1), (bool, "true"), (str, 1), (float, "1.5"), (list[int], "1")]
)
def test_nothing_is_coerced_into_a_dataclass(hint: Any, given: Any) -> None:
    """Neither the schema nor, asked without it, the class takes a value of another type."""
    schema = load_schema(make_dataclass("One", [("value", hint)]))
    assert validate(schema, {"value": given})[0].path == "/value"
    with pytest.raises(ValueError, match="should be a valid"):
        schema.to_python({"value": given})


def test_a_dataclass_is_closed_and_lists_what_its_constructor_takes() -> None:
    """No further keys, no computed fields, no titles that nobody wrote; a recursive one and one of enums too."""

    @dataclass
    class Counted:
        kind: Kind
        count: int = field(default=0, init=False)

    document = load_schema(Counted).document
    assert document["properties"] == {"kind": {"$ref": "#/$defs/Kind"}}
    assert (document["required"], document["additionalProperties"]) == (["kind"], False)
    assert [one.path for one in validate(load_schema(Counted), {"kind": "备注", "count": 3})] == [""]
    item = load_schema(Item)
    assert isinstance(item.grammar, dict)
    assert list(item.grammar["properties"]) == ["text", "kind", "due", "parts"]
    assert item.to_python({"text": "t", "parts": [{"text": "u"}]}).parts == [Item("u")]


def test_the_place_of_a_refusal_inside_a_union_leads_into_the_answer() -> None:
    """The branches that pydantic names on the way are no keys of the answer."""
    schema = load_schema(make_dataclass("Wrapped", [("value", dict[str, Summary | None])]))
    (problem,) = validate(schema, {"value": {"a": {**SUMMARY, "title": ""}}})
    assert (problem.path, problem.expected) == ("/value/a", "a summary has a title")


def test_a_type_without_a_form_in_json_names_the_field() -> None:
    """Complex numbers, classes of other kinds, hints that lead nowhere, and what is no class at all."""

    @dataclass
    class Bad:
        z: complex

    with pytest.raises(SchemaError, match=r"Bad\.z"):
        load_schema(Bad)
    with pytest.raises(SchemaError, match=r"Odd\.second"):
        load_schema(make_dataclass("Odd", [("first", int), ("second", Path | Schema)]))
    with pytest.raises(SchemaError, match="Lost: a type hint cannot be read"):
        load_schema(make_dataclass("Lost", [("value", "Nowhere")]))
    with pytest.raises(SchemaError, match="neither a pydantic model nor a dataclass"):
        load_schema(int)
    with pytest.raises(SchemaError, match="expected a JSON Schema"):
        load_schema(3)  # type: ignore[arg-type]


def test_a_pydantic_model_is_read_and_built() -> None:
    """Its schema, its own validators, and the model as the result; a recursive one keeps its grammar."""
    pydantic = pytest.importorskip("pydantic")

    class Node(pydantic.BaseModel):  # type: ignore[misc,name-defined]
        name: str = pydantic.Field(pattern=r"^\d{3}$")
        nodes: list[Node] = pydantic.Field(default_factory=list)

        @pydantic.field_validator("name")
        @classmethod
        def not_zero(cls, name: str) -> str:
            if name == "000":
                raise ValueError("zero is no name")
            return name

    Node.model_rebuild(_types_namespace={"Node": Node})
    schema = load_schema(Node)
    assert schema.to_python({"name": "007", "nodes": [{"name": "001"}]}).nodes[0].name == "001"
    (problem,) = validate(schema, {"name": "007", "nodes": [{"name": "000"}]})
    assert (problem.path, "zero is no name" in problem.message) == ("/nodes/0/name", True)
    assert isinstance(schema.grammar, dict)
    assert schema.grammar["properties"]["name"] == {"type": "string", "pattern": "^[0-9]{3}$"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"type": "strnig"}', "/type: 'strnig' is not"),
        ('{"properties": {"a": {"minLength": "2"}}}', "/properties/a/minLength"),
        ('{\n"a": }', ":2: not JSON"),
        ('{"type": "object", "type": "array"}', "duplicate key 'type'"),
        ("[]", "expected a JSON Schema"),
        ('{"$ref": "#/$defs/a"}', "nothing is there"),
        ('{"$schema": "https://example.com/mine"}', "dialect"),
        ('{"pattern": "("}', "/pattern"),
    ],
)
def test_a_schema_file_that_is_wrong_names_file_and_place(tmp_path: Path, text: str, message: str) -> None:
    """The file and the line or JSON Pointer stand in the error."""
    path = tmp_path / "合同.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SchemaError) as caught:
        load_schema(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_a_missing_file_and_one_that_nests_too_deep_are_schema_errors(tmp_path: Path) -> None:
    """Nothing but SchemaError leaves the loader."""
    with pytest.raises(SchemaError, match=r"none\.json"):
        load_schema(str(tmp_path / "none.json"))
    (tmp_path / "deep.json").write_text('{"not":' * 100_000 + "{}" + "}" * 100_000, encoding="utf-8")
    with pytest.raises(SchemaError, match="too deep"):
        load_schema(tmp_path / "deep.json")


def test_a_pattern_that_python_can_not_run_is_said_to_be_unchecked() -> None:
    """It neither fails the schema nor goes unmentioned."""
    schema = load_schema({"type": "object", "properties": {"a": {"type": "string", "pattern": r"^\p{Han}+$"}}})
    assert any("not checked" in loss.why and loss.path == "/properties/a" for loss in schema.lost)
    assert validate(schema, {"a": "x"}) == ()


def test_limits_are_added_where_the_schema_is_open() -> None:
    """Arrays get an end, strings only on request; both are listed."""
    source = {"type": "array", "items": {"type": "string"}}
    assert load_schema(source).grammar == {"type": "array", "items": {"type": "string"}, "maxItems": 256}
    ended = load_schema(source, max_items=5, max_length=40)
    assert ended.grammar == {"type": "array", "items": {"type": "string", "maxLength": 40}, "maxItems": 5}
    assert [(one.path, one.keyword) for one in ended.added] == [("/items", "maxLength"), ("", "maxItems")]
    assert validate(ended, ["y" * 50] * 9) == ()


def test_the_callers_schema_is_copied() -> None:
    """A change made afterwards does not reach the compiled one."""
    source: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    schema = load_schema(source)
    source["properties"]["a"]["type"] = "string"
    assert validate(schema, {"a": 1}) == ()


@given(
    st.from_regex(r"\^(\(\?:|[a-c.\[\]^*+?|)\\d\-\"{},0-9合]){0,12}\$", fullmatch=True),
    st.text('ab1c合"\\-.', max_size=6),
)
@settings(deadline=None, max_examples=examples(500))
def test_a_safe_pattern_means_what_the_pattern_means(pattern: str, text: str) -> None:
    """Where the safe form is not said to be narrower, both match the same texts; where it is, it matches no more."""
    import re

    try:
        safe = safe_pattern(pattern)
        original = re.compile(pattern)
    except (Unsafe, re.error, FutureWarning):
        return
    matched, wanted = bool(re.search(safe.text, text)), bool(original.search(text))
    assert matched == wanted or (safe.narrowed and not matched)


@given(VALUES, VALUES)
@settings(deadline=None, max_examples=examples(150))
def test_validating_never_raises_and_is_right_about_constants(value: Any, other: Any) -> None:
    """Any value against a schema with most keywords, and against a constant of itself."""
    document = {
        "anyOf": [{"type": "object", "additionalProperties": {"type": "integer"}},
            {"minItems": 2, "uniqueItems": True}],
        "not": {"const": other}, "maxLength": 3, "multipleOf": 0.5, "format": "date",
    }  # fmt: skip
    for problem in validate(load_schema(document), value):
        assert problem.message
        assert len(feedback(problem, failing_part(value, problem.path))) < MAX_PART + 1200
    assert validate(load_schema({"const": value}), value) == ()


def test_a_schema_that_never_ends_is_a_problem_not_a_crash() -> None:
    """`$ref` to itself cannot be checked; that is said."""
    (problem,) = validate(load_schema({"$ref": "#"}), 1)
    assert "can be checked" in problem.expected


def test_feedback_names_path_expected_and_got_in_both_languages() -> None:
    """The model reads where, what was wanted, what stood there, and the part itself; bounded."""
    schema = load_schema({
        "type": "object", "required": ["日期"], "properties": {
            "日期": {"type": "string", "format": "date"},
            "n": {"type": "array", "items": {"type": "integer", "minimum": 3}},
        },
    })  # fmt: skip
    answer = {"n": [5, 1], "x": "长" * 5000}
    problems = validate(schema, answer)
    assert {(one.path, one.keyword) for one in problems} == {("", "required"), ("/n/1", "minimum")}
    english = feedback(problems, failing_part(answer, "/n/1"))
    assert "at /n/1: expected at least 3; got 1" in english
    assert "[5, 1]" in english
    assert '"日期"' in english
    chinese = feedback(problems[0], "长" * 5000, language="zh")
    assert "最外层" in chinese
    assert len(chinese) < MAX_PART + 300
    lost = find_json('{"n": [1,')
    assert isinstance(lost, NotFound)
    assert "cut off at offset 9" in feedback_on_no_json(lost, '{"n": [1,')


def test_the_nearest_branch_of_an_alternative_is_explained() -> None:
    """A failure inside anyOf names the field that is wrong, not the alternative as a whole."""
    schema = load_schema({"anyOf": [{"type": "null"}, {"type": "object", "properties": {"a": {"type": "integer"}}}]})
    assert validate(schema, {"a": "1"})[0].path == "/a"


@pytest.mark.process
def test_importing_the_package_loads_nothing_heavy() -> None:
    """jsonschema and pydantic come with the first schema, not with the import."""
    script = (
        "import sys, ollama_kit.structured as s; s.find_json('{}'); s.PartialJSON;"
        "print([m for m in ('jsonschema', 'pydantic', 'httpx', 'referencing') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, encoding="utf-8")
    assert done.stdout.strip() == "[]"


def test_a_schema_prints_without_its_validator() -> None:
    """The value is fit for a log."""
    schema = load_schema({"type": "string"})
    assert isinstance(schema, Schema)
    assert "validator" not in repr(schema)
    assert json.dumps(schema.grammar) == '{"type": "string"}'
