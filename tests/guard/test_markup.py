"""Markup in untrusted text: broken where it would act, readable as before."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from ollama_kit.guard.control_tokens import BREAK, ControlTokens, neutralize_control_tokens
from ollama_kit.guard.markup import disarm_markup
from ollama_kit.guard.normalize import normalize_text
from ollama_kit.records.report import MOST_FINDINGS
from tests.guard.vectors import lines_run, vectors
from tests.intensity import examples

SHOWN_BREAK = "¦"
PIECES = [
    *("{", "}", "%", "#", "{{", "}}", "{%", "%}", "<", ">", "/", "script", "<img", "src", "href", "=", '"', "'", "on"),
    *("click", "onload", "](", "]:", "[", "![", "]", "(", ")", "https://", "//", "e.example", "?q=1", "javascript:"),
    *("url(", " ", "\n", "\t", "&#", "\\", "x", "图", "1.2.3.4", "@", "data:text/html", "mailto:", ":", "-"),
]
markup_like = st.lists(st.sampled_from(PIECES), max_size=16).map("".join)


@pytest.mark.parametrize("row", vectors("markup.jsonl"), ids=lambda row: row["what"])
def test_markup_is_broken_where_it_begins_to_act(row: dict[str, Any]) -> None:
    """Each kind of markup is broken at the expected places, with rule, severity and the piece itself as span."""
    text = row["inert"].replace(SHOWN_BREAK, "")
    changed, findings = disarm_markup(text, "document 1")
    assert changed.text.replace(BREAK, SHOWN_BREAK) == row["inert"]
    assert [[f.rule, f.severity, text[slice(*f.span)]] for f in findings] == row["findings"]
    assert {f.action for f in findings} == {"neutralized" if SHOWN_BREAK in row["inert"] else "flagged"}


@pytest.mark.parametrize("row", vectors("plain_markup.jsonl"), ids=lambda row: row["text"])
def test_what_only_looks_like_markup_is_left_alone(row: dict[str, Any]) -> None:
    """Contracts, chats and code with brackets and colons give no finding and stay as they are."""
    changed, findings = disarm_markup(row["text"], "document 1")
    assert (changed.text, findings) == (row["text"], ())


@given(markup_like)
@example("](](&#")  # an address that ends at a link must end there when that one is broken
@settings(deadline=None, max_examples=examples(1500))
def test_a_second_run_changes_nothing(text: str) -> None:
    """Disarming is idempotent: to break one sign never makes another of what is left."""
    once, _ = disarm_markup(text, "x")
    twice, _ = disarm_markup(once.text, "x")
    assert twice.text == once.text


@given(markup_like | st.text(max_size=60))
@settings(deadline=None, max_examples=examples(500))
def test_a_person_reads_the_same_text(text: str) -> None:
    """Nothing is taken out, each character leads back to itself, and every break has a finding around it."""
    changed, findings = disarm_markup(text, "x")
    breaks = [at for at, character in enumerate(changed.text) if character == BREAK]
    kept = [at for at in range(len(changed.text)) if text[changed.map.original(at) :][:1] == changed.text[at]]
    assert len(kept) >= len(text)
    if BREAK not in text:
        assert changed.text.replace(BREAK, "") == text
        for at in breaks:
            place = changed.map.original(at)
            assert any(f.span[0] < place < f.span[1] for f in findings if f.action == "neutralized")


TOKENS = ControlTokens.of(["<|im_end|>", "<think>", "</s>", "[INST]"])
HIDDEN = ["\u200b", "\u200d", "\ufeff", "\x00", "\ufe0f", "❤", "ไ", "م", "<|im_end|>", "<|im", "[INST]", "<think>"]


def sanitized(text: str) -> tuple[str, list[tuple[int, int]]]:
    """The three stages that change text for safety, in their order, with the way back of each character."""
    first, _ = normalize_text(text, "x")
    second, _ = neutralize_control_tokens(first.text, TOKENS, "x")
    third, _ = disarm_markup(second.text, "x")
    spans = [(at, at + 1) for at in range(len(third.text))]
    for changed in (third, second, first):
        spans = [changed.map.span(*span) for span in spans]
    return third.text, spans


@given(st.lists(st.sampled_from(PIECES + HIDDEN), max_size=14).map("".join))
@settings(deadline=None, max_examples=examples(800))
def test_the_stages_together_are_idempotent(text: str) -> None:
    """What normalizing, breaking and disarming made is made again of itself; every character leads back to its own."""
    once, spans = sanitized(text)
    assert sanitized(once)[0] == once
    assert not list(TOKENS.spans(once))
    assert all(text[slice(*span)] == shown for shown, span in zip(once, spans, strict=True) if shown != BREAK)


@given(markup_like)
@settings(deadline=None, max_examples=examples(500))
def test_no_opener_is_left(text: str) -> None:
    """However it is nested, no brace pair and no script survives."""
    inert = disarm_markup(text, "x")[0].text.lower()
    for sign in ("{{", "{%", "{#", "<script>", "<script/", "](javascript:", "](//e.example?q", "](https://e.example?q"):
        assert sign not in inert


def test_openers_beyond_the_last_few_are_broken_all_the_same() -> None:
    """However many stand open, each is broken; the last ones are still matched with what closes them."""
    text = "{{ " * 200 + "a" + " }} %}" * 200
    changed, findings = disarm_markup(text, "x")
    assert changed.text == text.replace("{{", f"{{{BREAK}{{")
    assert findings[-1].span[0] < 600 < max(f.span[1] for f in findings)


HOSTILE = [
    *(
        "{{",
        "{",
        "{{ }}",
        "{{ %}",
        "%}",
        "{% }}",
        "}",
        "<",
        "<img ",
        "<script",
        "<a",
        "onclick",
        "onclick ",
        "src=",
        "=",
        " =",
        "x=",
        "href= ",
    ),
    *(
        "url(",
        "](",
        "](https:",
        "](<",
        "]:",
        "[",
        "![",
        "[a](",
        "](\n",
        "](x]",
        "<https://",
        "a:",
        "](https://e?q=",
        "]((",
    ),
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_work_grows_as_the_text_does(unit: str) -> None:
    """Twice the text is at most twice the work, whatever it is made of."""
    disarm_markup(unit, "x")
    once, twice = (lines_run(lambda size=size: disarm_markup(unit * size, "x")) for size in (1000, 2000))
    assert twice <= 2.2 * once


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_long_text_of_openers_is_read_to_its_end(unit: str) -> None:
    """Patterns do not go back over what they have read: at quadratic cost this would take minutes."""
    text = unit * 30_000
    changed, findings = disarm_markup(text, "x")
    assert len(findings) <= 4 * MOST_FINDINGS
    assert changed.text.replace(BREAK, "") == text
