"""What a tokenizer promises whatever its vocabulary."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.errors import ProtocolError, UsageError
from ollama_kit.tokens import Tokenizer, tokenizer_family
from tests.intensity import examples
from tests.models.vocabularies import vocabulary
from tests.tokens.texts import hostile, hostile_text

NAMES = ("qwen2", "qwen35", "deepseek", "tekken", "spm", "gemma")


@cache
def built(name: str) -> Tokenizer:
    """The tokenizer of a real vocabulary, built once."""
    return Tokenizer.from_metadata(vocabulary(name))


BYTE_CHARACTERS = [chr(c) for c in (*range(33, 127), *range(161, 173), *range(174, 256), *range(256, 324))]


def byte_level(*added: tuple[str, int], **keys: Any) -> dict[str, Any]:
    """A byte-level vocabulary of single bytes and one merge, `ab`, with `added` (text, type) tokens."""
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        "tokenizer.ggml.tokens": [*BYTE_CHARACTERS, "ab", *(text for text, _ in added)],
        "tokenizer.ggml.token_type": [1] * (len(BYTE_CHARACTERS) + 1) + [kind for _, kind in added],
        "tokenizer.ggml.merges": ["a b"],
        **{f"tokenizer.ggml.{name}": value for name, value in keys.items()},
    }


def texts_of(info: dict[str, Any], text: str) -> list[str]:
    """The tokens that `text` is cut into."""
    return [info["tokenizer.ggml.tokens"][i] for i in Tokenizer.from_metadata(info).encode(text)]


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=examples(60))
@given(text=hostile_text())
def test_the_bound_holds_and_counting_is_stable(name: str, text: str) -> None:
    """No text has more tokens than its bound; the same text always has the same count, the number of its ids."""
    tokenizer = built(name)
    count = tokenizer.count(text)
    assert tokenizer.upper_bound(text) >= count
    assert count == tokenizer.count(text) == len(tokenizer.encode(text)) + len(tokenizer.bos_ids)


@pytest.mark.parametrize("name", NAMES)
def test_each_control_token_is_one_token(name: str) -> None:
    """Inside other text too: what must be broken is what the server takes for one id."""
    tokenizer = built(name)
    tokens = vocabulary(name)["tokenizer.ggml.tokens"]
    assert tokenizer.control_tokens
    for control in tokenizer.control_tokens[:300]:
        assert tokens.index(control) in tokenizer.encode(f"x{control}y")


def test_control_tokens_leave_out_what_people_write() -> None:
    """Gemma's line breaks, blanks and HTML tags are user-defined tokens, and harmless; its turn marks are not."""
    control = built("gemma").control_tokens
    assert {"<start_of_turn>", "<end_of_turn>", "<bos>", "[@BOS@]"} <= set(control)
    assert not {"\n", "\n\n", "\t", "▁▁", "<b>", "</table>", "<h1>", "<0x0A>", "<s>"} & set(control)


def test_control_tokens_come_longest_first_and_hold_what_looks_like_html_but_is_not() -> None:
    """`<think>` is a user-defined token of Qwen and no HTML tag."""
    control = built("qwen2").control_tokens
    assert {"<think>", "</think>", "<tool_call>", "<|im_end|>"} <= set(control)
    assert list(control) == sorted(control, key=lambda text: -len(text.encode()))


def test_a_bos_that_looks_like_html_is_a_control_token() -> None:
    """`<s>` typed as user-defined is strike-through in Gemma and the beginning of text elsewhere."""
    info = byte_level(("<s>", 4))
    beginning = info["tokenizer.ggml.tokens"].index("<s>")
    assert Tokenizer.from_metadata(info).control_tokens == ()
    assert Tokenizer.from_metadata({**info, "tokenizer.ggml.bos_token_id": beginning}).control_tokens == ("<s>",)


def test_an_end_of_turn_typed_as_normal_is_still_special() -> None:
    """llama.cpp makes `<|im_end|>` a control token whatever the file says."""
    info = byte_level(("<|im_end|>", 1), ("<|my_end|>", 1))
    assert texts_of(info, "a<|im_end|>") == ["a", "<|im_end|>"]
    assert Tokenizer.from_metadata(info).control_tokens == ("<|im_end|>",)


