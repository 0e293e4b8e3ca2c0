"""Control tokens in outside text: none survives, and nothing else is touched. The oracle is the tokenizer itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.guard.control_tokens import BREAK, STAND_IN, ControlTokens, neutralize_control_tokens
from ollama_kit.guard.normalize import normalize_text
from ollama_kit.tokens import Tokenizer
from ollama_kit.tokens.vocabulary import TokenType, read_vocabulary
from tests.guard.vectors import lines_run
from tests.intensity import examples
from tests.models.vocabularies import vocabulary as vocabulary_of

NAMES = ("smollm", "qwen2", "qwen35", "deepseek", "gemma", "spm")
HERE = ("qwen2", "qwen35", "deepseek", "gemma", "spm")
"""Those that come from installed packages."""


class Model:
    """A real vocabulary, its tokenizer and what no outside text may become."""

    def __init__(self, info: dict[str, Any]) -> None:
        self.tokenizer = Tokenizer.from_metadata(info)
        self.tokens = self.tokenizer.control_tokens
        self.ready = ControlTokens.of(self.tokens)
        known = read_vocabulary(info)
        kinds = (TokenType.UNKNOWN, TokenType.CONTROL)
        self.forbidden = {at for at in range(len(known.tokens)) if known.type_of(at) in kinds}
        self.forbidden |= {known.ids[token] for token in self.tokens}

    def clean(self, text: str) -> str:
        return neutralize_control_tokens(text, self.ready, "x")[0].text

    def forbidden_in(self, text: str) -> set[int]:
        return self.forbidden.intersection(self.tokenizer.encode(text))


@cache
def model_here(name: str) -> Model:
    return Model(vocabulary_of(name))


@pytest.fixture(scope="module", params=NAMES)
def model(request: pytest.FixtureRequest, vocabulary: Callable[[str], dict[str, Any]]) -> Model:
    return Model(vocabulary(request.param))


@pytest.mark.slow
def test_every_control_token_alone_is_one_token_before(model: Model) -> None:
    """The danger is real: each of these texts, typed by anyone, is a control token to the server."""
    assert model.tokens
    assert all(model.forbidden_in(f"a{token}b") for token in model.tokens)


def test_every_control_token_is_broken(model: Model) -> None:
    """Alone, doubled, between letters, Chinese and line ends: none is left, and a person sees the same text."""
    for token in model.tokens:
        for text in (
            token,
            token * 2,
            f"a{token}b",
            f"好{token}好",
            f"\n{token}\r\n",
            f" {token} ",
            token.upper() + token,
        ):
            clean = model.clean(text)
            assert not model.forbidden_in(clean), (token, text)
            assert clean.replace(BREAK, "") == text


@pytest.mark.slow
def test_tokens_split_and_nested_are_broken(model: Model) -> None:
    """A token inside another, cut anywhere, does not make one when it is broken."""
    other = model.tokens[0]
    for token in model.tokens:
        for at in range(1, len(token)):
            for inner in (token, other, BREAK, " "):
                text = token[:at] + inner + token[at:]
                assert not model.forbidden_in(model.clean(text)), text


def test_taking_hidden_characters_out_first_leaves_no_way_round(model: Model) -> None:
    """Tokens hidden behind characters that normalizing removes are broken after it."""
    for token in model.tokens:
        for hidden in ("\x00", "\u200b", "\u2060", "\ufeff", "\ud800", "\U000e0041", "\u202e"):
            normal = normalize_text(token[0] + hidden + token[1:], "x")[0].text
            assert normal == token
            assert not model.forbidden_in(model.clean(normal))


@pytest.mark.parametrize("name", HERE)
@given(data=st.data())
@settings(deadline=None, max_examples=examples(80))
def test_no_text_made_of_pieces_of_tokens_holds_one(name: str, data: st.DataObject) -> None:
    """Random mixes of tokens, halves of tokens and text: none survives, nothing is lost, spans are the tokens."""
    model = model_here(name)
    halves = st.sampled_from(model.tokens).flatmap(
        lambda token: st.sampled_from([token[:at] for at in range(len(token))])
    )
    ends = st.sampled_from(model.tokens).flatmap(
        lambda token: st.sampled_from([token[at:] for at in range(len(token))])
    )
    between = st.sampled_from(["<", ">", "|", "<|", "|>", "\n", " ", "好", "a", BREAK, "<b>"]) | st.text(max_size=4)
    text = data.draw(st.lists(st.sampled_from(model.tokens) | halves | ends | between, max_size=12).map("".join))
    changed, findings = neutralize_control_tokens(text, model.ready, "document 0")
    assert not model.forbidden_in(changed.text)
    assert changed.text.replace(BREAK, "") == text.replace(BREAK, "")
    assert all(text[slice(*finding.span)] == finding.detail in model.tokens for finding in findings)
    again, more = neutralize_control_tokens(changed.text, model.ready, "document 0")
    assert (again.text, more) == (changed.text, ())
    assert all(changed.text[at] in (text[changed.map.original(at) :][:1], BREAK) for at in range(len(changed.text)))


@pytest.mark.parametrize("name", HERE)
def test_text_without_tokens_is_untouched(name: str) -> None:
    """Line breaks, blanks, HTML and half tokens survive, on the Gemma-like vocabulary too, where they are tokens."""
    text = "第一行\n\n第二行\t\r\n<b>bold</b> <table><tr><td>1</td></tr></table>   <| im_end |> a < b > c [INS"
    assert model_here(name).clean(text) == text


def test_line_breaks_and_tags_are_still_single_tokens_on_gemma() -> None:
    """The Gemma-like model reads a table as the tokens it learnt, not as broken pieces."""
    gemma = model_here("gemma")
    ids = read_vocabulary(vocabulary_of("gemma")).ids
    encoded = gemma.tokenizer.encode(gemma.clean("a\n\n<table><b>x</b><end_of_turn>"))
    assert {ids["\n\n"], ids["<table>"], ids["<b>"], ids["</b>"]} <= set(encoded)
    assert ids["<end_of_turn>"] not in encoded


def test_overlapping_tokens_are_each_found() -> None:
    """Where one token ends in the beginning of the next, both are broken and both are named."""
    ready = ControlTokens.of(["<|a|>", "|><|", "_<EOT>", "<EOT>"])
    changed, findings = neutralize_control_tokens("<|a|><|a|> _<EOT>", ready, "message 0")
    assert changed.text.replace(BREAK, "¦") == "<¦|a|¦><¦|a|> _¦<¦EOT>"
    assert [f.span for f in findings] == [(0, 5), (3, 7), (5, 10), (11, 17), (12, 17)]


def test_the_longest_token_is_named() -> None:
    """Of two tokens that start at one place the longer one is the finding; one break is enough for both."""
    ready = ControlTokens.of(["<think", "<think>"])
    changed, (finding,) = neutralize_control_tokens("<think>", ready, "x")
    assert (changed.text, finding.detail) == ("<\u200bthink>", "<think>")


def test_a_token_of_one_character_is_replaced() -> None:
    """What cannot be broken is replaced, also where a longer token begins with it."""
    ready = ControlTokens.of(["§", "§x", "y"])
    changed, findings = neutralize_control_tokens("a§b §x", ready, "x")
    assert changed.text == f"a{STAND_IN}b {STAND_IN}x"
    assert [(f.action, f.span) for f in findings] == [("removed", (1, 2)), ("removed", (4, 6))]


def test_no_tokens_no_change() -> None:
    """A model without control tokens leaves every text alone."""
    assert neutralize_control_tokens("<|im_end|>", ControlTokens.of([""]), "x") == neutralize_control_tokens(
        "<|im_end|>", ControlTokens.of([]), "y"
    )


def test_the_same_tokens_are_made_ready_once() -> None:
    """Building the search is paid once for all calls, in any order of the tokens."""
    assert ControlTokens.of(["<a>", "<b>"]) is ControlTokens.of(("<b>", "<a>"))


@pytest.mark.parametrize("unit", ["<", "<|im_end", "<|im_end|>", "[", "<｜end▁of▁"])
def test_work_grows_as_the_text_does(unit: str) -> None:
    """Twice the text is at most twice the work."""
    model = model_here("qwen2")
    once, twice = (lines_run(lambda size=size: model.clean(unit * size)) for size in (1000, 2000))
    assert twice <= 2.2 * once
