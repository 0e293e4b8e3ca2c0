"""Partial values of a stream: the same however it is cut, and never half a value."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.structured.partial import PartialJSON
from tests.intensity import examples
from tests.structured.test_find import DOCUMENTS


def read(pieces: list[str]) -> PartialJSON:
    reader = PartialJSON()
    for piece in pieces:
        reader.feed(piece)
    return reader


@given(DOCUMENTS, st.booleans(), st.lists(st.integers(0, 200), max_size=12), st.integers(0, 200))
@settings(deadline=None, max_examples=examples(200))
def test_every_split_of_a_stream_gives_the_same(value: Any, ascii_only: bool, cuts: list[int], end: int) -> None:
    """The value after a beginning of the text depends on the text alone; after all of it, it is the document."""
    text = json.dumps(value, ensure_ascii=ascii_only)
    marks = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    pieces = [text[a:b] for a, b in itertools.pairwise(marks)]
    whole = read(pieces)
    assert (whole.value, whole.complete, whole.problem) == (value, True, "")
    head = text[:end]
    one, many = read([head]), read(list(head))
    assert (one.value, one.complete, one.problem) == (many.value, many.complete, many.problem)


@given(DOCUMENTS)
@settings(deadline=None, max_examples=examples(100))
def test_values_only_grow(value: Any) -> None:
    """No text or number is seen before it has ended: each scalar seen is one of the document's."""
    text = json.dumps(value)
    scalars = list(_scalars(value))
    reader = PartialJSON()
    for char in text:
        reader.feed(char)
        assert all(scalar in scalars for scalar in _scalars(reader.value) if reader.value is not None)


def _scalars(value: Any) -> Any:
    if isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _scalars(inner)
    else:
        yield value


def test_text_around_the_document_is_passed_over() -> None:
    """A fence before and a sentence after do not matter; a snapshot stays as it was."""
    reader = read(["```json\n", '{"a": [1, 2', "3"])
    early = reader.snapshot()
    reader.feed('], "b": null}\n``` done {')
    assert early == {"a": [1]}
    assert reader.value == {"a": [1, 23], "b": None}
    assert reader.complete


@pytest.mark.parametrize(
    "text", ["{a: 1}", '{"a" 1}', "[1 2]", "[1,]", '{"a": 1, "a": 2}', "[NaN]", "[tru]", "[1}", '["\\x"]']
)
def test_what_is_not_json_stops_the_reader(text: str) -> None:
    """The first fault is kept, and nothing after it is read."""
    reader = read([text])
    assert reader.problem
    assert not reader.complete
    before = reader.snapshot()
    reader.feed('"more"]')
    assert reader.value == before


def test_a_long_string_in_small_pieces_is_joined_once() -> None:
    """What a piece costs does not depend on how much came before: the pieces of an open string lie side by side."""
    reader = read(['["'])
    for _ in range(20_000):
        reader.feed("长")
    reader.feed('"]')
    assert reader.value == ["长" * 20_000]