def test_special_tokens_are_cut_out_longest_first() -> None:
    """`<<ab` and `ab>>>` overlap in `<<ab>>>`: the server takes the longer one, not the leftmost."""
    info = byte_level(("<<ab", 3), ("ab>>>", 3))
    assert texts_of(info, "x<<ab>>>") == ["x", "<", "<", "ab>>>"]
    assert texts_of(info, "<<ab ab>>>") == ["<<ab", "Ġ", "ab>>>"]


def test_unknown_and_user_defined_tokens_are_special_unused_ones_are_not() -> None:
    """Types 2, 3 and 4 are looked for in the text; 5 and 6 are not."""
    info = byte_level(("<u>", 2), ("<c>", 3), ("<d>", 4), ("<n>", 5))
    assert texts_of(info, "<u><c><d>") == ["<u>", "<c>", "<d>"]
    assert texts_of(info, "<n>") == ["<", "n", ">"]


def test_only_phi3_swallows_the_blanks_after_a_special_token() -> None:
    """By the model's name, as llama.cpp does it; `<s>` never does."""
    info = byte_level(("<|end|>", 3), ("<s>", 3))
    assert texts_of({**info, "general.name": "Phi-3 Mini"}, "<|end|> \na<s> a") == ["<|end|>", "a", "<s>", "Ġ", "a"]
    assert texts_of({**info, "general.name": "Phi 2"}, "<|end|> a") == ["<|end|>", "Ġ", "a"]


def test_bos_and_eos_are_counted_where_the_model_has_them() -> None:
    """`add_bos_token` and `add_eos_token` decide; without them a rule's own habit, which is none for `qwen2`."""
    text = "ab"
    assert Tokenizer.from_metadata(byte_level()).count(text) == 1
    both = Tokenizer.from_metadata(byte_level(add_bos_token=True, add_eos_token=True, bos_token_id=0, eos_token_id=1))
    assert (both.count(text), both.count(text, add_bos=False), both.bos_ids, both.eos_ids) == (3, 1, (0,), (1,))
    assert Tokenizer.from_metadata(byte_level(pre="llama-bpe", bos_token_id=0)).count(text) == 2


@pytest.mark.parametrize(("architecture", "prefixed"), [("llama", True), ("gemma2", True), ("gemma3", False)])
def test_a_leading_blank_is_llama_cpps_default_and_not_gemma3s(architecture: str, prefixed: bool) -> None:
    """Where the metadata do not say: llama.cpp puts a blank before SentencePiece text, Ollama's own engine does not."""
    info = {key: value for key, value in vocabulary("spm").items() if not key.endswith("add_space_prefix")}
    ids = Tokenizer.from_metadata({**info, "general.architecture": architecture}).encode("the")
    assert [info["tokenizer.ggml.tokens"][i] for i in ids] == (["▁the"] if prefixed else ["the"])


def test_a_word_rule_that_is_not_known_gives_a_bound_and_says_so() -> None:
    """Never a guess: not exact, counted by bytes, and ids refused."""
    tokenizer = Tokenizer.from_metadata(byte_level(pre="from-the-future"))
    assert not tokenizer.exact
    assert "from-the-future" in tokenizer.inexact_because
    assert tokenizer.count("你好ab") == tokenizer.upper_bound("你好ab") == 8
    with pytest.raises(UsageError, match="from-the-future"):
        tokenizer.encode("a")


@pytest.mark.parametrize("model", ["t5", "bert", "rwkv", "gemma4"])
def test_other_kinds_of_tokenizer_are_bounded_too(model: str) -> None:
    """Their bound leaves room for a normalization that makes 18 characters of one."""
    tokenizer = Tokenizer.from_metadata({"tokenizer.ggml.model": model, "tokenizer.ggml.tokens": ["a"]})
    assert not tokenizer.exact
    assert tokenizer.count("ﷺ") >= 18


