"""Thinking and answer told apart: at the start only, balanced, by every family's tags, whole and as it streams."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ollama_kit.structured.thinking import TAGS, read_thinking, strip_thinking, thinking_tags

HARMONY = "<|channel|>analysis<|message|>hmm<|end|><|start|>assistant<|channel|>final<|message|>Hello<|return|>"


@pytest.mark.parametrize("pair", TAGS)
def test_each_familys_tags_hold_thinking(pair: tuple[str, str]) -> None:
    opening, closing = pair
    assert strip_thinking(f"\n{opening}\na{closing}\n\nHello") == ("a", "Hello")
    assert strip_thinking(f"a{closing}\nHello") == ("a", "Hello")
    assert strip_thinking(f"{opening}never ended") == ("never ended", "")


def test_channels_are_thinking_but_the_final_one() -> None:
    assert strip_thinking(HARMONY) == ("hmm", "Hello")
    assert strip_thinking("<|start|>assistant" + HARMONY) == ("hmm", "Hello")
    assert strip_thinking("<|channel|>analysis<|message|>cut") == ("cut", "")
    assert strip_thinking("<|channel|>final<|message|>only") == ("", "only")


@pytest.mark.parametrize(
    "text",
    [
        "Use `<think>draft</think>` as the example tag in the prompt.",
        "Sure. <think>so</think> Done.",
        'The tag "</think>" ends it.',
        "The tag `</think>` ends it, and `<think>` begins it.",
        "标签“</think>”表示结束。",
        '{"a": "<think>x</think>"}',
        "<thin",
        "<|channel",
        "",
    ],
)
def test_what_is_only_talked_about_is_text(text: str) -> None:
    assert strip_thinking(text) == ("", text)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (
            "<think>Outer <think>inner</think> continues</think>Visible",
            ("Outer <think>inner</think> continues", "Visible"),
        ),
        ("<think>it said <think> once</think>Visible", ("it said <think> once", "Visible")),
        ("<think>I write `</think>` last</think>Visible", ("I write `</think>` last", "Visible")),
        ('<think>not "</think>" yet</think>Visible', ('not "</think>" yet', "Visible")),
        ("<think></think>Visible", ("", "Visible")),
        ("<think>a</think><think>b</think>Visible", ("a\n\nb", "Visible")),
        ("<think>a</think>Visible <think>b</think>", ("a", "Visible <think>b</think>")),
    ],
)
def test_blocks_are_balanced(text: str, parts: tuple[str, str]) -> None:
    assert strip_thinking(text) == parts


def test_a_vocabularys_own_pair_counts_besides() -> None:
    tags = thinking_tags(["<deep_think>", "</deep_think>", "<lone_think>", "<b>", "</b>"])
    assert strip_thinking("<deep_think>a</deep_think>b", tags) == ("a", "b")
    assert strip_thinking("<lone_think>a", tags) == ("", "<lone_think>a")


@given(
    st.lists(st.sampled_from([*(tag for pair in TAGS[:2] for tag in pair), "a", " ", "\n", "`", '"', "<", "<th"])),
    st.data(),
)
def test_what_a_stream_is_sure_of_is_what_the_whole_says(pieces: list[str], data: st.DataObject) -> None:
    """Once thinking is over in a part of a text, it is over in the whole, and the rest goes on from there."""
    text = "".join(pieces)
    whole = strip_thinking(text)
    cut = data.draw(st.integers(0, len(text)))
    part = read_thinking(text[:cut], ended=False)
    if part.thinking and not part.is_open and part.rest:
        assert (whole[0], whole[1].startswith(part.rest)) == (part.thinking, True)


def test_work_grows_with_the_text() -> None:
    """A line of nothing but tags ends, whatever its length."""
    text = "<think>" + "`</think> " * 100_000
    assert strip_thinking(text)[0]
