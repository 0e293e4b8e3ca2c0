"""Parties, dates, money, law and disputes, each with the words that prove it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.documents.document import Paragraph
from ollama_kit.jobs.contract import extraction
from ollama_kit.jobs.contract.passages import ContractText, Evidence, sentence_around
from ollama_kit.text.checksums import credit_code_check
from ollama_kit.text.figures.numerals import to_chinese_capital
from tests.intensity import examples
from tests.jobs.contract.samples import NAMES, annotated, contract, document, facts_of

ENGLISH = """SERVICE AGREEMENT

This Service Agreement (the "Agreement") is made as of {made} (the "Effective Date") by and between Acme Widgets, Inc.,
a Delaware corporation ("Customer"), and Jane Example, an individual ("Consultant").

1. Term. The term of this Agreement shall commence on the Effective Date and continue for {term}.

2. Fees. Customer shall pay a service fee of US$10,000.00. Overdue amounts bear a late fee of 1.5% per month.

3. Governing Law. This Agreement shall be governed by the laws of the State of {law}. Any dispute shall be settled by
arbitration administered by the American Arbitration Association.

IN WITNESS WHEREOF, the parties have executed this Agreement.

CUSTOMER: /s/ John Doe
CONSULTANT: ____________
"""


def english(made: str = "March 1, 2026", term: str = "two (2) years", law: str = "New York") -> str:
    return ENGLISH.format(made=made, term=term, law=law)


def evidence_in(value: Any) -> Iterator[Evidence]:
    """Every evidence anywhere in a value."""
    if isinstance(value, Evidence):
        yield value
    elif isinstance(value, tuple):
        for one in value:
            yield from evidence_in(one)
    elif is_dataclass(value):
        for field in fields(value):
            yield from evidence_in(getattr(value, field.name))


@pytest.mark.parametrize("name", NAMES)
def test_the_annotated_contracts_have_their_parties(name: str) -> None:
    """By name and role."""
    facts, gold, _ = annotated(name)
    assert [party.name for party in facts.parties] == [one["name"] for one in gold["parties"]]
    for party, one in zip(facts.parties, gold["parties"], strict=True):
        assert set(one["role"].split("/")) == set(party.roles)


@pytest.mark.parametrize("name", NAMES)
def test_the_annotated_contracts_have_their_dates_and_law(name: str) -> None:
    """Where the annotation has one; the effective date of the bilingual one is the later of two signatures to us."""
    facts, gold, _ = annotated(name)
    assert facts.title.first == gold["title"]
    assert facts.number.first == (gold["contract_no"] or "")
    assert [value.value for value in facts.signing_date.values] == gold["sign_dates"]
    if gold["term"]["end"]:
        assert facts.end_date.first == gold["term"]["end"]
    assert facts.governing_law.first == (gold["governing_law"] or "")
    assert facts.dispute_forum.first in gold["dispute"]
    effective = gold["effective"]["value"] if gold["effective"] else ""
    assert facts.effective_date.first == ("2026-04-11" if name == "bilingual_nda" else effective)


@pytest.mark.parametrize("name", NAMES)
def test_the_annotated_contracts_have_their_amounts(name: str) -> None:
    """Each with its currency and its place."""
    facts, gold, _ = annotated(name)
    ours = {(one.currency, one.value) for one in facts.amounts}
    assert ours >= {(one["currency"], Decimal(one["value"])) for one in gold["amounts"]}


@pytest.mark.parametrize("name", NAMES)
def test_every_value_is_proved_by_the_documents_own_words(name: str) -> None:
    """To the letter, at the place it says, in the paragraph it says."""
    facts, _, read = annotated(name)
    found = list(evidence_in(facts))
    assert len(found) > 10
    for evidence in found:
        assert read.text[evidence.start : evidence.end] == evidence.quote
        assert evidence.quote.strip()
        assert read.place(evidence.start) == (evidence.page, evidence.paragraph)


def test_instructions_in_a_contract_change_nothing() -> None:
    """What is written for a machine is text: disputes go where the clause says."""
    facts, gold, _ = annotated("zh_tech_service_injection")
    assert facts.dispute_forum.first == gold["dispute"]
    assert max(one.value for one in facts.amounts) == Decimal(911_600)


def test_an_english_contract() -> None:
    """Parties with and without a company's suffix, a computed end, the law, the forum and who signed."""
    facts = facts_of(english())
    assert [(party.roles, party.name) for party in facts.parties] == [
        (("Customer",), "Acme Widgets, Inc."),
        (("Consultant",), "Jane Example"),
    ]
    assert facts.effective_date.first == facts.signing_date.first == "2026-03-01"
    assert facts.end_date.first == "2028-03-01"
    assert facts.end_date.values[0].basis[0].quote.startswith("March 1, 2026")
    assert facts.term.first == "2 year"
    assert facts.governing_law.first == "New York"
    assert facts.dispute_forum.first == "American Arbitration Association"
    assert [party.seal for party in facts.parties] == ["signed", "blank"]
    assert [(one.about, one.currency, one.value) for one in facts.amounts] == [("service fee", "USD", Decimal(10_000))]
    assert [(one.kind, one.low, one.per) for one in facts.rates] == [("penalty", Fraction(3, 200), "month")]


