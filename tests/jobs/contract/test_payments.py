"""Stages of payment: what is due, after what, and when."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.jobs.contract.facts.fact_values import Payment
from ollama_kit.jobs.contract.facts.payments import read_payments
from ollama_kit.jobs.contract.structure.outline import read_outline
from tests.intensity import examples
from tests.jobs.contract.samples import FOLDER, NAMES, annotated, contract, facts_of, rules_of

SENTENCES = [
    json.loads(line) for line in (FOLDER.parent / "payments.jsonl").read_text(encoding="utf-8").splitlines() if line
]


def payments_of(text: str) -> tuple[Payment, ...]:
    read = contract(text)
    return read_payments(read, read_outline(read))


def as_data(payment: Payment) -> dict[str, str | None]:
    return {
        "stage": payment.stage,
        "share": None if payment.share is None else str(payment.share),
        "amount": None if payment.amount is None else str(payment.amount),
        "trigger": payment.trigger,
        "due": payment.due,
    }


@pytest.mark.parametrize("case", SENTENCES, ids=lambda case: case["text"][:24])
def test_a_sentence_has_its_stages_and_no_more(case: dict[str, Any]) -> None:
    """Penalties, rates, securities and headings have none."""
    assert [as_data(payment) for payment in payments_of(case["text"] + "\n")] == case["stages"]


@pytest.mark.parametrize("name", NAMES)
def test_the_annotated_contracts_have_their_stages(name: str) -> None:
    """With their share, in the sentence that was annotated; and no others."""
    facts, gold, _ = annotated(name)
    assert len(facts.payments) == len(gold["payment"])
    for payment, stage in zip(facts.payments, gold["payment"], strict=True):
        assert payment.share == (Fraction(stage["pct"], 100) if "pct" in stage else None)
        assert stage["text"] in payment.evidence.quote


def test_a_share_and_what_it_comes_to_are_one_stage() -> None:
    """The second stage of the annotated sale has both."""
    facts, _, _ = annotated("zh_sale")
    assert facts.payments[1].amount == Decimal(720_000)
    assert facts.payments[1].share == Fraction(3, 5)
    assert facts.payments[1].clause == "2."


def test_items_of_a_list_need_no_word_of_payment() -> None:
    """The sentence that opens the list has it."""
    text = "付款方式如下：\n(1) 合同签订后：40%；\n(2) 验收合格后：60%。\n其中3%为损耗。\n"
    assert [payment.share for payment in payments_of(text)] == [Fraction(2, 5), Fraction(3, 5)]


@pytest.mark.parametrize(
    ("shares", "wrong"),
    [((30, 60, 10), False), ((30, 60, 20), True), ((40, 50), False), ((30, 30, 30), False)],
)
def test_shares_that_do_not_add_up(shares: tuple[int, ...], wrong: bool) -> None:
    """Two shares may be two of three; equal ones may be a third each, rounded."""
    when = ("合同签订后", "验收合格后", "质保期满后")
    stages = "".join(
        f"{at}{share}%；\n"
        for at, share in zip([f"({n}) {w}支付" for n, w in enumerate(when, 1)], shares, strict=False)
    )
    facts = facts_of(f"采购合同\n第三条 付款\n甲方按以下节点支付：\n{stages}第四条 其他\n无。\n")
    assert ("shares" in rules_of(facts)) is wrong
    for risk in facts.risks:
        if risk.rule == "shares":
            assert len(risk.evidence) == len(shares)
            assert "110" in risk.message
            assert "110%" in risk.message_zh


@settings(deadline=None, max_examples=examples(60))
@given(st.lists(st.integers(1, 60), min_size=1, max_size=6), st.booleans())
def test_every_stage_of_a_list_is_read(shares: list[int], chinese: bool) -> None:
    """In order, whatever the shares."""
    parts = [
        f"签订后{n}日内支付{share}%" if chinese else f"{share}% within {n} days after signing"
        for n, share in enumerate(shares, 2)
    ]
    text = ("甲方" + "，".join(parts) + "。") if chinese else "Buyer shall pay " + ", ".join(parts) + "."
    assert [payment.share for payment in payments_of(text)] == [Fraction(share, 100) for share in shares]


@settings(deadline=None, max_examples=examples(80))
@given(st.text(alphabet="甲方支付余款30%元万、，。；：（1）后日内 \npay$5,% of the balance within days", max_size=160))
def test_any_text_is_quoted_to_the_letter(text: str) -> None:
    """The words of a stage are the document's own."""
    read = contract(text)
    for payment in read_payments(read, read_outline(read)):
        evidence = payment.evidence
        assert read.document.text[evidence.start : evidence.end] == evidence.quote
        for words in (payment.trigger, payment.due):
            assert words in read.plain


def test_the_sentences_are_data(tmp_path: Path) -> None:
    """Both languages, and enough that is no payment."""
    assert sum(bool(case["stages"]) for case in SENTENCES) >= 20
    assert sum(not case["stages"] for case in SENTENCES) >= 12