@pytest.mark.parametrize("info", [{}, {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": None}])
def test_metadata_without_token_lists_are_refused(info: dict[str, Any]) -> None:
    """`/api/show` without verbose gives null for every list; the error says what to ask for."""
    with pytest.raises(ProtocolError, match="verbose"):
        Tokenizer.from_metadata(info)


def test_half_a_surrogate_counts_as_the_server_reads_it() -> None:
    """Go's JSON reader makes U+FFFD of a lone surrogate, and one character of a pair."""
    for name in ("qwen2", "spm", "gemma"):
        tokenizer = built(name)
        assert tokenizer.count("a\ud800b") == tokenizer.count("a\ufffdb")
        assert tokenizer.encode("\ud83d\ude00") == tokenizer.encode("😀")
        assert tokenizer.upper_bound("\ud800") >= tokenizer.count("\ud800")


@pytest.mark.parametrize(
    ("model", "pre", "architecture", "names"),
    [
        ("gpt2", "qwen2", "qwen3", {"qwen", "qwen2", "qwen2.5", "qwen3"}),
        ("gpt2", "qwen35", "qwen35moe", {"qwen", "qwen35", "qwen3.5", "qwen3.6"}),
        ("gpt2", "smollm", "llama", {"smollm", "smollm2"}),
        ("gpt2", "llama-bpe", "llama", {"llama", "llama-bpe", "llama3"}),
        ("gpt2", "tekken", "llama", {"mistral", "tekken"}),
        ("gpt2", "deepseek-v3", "deepseek2", {"deepseek", "deepseek-v3"}),
        ("gpt2", "from-the-future", "x", {"from-the-future"}),
        ("llama", "default", "llama", {"llama", "sentencepiece", "spm"}),
        ("llama", "default", "gemma3", {"gemma", "sentencepiece", "spm"}),
        ("", "", "", set()),
    ],
)
def test_families_have_the_names_people_use(model: str, pre: str, architecture: str, names: set[str]) -> None:
    """A spec may expect any of them; no list of tokens is needed to check."""
    info = {"tokenizer.ggml.model": model, "tokenizer.ggml.pre": pre, "general.architecture": architecture}
    assert tokenizer_family(info) == names


def test_counting_is_one_call_into_the_library() -> None:
    """Nothing is done beside one encode: no second pass, no list of ids."""
    from ollama_kit.tokens.engines import LibraryEngine

    class Encoding:
        def __len__(self) -> int:
            return 7

    class Backend:
        calls = 0

        def encode(self, text: str, add_special_tokens: bool) -> Encoding:
            self.calls += 1
            return Encoding()

    backend = Backend()
    assert LibraryEngine(backend).count("anything") == 7
    assert backend.calls == 1


@settings(deadline=None, max_examples=examples(60))
@given(parts=st.lists(st.sampled_from(["<<ab", "ab>>>", "a", "<", ">", "b", " "]), max_size=12))
def test_overlapping_special_tokens_are_cut_as_one_pass_per_token_does(parts: list[str]) -> None:
    """Against the plain way: mark every `ab>>>`, then every `<<ab` in what is left."""
    text = "".join(parts)
    expected = [
        token for piece in _cut(text, "ab>>>") for token in ([piece] if piece == "ab>>>" else _cut(piece, "<<ab"))
    ]
    got = [token for token in texts_of(byte_level(("<<ab", 3), ("ab>>>", 3)), text) if token in ("<<ab", "ab>>>")]
    assert got == [token for token in expected if token in ("<<ab", "ab>>>")]


def _cut(text: str, literal: str) -> list[str]:
    parts = text.split(literal)
    return [piece for part in parts for piece in (part, literal)][:-1]


@pytest.mark.process
def test_importing_the_package_loads_no_library() -> None:
    """`tokenizers` is imported when a tokenizer is built, not before."""
    code = "import sys, ollama_kit.tokens as t; t.tokenizer_family({}); t.Tokenizer; print('tokenizers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_long_text_is_counted_like_its_lines() -> None:
    """No limit on length: a line break ends a word, so the parts add up."""
    lines = ["x" + text.replace("\n", " ").replace("\r", " ").rstrip() for text in hostile(300, seed=5)]
    tokenizer = built("qwen2")
    ended = [line.replace("\u2028", "") + ".x\n" for line in lines]
    assert tokenizer.count("".join(ended)) == sum(tokenizer.count(line) for line in ended)