@pytest.mark.parametrize(
    ("made", "iso"),
    [
        ("the 1st day of May, 2027", "2027-05-01"),
        ("the 27t h day of March, 2017", "2017-03-27"),
        ("___________, 2015", "2015"),
        ("____ of April 2013", "2013-04"),
    ],
)
def test_dates_with_blanks_say_what_they_say(made: str, iso: str) -> None:
    """A year alone is no first of January."""
    assert facts_of(english(made=made)).effective_date.first == iso


@pytest.mark.parametrize(
    ("term", "end"),
    [
        ("a period of eighteen (18) months", "2027-09-01"),
        ("until December 31, 2027", "2027-12-31"),
        ("until the third anniversary of the Effective Date", "2029-03-01"),
    ],
)
def test_the_end_is_read_or_computed(term: str, end: str) -> None:
    """From a length, a date or an anniversary."""
    text = english().replace("continue for two (2) years", f"continue {'for ' if term.startswith('a ') else ''}{term}")
    assert facts_of(text).end_date.first == end


def test_a_term_that_runs_from_an_event_is_not_computed() -> None:
    """Nobody knows when the launch will be; the words are kept."""
    found = facts_of(english(term="one (1) year following the Launch Date")).end_date
    assert "Launch Date" in found.first


def test_what_is_not_there_is_absent_with_what_was_searched() -> None:
    """Never an empty value."""
    facts = facts_of("第一条 标的\n一台设备。\n")
    for found in facts.facts.values():
        if not found.values:
            assert found.state == "absent"
            assert found.searched
    assert facts.governing_law.state == "absent"
    assert facts.parties == ()
    assert facts.parties_searched


def test_two_effective_dates_are_both_kept() -> None:
    """As a conflict, in the order of the text."""
    found = facts_of("本合同自2026年3月1日起生效。\n……\n本合同自2026年4月1日起生效。\n").effective_date
    assert found.state == "conflict"
    assert [value.value for value in found.values] == ["2026-03-01", "2026-04-01"]


def test_a_date_that_may_be_two_says_so() -> None:
    """04/02/2018 is April to some and February to others."""
    assert "exchanged" in facts_of(english(made="04/02/2018")).effective_date.values[0].rule
    assert "exchanged" not in facts_of(english()).effective_date.values[0].rule


def test_a_form_that_nobody_filled_in_has_no_answers() -> None:
    """Placeholders are no names, no state and no number."""
    text = (
        'AGREEMENT\nThis Agreement is between [Company Name] ("Discloser") and [Employee of the firm] ("Recipient").\n'
        "Contract number USING\nThis Agreement is governed by the laws of the State of [State of choice].\n"
    )
    facts = facts_of(text)
    assert "Company Name" not in {party.name for party in facts.parties}
    assert facts.governing_law.state == facts.number.state == "absent"


def test_a_commission_and_a_court_conflict() -> None:
    """Such a clause gives no arbitration under Chinese law."""
    text = "争议可提交北京仲裁委员会仲裁，也可向甲方所在地人民法院起诉。\n"
    found = facts_of(text).dispute_forum
    assert found.state == "conflict"
    assert [value.value for value in found.values] == ["北京仲裁委员会", "甲方所在地人民法院"]


def test_particulars_stand_with_their_party() -> None:
    """And the check character of a credit code is checked."""
    code = "91310000MA1FL0A12"
    good = code + credit_code_check(code)
    wrong = code + ("0" if good[-1] != "0" else "1")
    text = (
        f"采购合同\n甲方（买方）：上海某某有限公司\n统一社会信用代码：{good}\n法定代表人：王某某\n地址：上海市某路1号\n"
        f"乙方（卖方）：某某厂\n统一社会信用代码：{wrong}\n法定代表人：李某\n第一条 标的\n"
    )
    buyer, seller = facts_of(text).parties
    assert buyer.registration is not None
    assert buyer.representative is not None
    assert seller.representative is not None
    assert (buyer.registration.value, buyer.registration_valid, buyer.representative.value) == (good, True, "王某某")
    assert (seller.registration_valid, seller.representative.value) == (False, "李某")
    assert buyer.address is not None
    assert buyer.address.value == "上海市某路1号"


