"""Hidden characters: what is taken out, what stays, and what the findings say."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.guard.normalize import normalize_text
from ollama_kit.records.report import MOST_FINDINGS
from tests.guard.vectors import lines_run, vectors
from tests.intensity import examples

SUSPECTS = (
    "\x00\x0c\x1b\x85\u00ad\u034f\u115f\u1160\u180b\u180e\u200b\u200c\u200d\u200e\u2060\u202e\u2066\ufe00\ufe0e\ufe0f"
    "\ufeff\ud83d\ude00\udb40\udc41\U000e0041\U000e0067\U000e0062\U000e0065\U000e007f\U000e0100\U000e0161"
)
NEIGHBORS = "ab1 \n葛。❤👩🏽🏴\u20e3م\u200fकไ\u1820\u1100\u1161\u0301∩"
hostile = st.text(st.sampled_from(SUSPECTS + NEIGHBORS), max_size=24)
anything = st.text(st.characters(), max_size=40) | hostile


@pytest.mark.parametrize("row", vectors("kept.jsonl"), ids=lambda row: row["what"])
def test_what_belongs_to_the_writing_stays(row: dict[str, Any]) -> None:
    """Emoji, joiners of scripts, variants of ideographs and blanks are left as they are, without a finding."""
    changed, findings = normalize_text(row["text"], "document 0")
    assert (changed.text, findings) == (row["text"], ())


@pytest.mark.parametrize("row", vectors("hidden.jsonl"), ids=lambda row: row["what"])
def test_what_hides_is_taken_out_and_named(row: dict[str, Any]) -> None:
    """Each way of hiding is found with its rule, severity and place, and the hidden text is in the detail."""
    changed, findings = normalize_text(row["text"], "document 3")
    assert changed.text == row["clean"]
    assert [[f.rule, f.severity, *f.span] for f in findings] == [found[:4] for found in row["findings"]]
    assert all(found[4] in f.detail for f, found in zip(findings, row["findings"], strict=True))
    assert {(f.stage, f.source, f.action) for f in findings} == {("normalize", "document 3", "removed")}


def test_two_surrogates_that_make_a_character_become_it() -> None:
    """Half-decoded text is mended: a family of emoji, joiner and all, comes out whole."""
    changed, findings = normalize_text("\ud83d\udc69\u200d\ud83d\udc69!", "x")
    assert changed.text == "👩\u200d👩!"
    assert [(f.rule, f.severity, f.span) for f in findings] == [("surrogate_pair", "info", (0, 5))]
    assert changed.map.span(2, 3) == (3, 5)


def test_tags_written_as_surrogates_are_read() -> None:
    """To write hidden characters in halves hides them no better."""
    text = "a" + "".join("\udb40" + chr(0xDC00 + ord(letter)) for letter in "obey") + "b"
    changed, (finding,) = normalize_text(text, "x")
    assert changed.text == "ab"
    assert (finding.severity, finding.span, finding.detail) == ("high", (1, 9), "hides 'obey'")


@given(anything)
@settings(deadline=None, max_examples=examples(600))
def test_a_second_run_changes_nothing(text: str) -> None:
    """Normalizing is idempotent, and what is clean has no findings."""
    once, _ = normalize_text(text, "x")
    twice, findings = normalize_text(once.text, "x")
    assert (twice.text, findings) == (once.text, ())


@given(anything)
@settings(deadline=None, max_examples=examples(300))
def test_every_character_that_stays_leads_back_to_itself(text: str) -> None:
    """The map points at the same character of the caller's text, but for what was replaced by a better one."""
    changed, findings = normalize_text(text, "x")
    for at, character in enumerate(changed.text):
        original = text[changed.map.original(at)]
        assert (
            original == character
            or (character == "\n" and original in "\x0b\x0c\x85")
            or "\ud800" <= original <= "\udbff"
        )
    assert bool(findings) == (changed.text != text)
    assert all(0 <= f.span[0] < f.span[1] <= len(text) for f in findings)


@given(st.text(st.characters(), max_size=60))
@settings(deadline=None, max_examples=examples(300))
def test_the_result_can_be_sent(text: str) -> None:
    """What comes out is valid Unicode without NUL, and no visible letter was lost."""
    changed, _ = normalize_text(text, "x")
    assert b"\x00" not in changed.text.encode("utf-8")
    assert [c for c in changed.text if c.isalnum()] == [c for c in _joined(text) if c.isalnum()]


def _joined(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")


HOSTILE = [
    "a\u200b",
    "\u200b\x00",
    "\ud83d",
    "\ud83d\ude00",
    "👩\u200d",
    "🏴\U000e0067\U000e0062",
    "\u200e\u200c",
    "葛\U000e0161   ",
]


@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_work_grows_as_the_text_does(unit: str) -> None:
    """Twice the text is at most twice the work, whatever it is made of."""
    normalize_text(unit, "x")
    once, twice = (lines_run(lambda size=size: normalize_text(unit * size, "x")) for size in (1500, 3000))
    assert twice <= 2.2 * once


@pytest.mark.slow
@pytest.mark.parametrize("unit", HOSTILE, ids=ascii)
def test_a_report_stays_short(unit: str) -> None:
    """A text made of nothing but faults gives a bounded number of findings, which span all of them."""
    text = (unit + "  -- ") * 20_000
    _, findings = normalize_text(text, "x")
    assert len(findings) <= 3 * MOST_FINDINGS
    assert max((f.span[1] for f in findings), default=len(text)) > len(text) - 20
