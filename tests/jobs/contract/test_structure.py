"""Clauses by their numbers, attachments, signatures, definitions and cross-references."""

from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.jobs.contract.structure.back_matter import read_parts
from ollama_kit.jobs.contract.structure.clause_numbers import marks_in, ordinal, roman_value
from ollama_kit.jobs.contract.structure.definitions import read_definitions
from ollama_kit.jobs.contract.structure.outline import Outline, read_outline
from ollama_kit.jobs.contract.structure.references import read_references
from tests.intensity import examples
from tests.jobs.contract.samples import contract


def outline(text: str) -> Outline:
    return read_outline(contract(text))


def shape(text: str) -> list[tuple[int, str, str]]:
    return [(clause.depth, clause.number, clause.title) for clause in outline(text).clauses]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "第一章 总则\n第一条 标的\n（一）设备；\n（二）备件。\n第二条 价款\n第二章 附则\n第三条 生效\n",
            [(0, "第一章"), (1, "第一条"), (2, "（一）"), (2, "（二）"), (1, "第二条"), (0, "第二章"), (1, "第三条")],
        ),
        (
            "一、服务内容\n1、调研\n2、报告\n二、费用\n（1）首付款\n（2）尾款\n",
            [(0, "一、"), (1, "1、"), (1, "2、"), (0, "二、"), (1, "（1）"), (1, "（2）")],
        ),
        (
            "1. Services\n1.1 Scope. The Supplier acts.\n1.1.1 Detail here.\n1.2 Fees. None.\n2. Term\n",
            [(0, "1."), (1, "1.1"), (2, "1.1.1"), (1, "1.2"), (0, "2.")],
        ),
        (
            "ARTICLE I DEFINITIONS\n(a) first;\n(b) second, namely\n(i) one;\n(ii) two.\nARTICLE II TERM\n",
            [(0, "ARTICLE I"), (1, "(a)"), (1, "(b)"), (2, "(i)"), (2, "(ii)"), (0, "ARTICLE II")],
        ),
    ],
)
def test_numbers_become_a_tree(text: str, expected: list[tuple[int, str]]) -> None:
    """Each kind of number is a level of its own, below the one in which it first stood."""
    assert [(depth, number) for depth, number, _ in shape(text)] == expected


def test_a_contract_on_one_line_has_clauses_too() -> None:
    """What comes out of a filing system often is one line a page; there a number must go on from the one before."""
    text = (
        "AGREEMENT. 1. Services. The Supplier acts under Section 2. 2. Term. Two years. 7. Not a clause. 3. Law. Utah."
    )
    assert [(number, title) for _, number, title in shape(text)] == [("1.", "Services"), ("2.", "Term"), ("3.", "Law")]


def test_what_stands_in_tables_and_sentences_is_no_clause() -> None:
    """Quantities, dates and references at the beginning of a line."""
    text = "第一条 标的\n1 | 加工中心 | 3 台\n2026 年 5 月交货\n第三条的约定不适用。\n3.5 亿元以内\n第二条 价款\n"
    assert [number for _, number, _ in shape(text)] == ["第一条", "第二条"]


def test_a_table_of_contents_is_not_the_contract() -> None:
    """Its numbers come again."""
    text = "目录\n第一条 标的 1\n第二条 价款 2\n\n第一条 标的\n设备。\n第二条 价款\n一百元。\n第三条 其他\n"
    text += "双方应当依照诚实信用的原则履行各自的义务，未尽事宜另行协商确定。\n" * 8
    assert [number for _, number, _ in shape(text)] == ["第一条", "第二条", "第三条"]


def test_the_ninth_letter_is_not_one() -> None:
    """(i) goes on from (h), and begins a list elsewhere."""
    text = "1. A\n" + "".join(f"({letter}) text;\n" for letter in "abcdefghij")
    assert {clause.kind for clause in outline(text).clauses[1:]} == {"alpha"}


def test_a_clause_holds_its_subclauses() -> None:
    """Spans nest, and the innermost clause of a place is found."""
    text = "第一条 价款\n1. 总价一百元。\n2. 定金十元。\n第二条 其他\n无。"
    found = outline(text)
    first, inner = found.clauses[0], found.clauses[2]
    assert first.start <= inner.start < inner.end <= first.end
    at = found.at(text.index("定金"))
    assert at == inner
    assert found.clauses[inner.parent] == first


def test_attachments_and_signatures_end_the_clauses() -> None:
    """Their numbers are their own, and Exhibit 10.1 at the top is where the contract was filed."""
    text = (
        "Exhibit 10.1\nSUPPLY AGREEMENT\n1. Goods. As in Schedule A.\n2. Term. A year, see Exhibit B.\n"
        + "The parties shall act in good faith. " * 10
        + "\nIN WITNESS WHEREOF the parties sign.\nBy: ____\n\nSchedule A\nPrices\n1. Bolts\n"
    )
    whole = contract(text)
    parts = read_parts(whole)
    assert [(one.number, one.title) for one in parts.attachments] == [("Schedule A", "")]
    assert parts.signatures is not None
    assert whole.plain[parts.signatures[0] :].startswith("IN WITNESS")
    clauses = read_outline(whole, parts.body)
    assert [clause.number for clause in clauses.clauses] == ["1.", "2."]
    references = read_references(whole, clauses, parts.attachments)
    assert [(one.evidence.quote, one.resolved) for one in references] == [("Schedule A", True), ("Exhibit B", False)]


