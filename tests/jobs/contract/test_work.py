"""The work of the rules grows with the text and no faster: counted in characters looked at, not in time."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

import pytest

from ollama_kit.jobs.contract import passages
from ollama_kit.jobs.contract.extraction import extract_facts
from tests.jobs.contract.samples import FOLDER, document

HOSTILE = {
    "contract": (FOLDER / "synthetic_zh_sale.txt").read_text(encoding="utf-8"),
    "no full stop": "term of this agreement shall continue governed by the laws jurisdiction ",
    "brackets": '("the "("',
    "numbers": "1.1.1.1.1 (a)(i)(1) 一、第一条",
    "blanks": "____ : 甲方：",
    "between": 'between A and B, Inc. ("X") ',
    "effect": "自甲方自乙方自",
}


def counted(work: Callable[[], object]) -> int:
    """Calls of Python functions made by a piece of work."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_text_is_twice_the_work(name: str) -> None:
    """Calls; what a pattern does within one is bounded by its own repetitions."""
    small = document(HOSTILE[name] * (20_000 // len(HOSTILE[name])))
    large = document(HOSTILE[name] * (40_000 // len(HOSTILE[name])))
    extract_facts(small)  # the patterns are compiled once
    once, twice = counted(lambda: extract_facts(small)), counted(lambda: extract_facts(large))
    assert twice < 2.6 * once + 2_000


def test_the_sentences_looked_at_are_no_longer_than_the_text_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A text without full stops is cut into sentences of a bounded length, each looked at once."""
    looked = 0
    original = passages.sentence_around

    def measured(text: str, start: int, end: int) -> tuple[int, int]:
        nonlocal looked
        begin, stop = original(text, start, end)
        looked += stop - begin
        return begin, stop

    monkeypatch.setattr(passages, "sentence_around", measured)
    text = "the term of this agreement " * 4_000
    list(passages.sentences_with(text, re.compile("term")))
    assert looked <= 3 * len(text)
