"""What proves a value: quotes that stand in the contract, and hold every figure, date and name of it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ollama_kit.jobs.contract.meaning import meaning_of, same_meaning
from ollama_kit.jobs.contract.proof.figures import Figures, figures_in
from ollama_kit.jobs.contract.proof.prover import Claim, Prover
from ollama_kit.jobs.figures import to_chinese_capital
from tests.jobs.contract.samples import contract

VERBATIM = {"type": "string", "x-verbatim": True}
FREE = {"type": "string"}


def proven(value: Any, text: str, *quotes: str, schema: Any = FREE) -> Claim:
    return Prover(contract(text)).prove(Claim("q", value), quotes or (text,), schema)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("2026年3月1日起生效", "本合同自二〇二六年三月一日起生效"),
        ("2026-03-01", "effective as of March 1, 2026"),
        ("每月9800元", "月租金为人民币玖仟捌佰元整"),
        ("预付三成，即30%", "预付百分之三十"),
        ("30 days' notice", "thirty (30) days prior written notice"),
        ("质保24个月", "质保期为二十四个月"),
        ("1,200,000 元", "人民币 1200000.00 元"),
        ("50万元", "人民币伍拾万元整"),
        ("共3期付款", "分三期支付"),
    ],
)
def test_figures_are_the_same_however_they_are_written(value: str, text: str) -> None:
    assert proven(value, text).doubts == ()


@pytest.mark.parametrize(
    ("value", "text", "doubt"),
    [
        ("2026年3月2日起生效", "本合同自2026年3月1日起生效", "2026年3月2日"),
        ("违约金每日0.5%", "违约金每日0.05%", "每日0.5%"),
        ("30 days' notice", "sixty (60) days prior written notice", "30 days"),
        ("货款120万元", "货款人民币12万元", "120万元"),
        ("共5台", "设备3台", "5"),
        ("1.5 倍", "15 倍", "1.5"),
    ],
)
def test_another_figure_is_a_doubt(value: str, text: str, doubt: str) -> None:
    assert proven(value, text).doubts == (doubt,)


@pytest.mark.parametrize("value", ["双方各执一份", "一方违约的", "the parties agree", "甲乙双方三日内"])
def test_words_without_figures_are_not_doubted(value: str) -> None:
    """Chinese is full of numerals that count nothing."""
    assert proven(value, "本合同一式两份，双方各执一份").doubts == ()


@pytest.mark.parametrize(
    ("value", "held"), [(30, True), (0.3, True), (12, False), (True, True), (None, True), (["甲", 30], True)]
)
def test_numbers_of_a_users_schema_must_stand_in_the_quotes(value: Any, held: bool) -> None:
    """30 stands for 30 %, as 0.3 does; what is no number needs none."""
    assert (proven(value, "支付合同总价的30%", schema={"type": "number"}).doubts == ()) is held


def test_what_is_chosen_from_a_list_need_not_stand_there() -> None:
    assert proven("automatic", "期满自动顺延一年", schema={"enum": ["automatic", "none"]}).is_proven


def test_the_contracts_own_words_must_stand_there() -> None:
    """In the quote, or anywhere in the contract: then that place is evidence too."""
    text = "甲方：星河公司\n乙方：北辰公司\n第一条 双方约定交货。"
    there = proven("北辰公司", text, "双方约定交货", schema=VERBATIM)
    assert there.is_proven
    assert [text[start:end] for start, end in there.spans] == ["双方约定交货", "北辰公司"]
    assert proven("南辰公司", text, "双方约定交货", schema=VERBATIM).doubts == ("南辰公司",)


def test_evidence_across_the_pages_of_a_text_is_whole() -> None:
    """A quote that a line break parts is found as one place."""
    claim = proven("x", "甲方应于收到发票后\n三十日内付款。", "收到发票后三十日内付款")
    assert len(claim.spans) == 1


@given(st.integers(1, 10**9), st.sampled_from(["{:,} 元", "{} 元", "人民币{}元整", "RMB {:,}"]))
def test_an_amount_is_held_by_its_capitals_and_no_other(amount: int, form: str) -> None:
    """Whatever way the value is written; one more yuan is another amount."""
    quote = f"总价人民币{to_chinese_capital(Decimal(amount))}"
    assert proven(form.format(amount), quote).doubts == ()
    assert proven(form.format(amount + 1), quote).doubts != ()


@given(st.text(max_size=60), st.text(max_size=60))
def test_what_a_text_says_it_holds(before: str, after: str) -> None:
    """Every figure found in a text is among the figures that the text holds."""
    text = f"{before}于2026年3月1日付 30% 即 USD 1,500.50{after}"
    held = Figures.of(text)
    assert all(held.hold(figure) for figure in figures_in(text))


def test_a_claim_survives_the_ledger() -> None:
    claim = Claim("q", {"a": [1, None]}, ((1, 2),), ("x",), ("y",))
    assert Claim.from_dict(claim.as_dict()) == claim


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("2026年3月1日", "March 1, 2026"),
        ("两年", "24 months"),
        ("人民币壹佰万元整", "RMB 1,000,000"),
        ("ＡＢＣ 公司", "abc公司"),
        ("30%", "百分之三十"),
    ],
)
def test_two_ways_of_writing_have_one_meaning(one: str, other: str) -> None:
    assert same_meaning(meaning_of(one), meaning_of(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [("2026年3月1日", "2026年3月11日"), ("2年", "12年"), ("3元", "13元"), ("甲方", "乙方"), ("30%", "3%")],
)
def test_two_figures_are_never_one_for_being_part_of_another(one: str, other: str) -> None:
    assert not same_meaning(meaning_of(one), meaning_of(other))


def test_a_fraction_is_a_rate() -> None:
    assert Fraction(1, 3) in Figures.of("三分之一").numbers
