"""Quotes found in their source, however a model copied them, at the exact characters; invented ones never."""

from __future__ import annotations

import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume, given, settings, strategies as st

from ollama_kit.guard.control_tokens import BREAK
from ollama_kit.guard.markup import disarm_markup
from ollama_kit.text.locate import FoldedText, locate_all, locate_quote
from tests.guard.vectors import lines_run, vectors
from tests.intensity import examples

CHINESE, LATIN, DIGITS, PUNCTUATION = "甲方乙交付日期逾违约金", "abcXYZé", "0123456789", "，。：；（）、“”,.:;()"
BLANKS = " \n\t\u3000\u00a0"
UNSEEN = "\u200b\u200d\ufeff\u2060\u00ad"
WIDE = {chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)}
KIN = {
    "，": ",",
    "。": ".",
    "：": ":",
    "；": ";",
    "（": "(",
    "）": ")",
    "、": ",",
    "“": '"',
    "”": "\u2033",
    ",": "、",
    ".": "。",
}
INVENTED, MARK = "丑Q", "龘"
source = st.text(st.sampled_from(CHINESE + LATIN + DIGITS + PUNCTUATION + "   \n\u3000"), max_size=80)


def is_word(character: str) -> bool:
    return character in LATIN or character in DIGITS


def copied(text: str, rng: random.Random) -> str:
    """`text` as a careless copyist gives it back: other blanks where a reader sees none, widths, marks, line ends."""
    out: list[str] = []
    for at, character in enumerate(text):
        before, after = text[at - 1 : at], text[at + 1 : at + 2]
        if character in BLANKS:
            run_start = len(text[:at].rstrip(BLANKS))
            run_end = at + len(text[at:]) - len(text[at:].lstrip(BLANKS))
            between_words = is_word(text[run_start - 1 : run_start] or " ") and is_word(
                text[run_end : run_end + 1] or " "
            )
            if between_words and at == run_start:
                out.append(rng.choice(["  ", *BLANKS, "\r\n"]))
            elif not between_words and rng.random() < 0.5:
                out.append(character)
            continue
        if rng.random() < 0.15 and before and not (is_word(before) and is_word(character)) and before not in BLANKS:
            out.append(rng.choice(BLANKS))
        changed = rng.choice([character, WIDE.get(character, character), KIN.get(character, character)])
        out.append(changed)
        if after and rng.random() < 0.1:
            out.append(rng.choice(UNSEEN))
    return "".join(out)


@pytest.mark.parametrize("row", vectors("quotes.jsonl"), ids=lambda row: f"{row['quote']!a}")
def test_quotes_are_found_as_the_text_has_them(row: dict[str, Any]) -> None:
    """What copying changes is forgiven, what changes the meaning is not."""
    span = locate_quote(row["quote"], row["text"])
    assert (None if span is None else row["text"][slice(*span)]) == row["found"]


@given(source, source, source, source, st.randoms(use_true_random=False))
@settings(deadline=None, max_examples=examples(600))
def test_a_copied_slice_is_found_where_it_stands(
    before: str, first: str, second: str, after: str, rng: random.Random
) -> None:
    """A slice, copied with other blanks, widths and marks, is found at its own first and last character."""
    wanted = (first + MARK + second).strip(BLANKS)
    text = before + wanted + after
    quote = copied(wanted, rng)
    assert locate_quote(quote, text) == (len(before), len(before) + len(wanted)), quote


@given(source, st.data())
@settings(deadline=None, max_examples=examples(400))
def test_an_invented_quote_is_not_found(text: str, data: st.DataObject) -> None:
    """One character that the text does not have is enough."""
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    at = data.draw(st.integers(start, end))
    quote = text[start:at] + data.draw(st.sampled_from(INVENTED)) + text[at:end]
    assert locate_quote(quote, text) is None


@given(st.text(st.sampled_from(DIGITS + "甲 .，"), min_size=1, max_size=40), st.data())
@settings(deadline=None, max_examples=examples(400))
def test_another_figure_is_not_found(text: str, data: st.DataObject) -> None:
    """A digit that was changed, left out or doubled makes another figure, unless the text has that too."""
    places = [at for at, character in enumerate(text) if character in DIGITS]
    assume(places)
    at = data.draw(st.sampled_from(places))
    other = data.draw(st.sampled_from(["", text[at] * 2, *(digit for digit in DIGITS if digit != text[at])]))
    quote = f"[{text[:at]}{other}{text[at + 1 :]}]"
    assert locate_quote(quote, f"[{text}]") is None


