"""Cutting a text into what a model can see."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import given, settings, strategies as st

from ollama_kit.guard.scanners.local_models import disjoint, overlapping, token_count
from tests.intensity import examples

texts = st.text(alphabet="ab 。\n天", max_size=300)
rooms = st.integers(1, 60)


class Words:
    """A tokenizer of words, each Chinese character one; like WordPiece, a word of over 100 characters is one too."""

    def __init__(self, *, fast: bool = True) -> None:
        self.is_fast = fast

    def __call__(self, text: str, **options: Any) -> dict[str, Any]:
        found = [match.span() for match in re.finditer(r"[ab]{101,}|[ab]{1,3}|[^ab\s]", text)]
        return {"input_ids": [0] * len(found), "offset_mapping": found}


@given(texts, rooms, st.booleans())
@settings(deadline=None, max_examples=examples(150))
def test_windows_cover_the_text_and_fit(text: str, room: int, fast: bool) -> None:
    """Every character that makes a token is in a window, and no window has more tokens than there is room for."""
    tokenizer = Words(fast=fast)
    spans = overlapping(text, tokenizer, room)
    seen = {at for start, end in spans for at in range(start, end)}
    assert not [at for at in range(len(text)) if at not in seen and not text[at].isspace()]
    assert all(token_count(text[start:end], tokenizer) <= room or end - start == 1 for start, end in spans)


@given(texts, rooms, st.booleans())
@settings(deadline=None, max_examples=examples(150))
def test_parts_join_to_the_text(text: str, room: int, fast: bool) -> None:
    """Disjoint windows are the text in order, each small enough."""
    tokenizer = Words(fast=fast)
    spans = disjoint(text, tokenizer, room)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(token_count(text[start:end], tokenizer) <= room or end - start == 1 for start, end in spans)


def test_what_stands_at_a_cut_is_whole_in_one_window() -> None:
    """A phrase shorter than the overlap is never only seen in two halves."""
    text = " ".join(["aaa"] * 1000)
    spans = overlapping(text, Words(), 100)
    assert all(any(start <= at and at + 40 <= end for start, end in spans) for at in range(len(text) - 40))


def test_a_short_text_is_one_window() -> None:
    """A text that fits is not cut; neither is one without a token."""
    assert overlapping("aa bb", Words(), 10) == ((0, 5),)
    assert overlapping("  ", Words(), 10) == ((0, 2),)


def test_an_endless_word_is_cut_into_words_that_the_model_knows() -> None:
    """WordPiece sees nothing of a word of over 100 characters: its pieces have fewer, and share some."""
    text = "aa " + "b" * 1000 + " aa"
    spans = overlapping(text, Words(), 100)
    assert max(end - start for start, end in spans) <= 100
    assert all(any(start <= at and at + 20 <= end for start, end in spans) for at in range(3, 983))


def test_the_work_grows_with_the_text() -> None:
    """Twice the text is twice the characters that the tokenizer reads, not four times."""

    class Counting(Words):
        read = 0

        def __call__(self, text: str, **options: Any) -> dict[str, Any]:
            self.read += len(text)
            return super().__call__(text, **options)

    once, twice = Counting(), Counting()
    overlapping("aaa " * 2000, once, 100)
    overlapping("aaa " * 4000, twice, 100)
    assert twice.read < 2.2 * once.read
