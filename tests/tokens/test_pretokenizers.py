"""Words as llama.cpp cuts them. The real server confirms each rule in test_tokenizer_real.py."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.tokens.pretokenizers import RULES, pre_tokenizer, split_rule
from tests.intensity import examples
from tests.tokens.texts import hostile_text


def words(pre: str, text: str) -> list[str]:
    """The words of `text`, cut by the rule of that name."""
    rule = split_rule(pre)
    assert rule is not None
    return [text[start:end] for _, (start, end) in pre_tokenizer(rule).pre_tokenize_str(text)]


VECTORS = [
    ("gpt-2", "I'm  12 cats", ["I", "'m", " ", " 12", " cats"]),
    ("gpt-2", "IT'S", ["IT", "'", "S"]),
    ("gpt-2", "a \n\n b", ["a", " \n\n", " b"]),
    ("smollm", "in 2026", ["in", " ", "2", "0", "2", "6"]),
    ("qwen2", "IT'S 12", ["IT", "'S", " ", "1", "2"]),
    ("qwen2", "it'ſ", ["it", "'ſ"]),
    ("qwen2", "a \r\n\n  b!?\n", ["a", " \r\n\n", " ", " b", "!?\n"]),
    ("qwen2", "e\u0301x", ["e", "\u0301x"]),
    ("qwen35", "e\u0301x", ["e\u0301x"]),
    ("llama-bpe", "1234567", ["123", "456", "7"]),
    ("tekken", "fooBar中文", ["foo", "Bar中文"]),
    ("tekken", "1234 a/\n", ["1", "2", "3", "4", " a", "/\n"]),
    ("gpt-4o", "They'LL 1234", ["They'LL", " ", "123", "4"]),
    ("deepseek-v3", "a_b 2026年 x=1", ["a", "_b", " ", "202", "6", "年", " x", "=", "1"]),
    ("deepseek-llm", "hi 你好\n12", ["hi", " ", "你好", "\n", "12"]),
    ("deepseek-coder", "hi, 你好\n12", ["hi", ",", " ", "你好", "\n", "1", "2"]),
    ("default", "12345 a=b", ["123", "45", " a", "=", "b"]),
]


@pytest.mark.parametrize(("pre", "text", "expected"), VECTORS)
def test_words_are_cut_as_the_rule_says(pre: str, text: str, expected: list[str]) -> None:
    """Contractions, digits, blanks, marks and line ends go to the words that llama.cpp puts them in."""
    assert words(pre, text) == expected


def test_case_outside_ascii_is_not_seen() -> None:
    """llama.cpp cuts before an upper-case letter in ASCII only, so `tekken` keeps éÉ together."""
    assert words("tekken", "aA éÉ") == ["a", "A", " éÉ"]


def test_a_tilde_is_no_symbol_to_deepseek_v3() -> None:
    """llama.cpp's table of ASCII symbols lacks `~`, so it stands alone or before a word."""
    assert words("deepseek-v3", "!~ ~中 =+") == ["!", "~", " ", "~中"[:1], "中", " =+"]


def test_a_name_that_is_missing_means_the_default_rule() -> None:
    """Files from before the key existed have no `pre`; a name that is not known has no rule."""
    assert split_rule("") is RULES["default"]
    assert split_rule("no-such-rule") is None


DISTINCT = sorted({rule.patterns: name for name, rule in RULES.items()}.values())


@pytest.mark.parametrize("pre", DISTINCT)
@settings(deadline=None, max_examples=examples(15))
@given(text=hostile_text(), extra=st.text(st.characters(exclude_categories=("Cs",)), max_size=5))
def test_no_rule_loses_or_invents_text(pre: str, text: str, extra: str) -> None:
    """The words put together are the text."""
    assert "".join(words(pre, text + extra)) == text + extra
