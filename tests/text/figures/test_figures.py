"""Numbers, capitals, money and percentages, written and read back."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.text.figures import (
    chinese_numeral,
    from_chinese_capital,
    parse_amounts,
    parse_percentages,
    to_chinese_capital,
)
from ollama_kit.text.figures.numerals import english_number
from tests.intensity import examples

DATA = Path(__file__).parents[2] / "data" / "dates" / "figures.jsonl"
AMOUNTS = st.integers(0, 10**18 - 1).map(lambda cents: Decimal(cents).scaleb(-2)) | st.integers(0, 10**9).map(
    lambda cents: Decimal(cents).scaleb(-2)
)
NOISE = st.text("合同总价为，。；\n the price is", max_size=12).map(lambda text: text + " ")
FULL_WIDTH = {48 + digit: 0xFF10 + digit for digit in range(10)}


def rows() -> list[Any]:
    lines = DATA.read_text(encoding="utf-8").splitlines()
    return [pytest.param(json.loads(line), id=str(number)) for number, line in enumerate(lines, start=1)]


@pytest.mark.parametrize("row", rows())
def test_a_vector_is_read_as_written_there(row: dict[str, Any]) -> None:
    """Numbers, capitals, amounts and percentages from the file."""
    text, want = row["text"], row["want"]
    if row["kind"] == "numeral":
        assert chinese_numeral(text) == Fraction(want)
    elif row["kind"] == "capital":
        assert from_chinese_capital(text) == Decimal(want)
        assert not row.get("canonical", True) or to_chinese_capital(Decimal(want)) == text
    elif row["kind"] == "amount":
        assert [[one.text, str(one.value), one.currency, one.conflict] for one in parse_amounts(text)] == want
    else:
        found = parse_percentages(text)
        assert [[one.text, str(one.low), str(one.high), one.per, one.conflict] for one in found] == want


@pytest.mark.parametrize("text", ["", "一二百", "百十百", "abc", "一百千", "十万亿亿", "点五", "三分之", "一百二十三x"])
def test_what_is_no_number_is_an_error(text: str) -> None:
    """Nothing is half read."""
    with pytest.raises(ValueError, match="not a number"):
        chinese_numeral(text)


@pytest.mark.parametrize("text", ["", "元整", "壹万伍元", "人民币", "壹佰万", "壹贰叁元整", "壹元伍"])
def test_what_is_no_amount_in_capitals_is_an_error(text: str) -> None:
    """A bill's amount is whole: no digit lacks its unit, and 元 is there."""
    with pytest.raises(ValueError, match="not an amount"):
        from_chinese_capital(text)


@pytest.mark.parametrize("amount", ["-1", "0.001", "1e16", "NaN", "Infinity"])
def test_what_a_bill_can_not_say_is_an_error(amount: str) -> None:
    """Negative, finer than a fen, or too large."""
    with pytest.raises(ValueError, match="not an amount"):
        to_chinese_capital(Decimal(amount))


@given(AMOUNTS)
@settings(deadline=None, max_examples=examples(300))
def test_capitals_are_read_back(amount: Decimal) -> None:
    """Writing and reading are inverse, no zero is doubled, and the form is of a bill."""
    written = to_chinese_capital(amount)
    assert from_chinese_capital(written) == amount
    assert to_chinese_capital(from_chinese_capital(f"人民币{written}")) == written
    assert "零零" not in written
    assert "零元" not in written or amount == 0
    assert written.endswith("整") == (amount == amount.to_integral_value())


@given(st.integers(1, 10**12))
@settings(deadline=None, max_examples=examples(200))
def test_numerals_of_both_styles_are_the_same_number(number: int) -> None:
    """The everyday characters of a number are the capitals, one for one."""
    capitals = to_chinese_capital(Decimal(number)).removesuffix("元整")
    everyday = capitals.translate(str.maketrans("壹贰叁肆伍陆柒捌玖拾佰仟", "一二三四五六七八九十百千"))
    assert chinese_numeral(capitals) == chinese_numeral(everyday) == number