@pytest.mark.parametrize(
    ("text", "quote", "number", "exact"),
    [
        (
            "第一条 甲\n依第三条第（二）项。\n第二条 乙\n第三条 丙\n（一）子\n（二）丑\n",
            "第三条第（二）项",
            "（二）",
            True,
        ),
        ("第一条 甲\n依第二条第九款。\n第二条 乙\n", "第二条第九款", "第二条", False),
        ("1. A\nSee Section 2.1(b).\n2. B\n2.1 C\n(a) x;\n(b) y.\n", "Section 2.1(b)", "(b)", True),
        ("ARTICLE I A\nSee Article II.\nARTICLE II B\n", "Article II", "ARTICLE II", True),
    ],
)
def test_a_reference_finds_its_clause(text: str, quote: str, number: str, exact: bool) -> None:
    """As much of it as there is; `exact` says whether that was all."""
    whole = contract(text)
    clauses = read_outline(whole)
    (found,) = read_references(whole, clauses, ())
    assert (found.evidence.quote, clauses.clauses[found.clause].number, found.exact) == (quote, number, exact)


def test_references_to_laws_and_other_contracts_are_left_out() -> None:
    """《民法典》第五百条 is not a clause of this contract."""
    text = "第一条 依据\n《民法典》第五百条。\nSection 409A of the Revenue Code.\nSection 3 of the Supply Agreement.\n"
    whole = contract(text)
    assert read_references(whole, read_outline(whole), ()) == ()


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("1. A\n1.1 One.\n1.2 Two.\n2. B\nSee Section 1.6 there.\n", False),
        ("1. A\n1.1 One.\n1.2 Two.\n2. B\nSee Section 1.2 there.\n", True),
        ("1. A\n1.1 One.\n1.2 Two.\n2. B\nSee Section 1.2(c) there.\n", True),
        ("1. A\n2. B\nSee Section 1.6 there.\n", True),  # the outline saw no parts of 1
        ("1. A\n1.2 Two.\n1.3 Three.\n2. B\nSee Section 1.6 there.\n", True),  # nor all that there are
        ("1. A\n1.1 One.\n1.3 Three.\n2. B\nSee Section 1.2 there.\n", True),
        ("1. A\n1.1 One.\n1.2 Two (table: 1.6 Six).\n2. B\nSee Section 1.6 there.\n", True),
        ("1. A\n1.1 One.\n1.2 Two.\n2. B\nSee Sections 1.1 and Section 9 there.\n", None),
        ("第一条 标的\n1.1 设备。\n1.2 备件。\n第二条 价款\n依第1.6条执行。\n", False),
        ("第一条 标的\n1.1 设备。\n1.2 备件。\n第二条 价款\n依第1.2款执行。\n", True),
    ],
)
def test_a_number_past_the_last_part_of_a_clause_is_missing(text: str, resolved: bool | None) -> None:
    """Only where the outline saw the parts from the first on, and the number stands nowhere else."""
    whole = contract(text)
    found = [one.resolved for one in read_references(whole, read_outline(whole), ())]
    assert found == ([True, False] if resolved is None else [resolved])


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("1.1 The Fees do not include taxes.", ""),
        ("1.1 Provider keeps all rights in its software.", ""),
        ("1.1 “工作日”是指公休日以外的日期。", ""),
        ("1.1 甲方按下列阶段付款：", ""),
        ("1.1 Grants and Retained Rights. Provider keeps them.", "Grants and Retained Rights"),
        ("1.1 乙方收款账户：户名如后。", "乙方收款账户"),
    ],
)
def test_a_sentence_is_no_title(line: str, title: str) -> None:
    """However short it is."""
    assert shape(f"1. First\n{line}\n")[1][2] == title


def test_definitions_of_both_languages() -> None:
    """The term, and the words that define it."""
    text = '“服务”是指平台运维。某某公司（以下简称“甲方”）。"Goods" means bolts. Acme, Inc. (the "Buyer") buys.'
    assert [one.term for one in read_definitions(contract(text))] == ["服务", "甲方", "Goods", "Buyer"]


@given(st.integers(1, 399))
def test_roman_numerals_are_read(number: int) -> None:
    """Written by another rule than they are read by."""
    ones = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"]
    tens = ["", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX", "XC"]
    written = "C" * (number // 100) + tens[number // 10 % 10] + ones[number % 10]
    assert roman_value(written) == ordinal(written) == number


@settings(deadline=None, max_examples=examples(100))
@given(st.text(alphabet="第一二条章、（）(a)i1.2 \n附件AB.甲方：Section", max_size=200))
def test_any_text_gives_a_sound_outline(text: str) -> None:
    """Spans lie within the text and nest, parents come first, and nothing fails."""
    found = outline(text)
    for at, clause in enumerate(found.clauses):
        assert 0 <= clause.start <= clause.end <= len(text)
        assert clause.parent < at
        if clause.parent >= 0:
            parent = found.clauses[clause.parent]
            assert parent.start <= clause.start <= clause.end <= parent.end
            assert parent.depth == clause.depth - 1


@given(st.integers(1, 40))
def test_every_article_of_a_long_contract_is_found(count: int) -> None:
    """In Chinese figures or others."""
    text = "".join(f"第{number}条 标题\n内容。\n" for number in range(1, count + 1))
    assert len(marks_in(text)) == count
    assert len(outline(text).clauses) == count
