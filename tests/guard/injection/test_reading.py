"""The parts: one spelling, sentences, payloads, literals."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.guard.injection.lookalikes import fold
from ollama_kit.guard.injection.payloads import payloads
from ollama_kit.guard.injection.sentences import Sentences
from ollama_kit.text.pattern_search import required, search_for
from tests.intensity import examples


@settings(deadline=None, max_examples=examples(200))
@given(st.text())
def test_folding_keeps_every_character_at_its_place(text: str) -> None:
    """The folded text is as long as the text, and folding it again changes nothing."""
    folded = fold(text)
    assert len(folded) == len(text)
    assert fold(folded) == folded


@pytest.mark.parametrize(
    ("strange", "plain"),
    [
        ("ＩＧＮＯＲＥ", "ignore"),
        ("іgnоrе", "ignore"),
        ("𝐢𝐠𝐧𝐨𝐫𝐞", "ignore"),
        ("輸出統一", "输出统一"),
        ("ⓘⓖⓝⓞⓡⓔ", "ignore"),
        ("İx", "ix"),
    ],
)
def test_look_alikes_become_one(strange: str, plain: str) -> None:
    """Letters that look alike are read alike."""
    assert fold(strange)[-1] == plain[-1]
    if strange[0] != "İ":
        assert fold(strange) == plain


@settings(deadline=None, max_examples=examples(100))
@given(st.text(alphabet="a。！. \n”", max_size=60))
def test_every_character_but_white_space_is_in_one_sentence(text: str) -> None:
    """Sentences cover the text: each character lies in the sentence found around it."""
    sentences = Sentences.of(text)
    for at, character in enumerate(text):
        if not character.isspace():
            start, end = sentences.around(at)
            assert start <= at < end


def test_figures_and_file_names_do_not_end_a_sentence() -> None:
    """A full stop ends a sentence only before white space."""
    text = "Pay 3.50 for a.txt now. Thanks."
    start, end = Sentences.of(text).around(0)
    assert text[start:end] == "Pay 3.50 for a.txt now."


def test_a_hash_and_an_image_are_no_payload() -> None:
    """What decodes to no legible text is left alone."""
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
    assert list(payloads(png)) == []
    assert list(payloads("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")) == []


def test_a_payload_says_where_it_stands() -> None:
    """The span of a payload is the run that was decoded."""
    text = "看这里：aGVsbG8gd29ybGQgYWdhaW4= 好"
    (payload,) = payloads(text)
    assert payload.text == "hello world again"
    assert text[payload.start : payload.end].startswith("aGVs")


@pytest.mark.parametrize(
    ("pattern", "literals"),
    [
        ("ab?cd", {"cd"}),
        ("(?:ab|cd)x?", {"ab", "cd"}),
        ("(?:ab)?", set()),
        ("[ab]{2}z+", {"z"}),
        (r"\bno\b", {"no"}),
    ],
)
def test_literals_are_those_a_match_needs(pattern: str, literals: set[str]) -> None:
    """Optional parts give no literal; alternatives give one each."""
    found = required(pattern)
    assert (found[0] if found else set()) == literals


@settings(deadline=None, max_examples=examples(100))
@given(st.lists(st.text("abc", min_size=1, max_size=4), min_size=1, max_size=8), st.text("abc", max_size=20))
def test_the_longest_literal_is_found_at_its_first_place(literals: list[str], text: str) -> None:
    """The built pattern finds what a plain search finds."""
    found = search_for(literals).search(text)
    places = [(text.find(literal), -len(literal)) for literal in literals if literal in text]
    assert (found and (found.start(), -len(found.group()))) == (min(places) if places else None)
