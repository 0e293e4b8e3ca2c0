"""Merging by score: the fast order of ranks against the plain algorithm."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.tokens.engines import (
    Engine,
    LibraryEngine,
    PartitionedEngine,
    merge,
    ranked_merges,
    sentencepiece_engine,
)
from ollama_kit.tokens.vocabulary import Vocabulary, read_vocabulary
from tests.intensity import examples
from tests.models.vocabularies import vocabulary
from tests.tokens.texts import FIXED, hostile_text

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def made_of(tokens: list[str], scores: list[float], types: list[int] | None = None, **keys: Any) -> Vocabulary:
    """A SentencePiece vocabulary of these tokens and the 256 bytes."""
    return read_vocabulary(
        {
            "tokenizer.ggml.model": "llama",
            "tokenizer.ggml.tokens": tokens + BYTES,
            "tokenizer.ggml.scores": scores + [0.0] * 256,
            "tokenizer.ggml.token_type": (types or [1] * len(tokens)) + [6] * 256,
            **{f"tokenizer.ggml.{name}": value for name, value in keys.items()},
        }
    )


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    """Few letters and many overlapping tokens, each with a score of its own; runs of blanks may share theirs."""
    letters = draw(st.sampled_from(["ab", "ab▁"]))
    runs = st.builds(str.__mul__, st.sampled_from(letters), st.integers(2, 6))
    pieces = draw(st.sets(st.one_of(st.text(letters, min_size=2, max_size=5), runs), min_size=2, max_size=14))
    tokens = [*letters, *sorted(pieces)]
    scores = [-float(place) for place in draw(st.permutations(range(len(tokens))))]
    if draw(st.booleans()):
        scores = [-1000.0 if len(t) > 1 and set(t) == {"▁"} else s for t, s in zip(tokens, scores, strict=True)]
    return made_of(tokens, scores, add_space_prefix=False)


@settings(deadline=None, max_examples=examples(400))
@given(known=vocabularies(), data=st.data())
def test_ranks_merge_as_scores_do(known: Vocabulary, data: st.DataObject) -> None:
    """Where an order of ranks exists, the library gives the ids of the plain algorithm, overlaps and runs included."""
    engine = sentencepiece_engine(known)
    assert isinstance(engine, LibraryEngine)
    run = st.builds(str.__mul__, st.sampled_from("ab▁"), st.integers(1, 9))
    text = "".join(data.draw(st.lists(run, max_size=12)))
    assert engine.encode(text) == merge(text, known.ids, known.scores)


@settings(deadline=None, max_examples=examples(100))
@given(text=hostile_text())
def test_a_real_vocabulary_takes_the_fast_way_and_agrees(text: str) -> None:
    """Mistral's 32,000 pieces: the library against the plain algorithm on one text without special tokens."""
    known, engine = _spm()
    assert isinstance(engine, LibraryEngine)
    for _, special in known.special:
        text = text.replace(special, "")
    expected = merge("▁" + text.replace(" ", "▁"), known.ids, known.scores) if text else []
    assert engine.encode(text) == expected


@cache
def _spm() -> tuple[Vocabulary, Engine]:
    known = read_vocabulary(vocabulary("spm"))
    return known, sentencepiece_engine(known)


@pytest.mark.parametrize(
    ("tokens", "scores"),
    [
        (["a", "b", "c", "ab", "bc"], [0.0, 0.0, 0.0, -1.0, -1.0]),
        (["a", "b", "ab", "abx"], [0.0, 0.0, -1.0, -2.0]),
    ],
    ids=["equal scores", "a character that is no token"],
)
def test_what_ranks_can_not_say_is_merged_slowly(tokens: list[str], scores: list[float]) -> None:
    """Tokens that tie, or that hold a character without a token, are merged by the plain algorithm."""
    known = made_of(tokens, scores)
    assert ranked_merges(known) is None
    assert isinstance(sentencepiece_engine(known), PartitionedEngine)


def test_of_equal_scores_the_leftmost_wins() -> None:
    """`abc` with `ab` and `bc` of one score is `ab`, `c`; a better score wins from wherever it stands."""
    tied = made_of(["a", "b", "c", "ab", "bc"], [0.0, 0.0, 0.0, -1.0, -1.0])
    better = made_of(["a", "b", "c", "ab", "bc"], [0.0, 0.0, 0.0, -2.0, -1.0])
    assert [tied.tokens[i] for i in merge("abc", tied.ids, tied.scores)] == ["ab", "c"]
    assert [better.tokens[i] for i in merge("abc", better.ids, better.scores)] == ["a", "bc"]


def test_unknown_characters_become_bytes() -> None:
    """A character that no token holds is one token a byte of UTF-8."""
    known = made_of(["a"], [0.0])
    assert [known.tokens[i] for i in merge("a你", known.ids, known.scores)] == ["a", "<0xE4>", "<0xBD>", "<0xA0>"]


def test_a_blank_is_put_before_the_text_and_after_each_special_token() -> None:
    """`a<s>a` is ▁a, <s>, ▁a: each text between special tokens is prefixed, and one blank more is not swallowed."""
    known = made_of(["<s>", "a", "▁", "▁a"], [0.0, -2.0, -3.0, -1.0], [3, 1, 1, 1])
    engine = sentencepiece_engine(known)
    assert [known.tokens[i] for i in engine.encode("a<s>a")] == ["▁a", "<s>", "▁a"]
    assert [known.tokens[i] for i in engine.encode("<s> a")] == ["<s>", "▁", "▁a"]


def test_the_slow_way_is_not_quadratic() -> None:
    """A run of 20,000 characters takes fewer than 40 comparisons each."""

    looked_up = 0

    class Ids(dict[str, int]):
        def get(self, key: str, default: Any = None) -> Any:
            nonlocal looked_up
            looked_up += 1
            return super().get(key, default)

    runs = ["a" * length for length in (1, 2, 4, 8, 16)]
    ids = Ids({text: place for place, text in enumerate(runs)})
    assert len(merge("a" * 20_000, ids, [0.0, -1.0, -2.0, -3.0, -4.0])) == 1250
    assert looked_up < 20_000 * 40


def test_fixed_texts_hold_every_byte_of_their_text() -> None:
    """What was cut can be put together again: nothing is dropped on the way."""
    known, engine = _spm()
    for text in FIXED:
        assert _text_of(known, engine.encode(text)).replace("▁", " ").replace(" ", "") == text.replace(" ", "")


def _text_of(known: Vocabulary, ids: list[int]) -> str:
    pieces = (known.tokens[i] for i in ids)
    parts = (bytes([int(p[3:5], 16)]) if p in BYTES else p.encode() for p in pieces)
    return b"".join(parts).decode()