def test_a_party_by_its_short_name() -> None:
    """由…（以下简称“甲方”）与…（以下简称“乙方”）签订."""
    text = (
        "合作协议\n本协议由北京某某科技有限公司（以下简称“甲方”）与上海某某（集团）有限公司（以下简称“乙方”）签订。\n"
    )
    assert [(party.roles[0], party.name) for party in facts_of(text).parties] == [
        ("甲方", "北京某某科技有限公司"),
        ("乙方", "上海某某（集团）有限公司"),
    ]


@settings(deadline=None, max_examples=examples(60))
@given(st.integers(1, 10**9), st.booleans())
def test_figures_and_capitals_are_reconciled(yuan: int, same: bool) -> None:
    """Equal they are one amount; different ones are a conflict, with the capitals kept."""
    words = to_chinese_capital(Decimal(yuan if same else yuan + 1))
    (amount,) = facts_of(f"合同总价为人民币 {yuan:,}.00 元（大写：{words}）。").amounts
    assert amount.conflict is not same
    assert (amount.figures, amount.words) == (Decimal(yuan), Decimal(yuan if same else yuan + 1))


@settings(deadline=None, max_examples=examples(60))
@given(st.text(alphabet='甲乙方（）：公司第一条自起至止生效2026年3月1日，。\n \tABC between and ("")', max_size=300))
def test_any_text_is_proved_to_the_letter(text: str) -> None:
    """Whatever is found, its evidence is there."""
    if not text.strip():
        return
    read = document(text)
    for evidence in evidence_in(facts_of(text)):
        assert read.text[evidence.start : evidence.end] == evidence.quote


def test_lines_that_were_broken_are_whole_and_short_ones_are_not_joined() -> None:
    """Chinese has no blank where a line was broken; a title is not the beginning of its clause."""
    line = "本合同适用中华人民共和国法律，双方在履行过程中发生的任何争议均应首先通过友好协商并互相体谅加以解决"
    read = replace(document(line + "\n" + line), paragraphs=(Paragraph(1, 0, 0, 2 * len(line) + 1),))
    assert ContractText.of(read).plain == line + line
    whole = contract("第七条 争议解决\n本合同适用中华人民共和国法律。\n")
    assert "第七条 争议解决\n本合同" in whole.plain


def test_a_sentence_ends_behind_no_abbreviation() -> None:
    """Inc. and No. go on."""
    text = "First one. Acme, Inc. Holdings under No. 5 Acts. Last one."
    assert text[slice(*sentence_around(text, 15, 16))] == "Acme, Inc. Holdings under No. 5 Acts."


@pytest.mark.parametrize(
    ("text", "length"),
    [
        (
            "Licensor warrants that for a period of ninety (90) days after delivery the Software will conform.",
            (90, "day"),
        ),
        ("Supplier warrants the goods for two years.", (2, "year")),
        ("A warranty of one (1) year is given.", (1, "year")),
        ("质保期为自验收合格之日起 24 个月。", (24, "month")),
        ("Licensor warrants that it is duly organised and shall give thirty (30) days notice.", None),
        (
            (
                "Provider warrants that it will work in a professional and workmanlike manner, and that a Deliverable"
                " will conform in all material respects to its specification for ninety (90) days after acceptance."
            ),
            (90, "day"),
        ),
        ("Supplier gives a 90-day limited warranty on the goods, which are new.", (90, "day")),
        ("质保期为90天。", (90, "day")),
        ("质保期届满后，乙方应提供备品备件，期限不少于五年。", None),
        ("质保金于质保期满且无质量争议后30日内无息支付。", None),
        ("质保期内，乙方应在收到通知后 2 日内维修，每 6 个月巡检一次。", None),
    ],
)
def test_how_long_a_warranty_runs(text: str, length: tuple[int, str] | None) -> None:
    """Where the length is the warranty's own."""
    assert [(int(one.count), one.unit) for one in facts_of(text + "\n").warranties] == ([length] if length else [])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("合同总价为人民币100万元，签订后支付合同总价的30%，即人民币30万元。", ["合同总价", ""]),
        ("预付款：甲方支付合同总价的30%，即人民币30万元。", ["预付款"]),
        ("合同总价为人民币100万元，其中设备款为人民币80万元。", ["合同总价", ""]),
        ("总额为人民币86万元，税率6%，税额5.16万元，价税合计91.16万元。", ["总额", "税额", "价税合计"]),
        (
            "The purchase price is US$100.00. Buyer pays 10% of the purchase price, being US$10.00.",
            ["purchase price", ""],
        ),
    ],
)
def test_a_part_is_not_called_by_the_name_of_the_whole(text: str, names: list[str]) -> None:
    """What a share comes to has the name of its stage, if any, and a word before another amount names that one."""
    assert [one.about for one in facts_of(text + "\n").amounts] == names