@given(st.text(max_size=60), st.data())
@settings(deadline=None, max_examples=examples(400))
def test_any_place_found_reads_as_the_quote(text: str, data: st.DataObject) -> None:
    """Whatever the text: each place lies inside it, in order, apart, and reads as the quote when looked for again."""
    start = data.draw(st.integers(0, len(text)))
    quote = text[start : data.draw(st.integers(start, len(text)))]
    spans = locate_all(quote, text)
    assert all(0 <= first < last <= len(text) for first, last in spans)
    assert all(one[1] <= next_one[0] for one, next_one in pairwise(spans))
    for first, last in spans:
        assert locate_quote(quote, text[first:last]) == (0, last - first)


@given(st.text(st.sampled_from("甲乙 ab{%<>[](){}https://e?q=1"), max_size=40), st.data())
@settings(deadline=None, max_examples=examples(300))
def test_breaking_markup_hides_no_quote(text: str, data: st.DataObject) -> None:
    """A model quotes the text it was sent, breaks and all; the quote is found in the caller's own."""
    start = data.draw(st.integers(0, len(text)))
    wanted = text[start : data.draw(st.integers(start, len(text)))].strip()
    assume(wanted)
    sent = disarm_markup(wanted, "x")[0].text
    found = locate_all(sent, text, most=1000)
    assert text.find(wanted) >= 0
    assert found
    assert FoldedText.of(text[slice(*found[0])]).folded == FoldedText.of(wanted.replace(BREAK, "")).folded


def test_all_places_are_given_up_to_the_number_asked_for() -> None:
    """Places come in order and without overlaps."""
    text = "甲方、甲 方、甲\n方"
    assert locate_all("甲方", text) == ((0, 2), (3, 6), (7, 10))
    assert locate_all("甲方", text, most=2) == ((0, 2), (3, 6))
    assert locate_all("aa", "aaaaa") == ((0, 2), (2, 4))
    assert locate_all("丙", text) == ()


def test_a_letter_is_not_found_in_a_letter_with_a_mark() -> None:
    """Marks that no single character stands for belong to their letter too."""
    assert locate_quote("q", "q\u0308 q") == (3, 4)
    assert locate_quote("q\u0308", "q q\u0308") == (2, 4)
    assert locate_quote("e", "é e\u0301 e") == (5, 6)


def test_folding_is_done_once_for_many_quotes() -> None:
    """To look for a quote in a folded text costs no pass over the text in Python."""
    text = FoldedText.of("一、交付 日期；\n二、付款（３０％）。" * 400)
    text.find("二")
    assert lines_run(lambda: text.find("付款(30%)")) < 100
    assert text.find("付款(30%)") == (11, 18)


@pytest.mark.parametrize("unit", [" ", "甲 ", "a \n", "\u200b", "…", "e\u0301", "\u3000，", "ﬁ", "ab "])
def test_work_grows_as_the_text_does(unit: str) -> None:
    """Twice the text is at most twice the work, to fold it and to look in vain."""

    def look(size: int) -> int:
        return lines_run(lambda: FoldedText.of(unit * size + "z").find(unit * 3 + "丙"))

    look(1)
    assert look(3000) <= 2.2 * look(1500) + 20


@pytest.mark.parametrize("unit", [" \u200b", "a ", "\u0301", "\u1100"])
def test_a_long_run_is_read_to_its_end(unit: str) -> None:
    """Patterns do not go back over what they have read: at quadratic cost this would take minutes."""
    text = "甲" + unit * 200_000 + "乙"
    assert locate_quote("乙", text) == (len(text) - 1, len(text))


def test_places_that_almost_fit_do_not_make_a_search_endless() -> None:
    """A quote that ends in half of a character everywhere is given up on."""
    text = FoldedText.of("…" * 20_000)
    assert text.find("." * 4) is None
    assert lines_run(lambda: text.find("." * 4)) < 30_000
