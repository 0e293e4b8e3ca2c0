"""Where a text may be cut; the oracle is the `regex` package's `\\X`, which knows all of UAX #29."""

from __future__ import annotations

from itertools import accumulate

import pytest
import regex
from hypothesis import given, settings, strategies as st

from ollama_kit.guard.fit import middle_out
from ollama_kit.guard.sanitize import Draft
from ollama_kit.text.characters import cut_after, cut_before, may_cut
from tests.guard.vectors import lines_run
from tests.intensity import examples

PIECES = (
    *("👨‍👩‍👧‍👦", "👩🏽‍🚀", "🏳️‍🌈", "❤️", "1️⃣", "🇨🇳🇩🇪", "🇨", "🏴\U000e0067\U000e0062\U000e007f", "👍🏿", "☺︎", "©"),
    *(
        "e\u0301",
        "a\u0300\u0323",
        "\u0301",
        "각",
        "\u1100\u1161\u11a8",
        "한",
        "\ud7cb",
        "\ua960",
        "\u1160",
        "\u1100가",
        "가나",
    ),
    *("\r\n", "\r", "\n", "\r\n\r\n", "क्षि", "क्‍ष", "நி", "ที่", "กำ", "ສຳ", "മ്മ", "ൎക", "\u0600١", "\U000110bdक", "ꣳ"),
    *(
        "中文",
        "，",
        "。",
        "\u3000",
        " ",
        "abc",
        "\u200b",
        "\u200c",
        "\u200d",
        "\u2060",
        "\ufeff",
        "か\u3099",
        "葛\U000e0100",
    ),
    *("\u0e33", "\u0eb3", "\U0001133e", "\u09be", "\u200d👧", "\u0903", "\U00011f02क", "\u1b44", "ᬓ᭄ᬓ", "᪥", "\u2028"),
)

texts = st.lists(st.one_of(st.sampled_from(PIECES), st.characters(), st.sampled_from("🇦👦é\u0301ि")), max_size=40).map(
    "".join
)


def boundaries(text: str) -> set[int]:
    """Where the oracle allows a cut, both ends included."""
    return {0, *accumulate(len(cluster) for cluster in regex.findall(r"\X", text))}


@given(texts)
@settings(deadline=None, max_examples=examples(600))
def test_no_cut_is_allowed_inside_what_a_reader_sees_as_one_character(text: str) -> None:
    """Emoji, combining marks, Hangul, flags, line ends, Indic conjuncts."""
    allowed = {at for at in range(len(text) + 1) if may_cut(text, at)}
    assert allowed <= boundaries(text)


@given(texts, st.integers(0, 60))
@settings(deadline=None, max_examples=examples(300))
def test_both_cuts_are_boundaries_and_on_their_side(text: str, at: int) -> None:
    """The head ends not after, and the tail begins not before, the place that was asked for."""
    at = min(at, len(text))
    assert cut_before(text, at) <= at <= cut_after(text, at)
    assert {cut_before(text, at), cut_after(text, at)} <= boundaries(text)


def test_plain_text_may_be_cut_anywhere() -> None:
    """The rule keeps more together than it must, but not what people write most."""
    text = "The price is 5 €；价格是五欧元。\n第二段"
    assert all(may_cut(text, at) for at in range(len(text) + 1))


@pytest.mark.parametrize("end", ["\n", "。", "！", "？", "!", "?"])
def test_the_end_of_a_sentence_close_by_is_preferred(end: str) -> None:
    """On either side."""
    text = f"{'a' * 50}{end}{'b' * 200}{end}{'c' * 50}"
    assert cut_before(text, 60) == 51
    assert cut_after(text, 240) == 252
    assert cut_before(text, 200) == 200
    assert cut_after(text, 100) == 100


def test_a_cluster_without_end_is_looked_at_once() -> None:
    """A letter with a hundred thousand accents is one character: finding its ends takes linear work."""
    from ollama_kit.guard.conversation import Document, Message

    def work(accents: int) -> int:
        text = "a" + "\u0301" * accents + "b"
        draft = Draft((Message("user", "x"),), (Document(text),))
        return lines_run(lambda: middle_out(draft, lambda shorter: len(shorter.documents[0].text) < 200))

    assert work(4000) < 2.5 * work(2000)
