"""The readers' work grows with the text and no faster."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from ollama_kit.text.dates import parse_dates, parse_terms
from ollama_kit.text.figures import parse_amounts, parse_percentages


def calls_made(parse: Callable[[str], Any], text: str) -> int:
    """How many functions, ours and the interpreter's, one reading enters."""
    made = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        parse(text)
    finally:
        sys.setprofile(before)
    return made


@pytest.mark.parametrize("parse", [parse_dates, parse_terms, parse_amounts, parse_percentages])
@pytest.mark.parametrize(
    "unit", ["5%（", "1元（", "三年", "每日", "one ", "2026年3月1日至", "万分之五", "1,", "人民币"]
)
def test_twice_the_text_is_twice_the_work(parse: Callable[[str], Any], unit: str) -> None:
    """Counted in calls: no find looks at all the finds before it."""
    parse(unit)
    once, twice = (calls_made(parse, unit * times) for times in (300, 600))
    assert twice <= 2.1 * once + 50
