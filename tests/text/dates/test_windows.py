"""Patterns that run only around the words they cannot do without find what they find anywhere."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.text import pattern_search
from ollama_kit.text.dates import written
from ollama_kit.text.figures import amounts, percentages
from ollama_kit.text.folding import FoldedViews
from tests.intensity import examples

PIECES = [
    *(
        "2026",
        "年",
        "3",
        "月",
        "1",
        "日",
        "人民币",
        "元",
        "100,000.00",
        " ",
        "（",
        "大写",
        "壹佰",
        "万",
        "整",
        "）",
        "%",
    ),
    *("百分之", "五", "per", "cent", "percent", "thirty", "(30)", "days", "day", "$", "us$", "1.5", "million", "to"),
    *("-", "至", "march", "1st", "of", "5%", "个", "工作日", "dollars", "five hundred", "hong kong dollars", ",", "."),
    *("分之", "x" * 70, "\n"),
]


@pytest.mark.parametrize(
    "parse",
    [amounts.parse_amounts, percentages.parse_percentages, written.parse_terms, written.parse_dates],
)
@settings(deadline=None, max_examples=examples(150))
@given(st.lists(st.sampled_from([f"{piece}{gap}" for piece in PIECES for gap in ("", " ")]), max_size=20))
def test_nothing_is_lost_between_windows(parse: object, pieces: list[str]) -> None:
    """Against the same parser with every pattern run over the whole text."""
    assert callable(parse)
    text = "".join(pieces)
    near = parse(text)
    with pytest.MonkeyPatch.context() as patch:
        for module in (amounts, percentages, written):
            patch.setattr(module, "matches_near", lambda pattern, inside, *_: pattern.finditer(inside))
        assert near == parse(text)


@settings(deadline=None, max_examples=examples(100))
@given(st.text(alphabet="ab.", max_size=80), st.integers(0, 9), st.integers(0, 9))
def test_windows_are_apart_and_hold_every_anchor(text: str, before: int, behind: int) -> None:
    """In order, none longer than the text, their sum no more than it."""
    spans = list(pattern_search.windows(text, pattern_search.any_of(["a"]), before, behind))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(first[1] < second[0] for first, second in pairwise(spans))
    for at, character in enumerate(text):
        if character == "a":
            assert any(start <= at < end for start, end in spans)


def test_a_folded_text_is_not_folded_again() -> None:
    """Dates that were found are taken as they are."""
    seen = FoldedViews.of("自2026年3月1日起至2027年2月28日止，共12个月")
    dates = written.dates_in(seen)
    assert written.terms_in(seen, dates) == written.parse_terms(seen.text)
    assert [type(one).__name__ for one in written.terms_in(seen, ())] == ["Term"]
