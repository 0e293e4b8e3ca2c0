"""What proves a value: quotes that stand in the contract, and hold every figure, date and name of it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ollama_kit.jobs.contract.meaning import meaning_of, same_meaning
from ollama_kit.jobs.contract.proof.figures import figures_of, is_whole
from ollama_kit.jobs.contract.proof.prover import Claim, Prover
from ollama_kit.text.figures import to_chinese_capital
from tests.jobs.contract.samples import contract

VERBATIM = {"type": "string", "x-verbatim": True}
FREE = {"type": "string"}
NUMBER = {"type": "number"}


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
        ("共5台", "设备3台", "5台"),
        ("1.5 倍", "15 倍", "1.5 倍"),
    ],
)
def test_another_figure_is_a_doubt(value: str, text: str, doubt: str) -> None:
    assert proven(value, text).doubts == (doubt,)


@pytest.mark.parametrize("value", ["双方各执一份", "一方违约的", "the parties agree", "任一方均可"])
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
def test_a_text_bears_out_what_it_says_itself(before: str, after: str) -> None:
    """Every figure of a text is borne out by the figures of the same text, and stands at its place."""
    text = f"{before}于2026年3月1日付 30% 即 USD 1,500.50{after}"
    found = figures_of(text)
    assert len(found) >= 1
    for figure in found:
        assert any(one.bears(figure) for one in found)
        assert 0 <= figure.start < figure.end <= len(text)


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
    assert [figure.number for figure in figures_of("三分之一")] == [Fraction(1, 3)]


@pytest.mark.parametrize("text", ["2026年3月1日", "自2026年3月1日起", "人民币伍拾万元整", "within 30 days", "10%"])
def test_a_figure_and_the_small_words_around_it(text: str) -> None:
    assert is_whole(text)


@pytest.mark.parametrize("text", ["HT-2026-0098", "第三方2026公司", "双方签字之日起30日", "公司", ""])
def test_what_is_more_than_a_figure(text: str) -> None:
    assert not is_whole(text)


@pytest.mark.parametrize(
    ("value", "text", "schema"),
    [
        ("5%", "违约金为15%", VERBATIM),
        ("5%", "违约金为0.5%", VERBATIM),
        ("800元", "月租金9,800元", VERBATIM),
        ("9,800 元", "月租金人民币 19,800 元", VERBATIM),
        ("1元", "押金11元", VERBATIM),
        ("2 years", "a term of 12 years", VERBATIM),
        ("20 days", "120 days", FREE),
        ("1月1日", "2026年11月1日", VERBATIM),
        ("6年3月1日", "2026年3月1日", VERBATIM),
        ("五年", "质保期十五年", VERBATIM),
        ("五日内", "十五日内付款", VERBATIM),
        ("10元", "人民币3亿10元", VERBATIM),
    ],
)
def test_a_part_of_a_longer_figure_is_another_figure(value: str, text: str, schema: Any) -> None:
    assert proven(value, text, schema=schema).doubts


@pytest.mark.parametrize(
    ("value", "text"),
    [("USD 500", "RMB 500"), ("500美元", "总价人民币500元"), ("500元", "USD 500"), ("€500", "US$500")],
)
def test_another_currency_is_a_doubt(value: str, text: str) -> None:
    assert proven(value, text, schema=VERBATIM).doubts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("30 days", "thirty (30) months"),
        ("24个月", "质保期24天"),
        ("5年", "违约金5%"),
        ("3 years", "3 months' notice"),
        ("30天", "支付总价的30%"),
        ("5年", "第5条 保密期为三年"),
        ("10个工作日", "10个月内付清"),
        ("设备3台", "于2026年3月1日交付设备"),
    ],
)
def test_another_unit_is_a_doubt(value: str, text: str) -> None:
    assert proven(value, text).doubts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("每日0.05%", "每月0.05%"),
        ("按年5%", "按日5%"),
        ("1.5% per month", "1.5% per annum"),
        ("每日0.05%", "每年0.05%"),
    ],
)
def test_a_rate_over_another_time_is_a_doubt(value: str, text: str) -> None:
    assert proven(value, text, schema=VERBATIM).doubts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("提前三十日通知", "提前十五日通知"),
        ("质保十五年", "质保五年"),
        ("thirty days' notice", "sixty days' notice"),
        ("返还两倍定金", "返还三倍定金"),
        ("分三期付款", "分两期付款"),
    ],
)
def test_figures_in_words_are_checked_too(value: str, text: str) -> None:
    assert proven(value, text).doubts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1年", "任一方可以解除合同"),
        ("10天", "十分重要"),
        ("违约金1,000元", "千方百计"),
        ("押金100元", "百货公司"),
    ],
)
def test_a_numeral_inside_a_word_bears_out_no_figure(value: str, text: str) -> None:
    assert proven(value, text).doubts


@pytest.mark.parametrize(
    ("value", "text"),
    [("3月1日", "2026年1月3日"), ("2026年3月", "2026年1月3日签订"), ("March 2026", "January 3, 2026")],
)
def test_a_date_without_a_year_or_day_is_compared_as_a_date(value: str, text: str) -> None:
    assert proven(value, text).doubts


@pytest.mark.parametrize(
    ("value", "text"),
    [(500, "押金5元"), (19600, "押金196元"), (30, "单价0.3元"), (100, "合同总价100万元")],
)
def test_only_a_percentage_may_be_given_times_a_hundred(value: float, text: str) -> None:
    assert proven(value, text, schema=NUMBER).doubts


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("HT-0098-2026", "合同编号：HT-2026-0098"),
        ("ZZ-2026-98", "合同编号：HT-2026-0098"),
        ("第三方2026公司", "签订于2026年"),
        ("自双方盖章且付款500元之日起", "押金500元"),
    ],
)
def test_the_contracts_own_words_with_a_figure_must_stand_there_too(value: str, text: str) -> None:
    """A code or name with digits in it is one word: its digits alone prove nothing."""
    assert proven(value, text, schema=VERBATIM).doubts


CONTRACT = (
    "房屋租赁合同\n合同编号：\n签订日期：2026年4月22日\n出租方（甲方）：何某示例\n承租方（乙方）：江州拾光文化传播有限公司\n"
    "第一条 租期自2026年5月1日起。月租金人民币9,800元，押金为人民币19,600元，无息退还。"
)


@pytest.mark.parametrize(
    ("value", "quote"),
    [("2026年5月1日", "签订日期：2026年4月22日"), ("人民币9,800元", "押金为人民币19,600元"), ("无", "合同编号：")],
)
def test_a_figure_or_a_single_character_elsewhere_is_no_evidence(value: str, quote: str) -> None:
    """Only a name is looked for outside the quotes: the day the lease begins proves no date of signing, the rent no
    deposit, and a 无 somewhere no number."""
    assert not proven(value, CONTRACT, quote, schema=VERBATIM).is_proven


def test_quotes_are_not_joined_to_words_that_stand_nowhere() -> None:
    text = "注册地：北京\n第二条 公司章程"
    assert proven("北京公司", text, "注册地：北京", "公司章程", schema=VERBATIM).doubts


@pytest.mark.parametrize("quote", ["。", "，", "的", "1", "-"])
@pytest.mark.parametrize("schema", [FREE, {"enum": ["违约金很高"]}])
def test_punctuation_or_one_character_proves_nothing(quote: str, schema: Any) -> None:
    assert not proven("违约金很高", "买卖合同-1，双方的约定。", quote, schema=schema).is_proven


@pytest.mark.parametrize("value", ["甲方承担运费", "甲方违约的应当赔偿"])
def test_the_other_side_is_a_doubt(value: str) -> None:
    """A role that the value names and neither the quotes nor their sentence do."""
    text = "第一条 运费由乙方承担，乙方违约的应当赔偿。"
    assert not proven(value, text, "运费由乙方承担，乙方违约的应当赔偿").is_proven


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("二十四个月", "质保期为24个月"),
        ("十五个工作日内", "15个工作日内付款"),
        ("一个月", "期限1个月"),
        ("thirty days", "30 days"),
        ("三成", "支付百分之三十"),
        ("Service Agreement", "SERVICE AGREEMENT"),
        ("Acme Corp.", "ACME CORP."),
        ("the Buyer", "(the “BUYER”)"),
        ("《设备采购合同》", "设备采购合同"),
        ("甲方（出租方）", "出租方（甲方）：何某"),
        ("乙方、卖方", "乙方（卖方）：青屿公司"),
        ("American Arbitration Association (AAA)", "administered by the American Arbitration Association"),
        ("Oregon law", "governed by the laws of the State of Oregon"),
        ("中国法律", "适用中华人民共和国法律"),
        ("星河公司（Xinghe Co., Ltd.）", "星河公司\nXinghe Co., Ltd."),
    ],
)
def test_own_words_in_another_case_form_or_order_are_not_doubted(value: str, text: str) -> None:
    assert proven(value, text, schema=VERBATIM).doubts == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("质保2年", "质保期为24个月"),
        ("质保24个月", "质保期两年"),
        ("期限18个月", "期限一年半"),
        ("on the 5th of each month", "on the fifth day of each month"),
        ("总价50万元", "合同总价（万元）：50"),
        ("共3万", "共叁万元整"),
        ("1,200,000元", "人民币1 200 000元"),
    ],
)
def test_the_same_figure_in_another_form_is_not_doubted(value: str, text: str) -> None:
    assert proven(value, text).doubts == ()


@pytest.mark.parametrize("value", ["Provider may leave, Client not (clause 12.2)", "见第8.2条，责任有上限"])
def test_the_number_of_a_clause_is_no_figure_of_the_contract(value: str) -> None:
    assert proven(value, "Client has no right to terminate; 责任有上限").doubts == ()


def test_midnight_is_no_figure_of_a_date_time() -> None:
    schema = {"type": "string", "format": "date-time"}
    assert proven("2026-05-01T00:00:00Z", "自2026年5月1日起", schema=schema).doubts == ()