@pytest.mark.parametrize(
    ("text", "kind", "per"),
    [
        (
            "An amount not paid when due bears interest at one and one-half percent (1.5%) per month.",
            "interest",
            "month",
        ),
        ("It bears interest at one percent (1%) per month.", "interest", "month"),
        ("Customer pays a fee, fifty percent (50%) on the Effective Date.", "payment", None),
        ("违约金总额不超过合同总价的10%。", "other", None),
        ("每逾期一日，按价款的0.05%支付违约金。", "penalty", "day"),
        ("The audit reveals overdue payments in excess of ten percent (10%) of those owed.", "other", None),
        ("Party B shall pay 30% of the share of revenues as liquidated damages.", "penalty", None),
        ("The royalty rate is 2%. The royalty payable by Exact is due.", "other", None),
    ],
)
def test_what_a_rate_is_for(text: str, kind: str, per: str | None) -> None:
    """The most that a penalty comes to is no penalty, and a word of the next sentence says nothing."""
    assert [(one.kind, one.per) for one in facts_of(text + "\n").rates] == [(kind, per)]


def test_the_list_of_parties_ends_with_its_sentence() -> None:
    """What is called something later is no party; a third one in the list is."""
    later = english().replace("continue for two (2) years", 'continue for two (2) years (the "Initial Run")')
    assert [party.roles for party in facts_of(later).parties] == [("Customer",), ("Consultant",)]
    third = english().replace(' ("Consultant").', ' ("Consultant"), and Third Works, Inc. ("Agent").')
    assert [party.roles for party in facts_of(third).parties] == [("Customer",), ("Consultant",), ("Agent",)]


@pytest.mark.parametrize(
    ("sentence", "forum"),
    [
        (
            (
                "A dispute that is not settled shall be resolved by arbitration administered by the American "
                "Arbitration Association."
            ),
            "American Arbitration Association",
        ),
        ("A dispute that is not settled shall be resolved by binding arbitration.", "resolved by binding arbitration"),
        ("It is subject to the exclusive jurisdiction of the courts of Utah.", "courts of Utah"),
        ("The parties consent to the jurisdiction of the Utah State Supreme Court.", "Utah State Supreme Court"),
        ("ANY COURT OF COMPETENT JURISDICTION MAY ENFORCE IT.", ""),
    ],
)
def test_who_decides_is_named_before_how(sentence: str, forum: str) -> None:
    """An institution wherever it stands in the sentence."""
    assert facts_of(sentence + "\n").dispute_forum.first.removeprefix("exclusive jurisdiction of the ") == forum


def test_an_address_ends_before_the_next_label() -> None:
    """On the same line, in both languages."""
    chinese = facts_of("甲方：某某有限公司\n地址：江州市示范路8号 电话：1234567\n乙方：某某设备厂\n")
    assert chinese.parties[0].address is not None
    assert chinese.parties[0].address.value == "江州市示范路8号"
    named = "Party A: Acme Works Limited\nAddress: 8 Road, Utah Legal Representative: Jo Doe\nParty B: Bolt\n"
    (first, *_) = facts_of(named).parties
    assert first.address is not None
    assert first.address.value == "8 Road, Utah"


def test_a_role_within_a_sentence_is_no_place_to_sign() -> None:
    """Behind the signatures a statement of work may follow."""
    text = english().replace("CONSULTANT: ____________", "Consultant: 1. Consultant shall work.\nBy: /s/ Jane Example")
    assert [party.seal for party in facts_of(text).parties] == ["signed", "signed"]


def test_facts_of_a_text_that_was_made_plain_already() -> None:
    """Are those of the document."""
    assert extraction.facts_of(contract(english())) == facts_of(english())
