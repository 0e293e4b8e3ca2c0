"""JSON in replies: found where it is whole, refused where it is half, in work that the length bounds."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.structured.find import Found, NotFound, find_json
from ollama_kit.structured.thinking import strip_thinking
from tests.intensity import examples

KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | KEYS
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=12
)
DOCUMENTS = st.dictionaries(KEYS, VALUES, max_size=4) | st.lists(VALUES, max_size=4)
PROSE = st.text(st.characters(exclude_characters='{}[]"', exclude_categories=["Cs"]), max_size=40)


def found(text: str) -> Found:
    outcome = find_json(text)
    assert isinstance(outcome, Found), outcome
    return outcome


def missing(text: str) -> NotFound:
    outcome = find_json(text)
    assert isinstance(outcome, NotFound), outcome
    return outcome


@given(DOCUMENTS, PROSE, PROSE, st.booleans(), st.sampled_from([None, 2]))
@settings(deadline=None, max_examples=examples(200))
def test_a_document_between_sentences_is_found(
    value: Any, before: str, after: str, plain: bool, indent: int | None
) -> None:
    """Whatever stands around it without brackets, the value comes back as it was, with its place."""
    document = json.dumps(value, ensure_ascii=plain, indent=indent)
    outcome = found(before + document + after)
    assert outcome.value == value
    assert before.rstrip() + document == (before.rstrip() + outcome_text(before + document + after, outcome))


def outcome_text(text: str, outcome: Found) -> str:
    return text[outcome.start : outcome.end]


@given(DOCUMENTS, st.data())
@settings(deadline=None, max_examples=examples(200))
def test_a_document_that_is_cut_is_never_found(value: Any, data: st.DataObject) -> None:
    """Each proper beginning of a document is half JSON, and stays so: no inner part is taken for the whole."""
    document = json.dumps(value, ensure_ascii=False)
    cut = data.draw(st.integers(1, len(document) - 1))
    outcome = missing(document[:cut])
    assert outcome.cut_off
    assert outcome.reason == f"the JSON is cut off at offset {cut}"


@pytest.mark.parametrize(
    ("text", "value", "how"),
    [
        ('{"a": 1}', {"a": 1}, "whole"),
        ('\ufeff {"a": 1}\n', {"a": 1}, "whole"),
        ("42", 42, "whole"),
        ('"</think>"', "</think>", "whole"),
        ('```json\n{"a": 1}\n```', {"a": 1}, "fenced"),
        ('例如 {"a": 0, "long": "example"}\n```JSON\n{"a": 1}\n```\n完毕', {"a": 1}, "fenced"),
        ('见[1]和[链接](https://example.com):{"a": 1}。', {"a": 1}, "prose"),
        ('<think>{"a": 0}</think>{"a": 1}', {"a": 1}, "whole"),
        ('maybe {"a": 0}?</think>\n{"a": 1}', {"a": 1}, "whole"),
        ('{"code": "```json\\n{}\\n```"}', {"code": "```json\n{}\n```"}, "whole"),
        ('the form is {"a": ...}; so {"a": 1}', {"a": 1}, "prose"),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}, "whole"),
    ],
)
def test_where_models_put_their_json(text: str, value: Any, how: str) -> None:
    """Fences, thinking, footnotes and sketches around the answer do not hide it."""
    outcome = found(text)
    assert (outcome.value, outcome.how) == (value, how)


def test_several_documents_come_best_first() -> None:
    """A fenced one, then longer ones, then later ones; the caller may take the first that its schema allows."""
    text = '{"a": 1} {"b": 22}\n```json\n[3]\n```\n{"c": 3}'
    assert [one.value for one in found(text).candidates] == [[3], {"b": 22}, {"c": 3}, {"a": 1}]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("I cannot help with that.", "no JSON"),
        ('{"a": 1, "a": 2}', "'a' stands twice"),
        ('{"a": NaN}', "NaN"),
        ("[Infinity]", "Infinity"),
        ("[1e999]", "too large"),
        ('["\\ud83d"]', "surrogate"),
        ("['a']", "no JSON"),
        ("{'a': {\"b\": 1}}", "broken"),
        ('{"a": {"b": 1}, oops}', "broken"),
        ('{"a": 1}, then {"b": [1', "cut off"),
        ('{"a": tru', "cut off"),
        ('the list: ["a, b', "cut off"),
        ('{"a": "\\u12', "cut off"),
        ("<think>and so on", "empty|no JSON"),
    ],
)
def test_what_is_no_answer_says_why(text: str, reason: str) -> None:
    """The reason names what is wrong; no fragment of a broken document is returned."""
    import re

    assert re.search(reason, missing(text).reason)


@pytest.mark.parametrize("unit", ["{", "[", '{"a":', '["a" ', "[[1,", '{"', "[1]x{", '{"a" ', "[a", '\\"{'])
def test_hostile_text_takes_work_in_proportion_to_its_length(unit: str) -> None:
    """Twice the text is at most about twice the Python lines run: nothing is read again and again."""
    small, large = (_lines_run(unit * count) for count in (2_000, 4_000))
    assert large <= 2.2 * small + 200


def _lines_run(text: str) -> int:
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        find_json(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("unit", ["{", "[", '{"a":', "[[1,", "[a", "[" + " " * 300])
def test_a_megabyte_of_brackets_is_refused(unit: str) -> None:
    """It ends, with a reason, and no recursion error."""
    assert missing(unit * (1_000_000 // len(unit))).reason


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("<think>a</think>b", ("a", "b")),
        ("\n<think>\na\n</think>\n\n<think>c</think> b", ("a\n\nc", "b")),
        ("a</think>\nb", ("a", "b")),
        ("<think>a", ("a", "")),
        ("plain", ("", "plain")),
        ('so: {"</think>": 1}', ("", 'so: {"</think>": 1}')),
        ('a 6" pipe\n</think>\n[6]', ('a 6" pipe', "[6]")),
        ('{"a": "</think>"}', ("", '{"a": "</think>"}')),
    ],
)
def test_thinking_is_told_from_the_answer(text: str, parts: tuple[str, str]) -> None:
    """Whole tags and an orphan closing one; a tag inside JSON is text."""
    assert strip_thinking(text) == parts