@given(st.integers(0, 99), st.text("合同总价为，。\n ", max_size=9))
@settings(deadline=None, max_examples=examples(60))
def test_english_words_are_read(number: int, noise: str) -> None:
    """A number below a hundred in words, in a percentage and in dollars."""
    ones = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ]
    tens = ["_", "_", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
    words = ones[number] if number < 20 else tens[number // 10] + (f"-{ones[number % 10]}" if number % 10 else "")
    assert english_number(words) == number
    (share,) = parse_percentages(f"{noise}{words} percent ({number}%) of")
    assert (share.low, share.conflict) == (Fraction(number, 100), False)
    (amount,) = parse_amounts(f"{noise}{words.title()} Thousand US Dollars") if number else [None]
    assert amount is None or amount.value == number * 1000


MONEY = st.integers(1, 10**13).map(lambda cents: Decimal(cents).scaleb(-2))


@given(MONEY, NOISE, NOISE)
@settings(deadline=None, max_examples=examples(150))
def test_an_amount_is_read_back_from_any_form(amount: Decimal, before: str, after: str) -> None:
    """Figures with and without commas, full-width ones, capitals and the pair of both."""
    words = to_chinese_capital(amount)
    yuan = words if "元" in words else f"零元{words}"
    for written in (
        f"人民币 {amount:,.2f} 元",
        f"￥{amount:,.2f}",
        f"RMB {amount:.2f}",
        f"{amount:.2f}元".translate(FULL_WIDTH),
        f"人民币{yuan}",
        f"人民币 {amount:,.2f} 元（大写：{yuan}）",
        f"人民币{yuan}（￥{amount:,.2f}）",
    ):
        (found,) = parse_amounts(f"{before}{written} {after}")
        assert (found.text, found.start) == (written, len(before))
        assert (found.value, found.currency, found.conflict) == (amount, "CNY", False)


@given(MONEY, MONEY)
@settings(deadline=None, max_examples=examples(60))
def test_a_pair_that_differs_is_a_conflict(figures: Decimal, words: Decimal) -> None:
    """The words are the value."""
    figures, words = figures + 1, words + 1
    (found,) = parse_amounts(f"￥{figures:,.2f}（大写：人民币{to_chinese_capital(words)}）")
    assert (found.figures, found.words, found.value) == (figures, words, words)
    assert found.conflict == (figures != words)


@given(st.integers(1, 9999), st.integers(1, 9999), NOISE)
@settings(deadline=None, max_examples=examples(100))
def test_a_percentage_is_read_back_from_any_form(hundredths: int, other: int, noise: str) -> None:
    """Per cent, per mille, per ten thousand, ranges and rates."""
    low, high = sorted((Fraction(hundredths, 10**4), Fraction(other, 10**4)))
    first, last = (f"{value * 100:.2f}" for value in map(float, (low, high)))
    numeral = to_chinese_capital(Decimal(hundredths)).removesuffix("元整")
    share = Fraction(hundredths, 10**4)
    for written, want in (
        (f"{first}%", (low, low)),
        (f"{first}%-{last}%", (low, high)),
        (f"{first}％至{last}％", (low, high)),
        (f"万分之{numeral}", (share, share)),
        (f"万分之{hundredths}", (share, share)),
        (f"{hundredths}‱", (share, share)),
        (f"{first} percent", (low, low)),
    ):
        (found,) = parse_percentages(f"{noise}{written}，")
        assert (found.text, found.low, found.high, found.per) == (written, *want, None)


@given(st.text("人民币壹佰万元整（大写：￥1,000.50%-百分之五日/USDmillion 至）", max_size=60))
@settings(deadline=None, max_examples=examples(300))
def test_any_text_gives_spans_in_order(text: str) -> None:
    """No text is an error; finds do not overlap, and each stands where it says."""
    for parse in (parse_amounts, parse_percentages):
        at = 0
        for found in parse(text):  # type: ignore[operator]
            assert at <= found.start < found.end <= len(text)
            assert text[found.start : found.end] == found.text
            at = found.end
