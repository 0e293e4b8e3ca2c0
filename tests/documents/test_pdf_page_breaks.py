"""Paragraphs that a page break cut in two are one again, and every page is still one stretch of the text."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from reportlab.pdfgen.canvas import Canvas

from ollama_kit.documents import ReadDocument, read_document
from ollama_kit.documents.document import HiddenText, ParagraphRole
from ollama_kit.documents.draft import Aside, Draft, DraftParagraph, assemble
from ollama_kit.documents.pdf.page_breaks import join_across_pages
from ollama_kit.documents.pdf.reading_order import PageParagraph
from tests.documents.pdfs import CHINESE, Draw, pdf
from tests.documents.test_pdf import check_places, texts

BODY = ["Nothing in this clause limits what the Buyer owes for goods that it has accepted."] * 6
CLAUSE = "乙方应于合同生效之日起三十日内将全部设备运抵甲方指定的交货地点并通知甲方验收。"


def sheet(number: int, *body: str, font: str = "Helvetica") -> Draw:
    """A page of lines between a running header and a page number."""

    def draw(canvas: Canvas) -> None:
        canvas.setFont(font, 11)
        canvas.drawString(72, 800, "Supply Agreement" if font == "Helvetica" else "设备采购合同")
        for line, text in enumerate(body):
            canvas.drawString(72, 740 - 15 * line, text)
        canvas.drawCentredString(300, 40, f"- {number} -")

    return draw


def two_pages(path: Path, last: str, first: str, *, font: str = "Helvetica", fill: str = "") -> ReadDocument:
    """A document whose first page ends with one line, and whose second begins with another."""
    body = [fill] * 6 if fill else BODY
    return read_document(
        pdf(path / "a.pdf", sheet(1, *body, "", last, font=font), sheet(2, first, "", *body, font=font))
    )


@pytest.mark.parametrize(
    ("last", "first"),
    [
        ("The Supplier shall repair at its own cost every fault that is told to it within", "ten days of delivery."),
        ("All questions that arise from this agreement are decided under the laws of the State of", "Oregon alone."),
        ("The Supplier grants to the Buyer for the whole term of this agreement a non-", "exclusive license."),
    ],
)
def test_a_sentence_continues_on_the_next_page(tmp_path: Path, last: str, first: str) -> None:
    """The foot stands before it and the head behind it; the rest of it is on its own page."""
    read = two_pages(tmp_path, last, first)
    whole = last + first if last.endswith("-") else f"{last} {first}"
    assert whole in texts(read, "text")
    assert read.place(read.text.index(whole)).page == 1
    assert read.place(read.text.index(first)).page == 2
    order = [read.text.index(one) for one in ("- 1 -", whole)]
    assert order == sorted(order)
    assert [one.page for one in read.paragraphs if one.role == "header"] == [1, 2]
    check_places(read)


@pytest.mark.parametrize(
    ("last", "first"),
    [
        ("The Buyer pays every invoice within thirty days of the day on which it was received.", "Oregon law applies."),
        ("The Supplier warrants to the Buyer for the whole term of this agreement the following:", "good title"),
        ("(a) to the Buyer all the goods that are named in the schedule of this agreement and", "(b) all papers"),
        ("SCHEDULE", "The goods are named here."),
        ("Signed for the Supplier by Jane Example", "Signed for the Buyer"),
    ],
)
def test_what_has_ended_does_not_go_on(tmp_path: Path, last: str, first: str) -> None:
    """A full stop, a colon, a number, a title, a name."""
    assert {last, first} <= set(texts(two_pages(tmp_path, last, first), "text"))


def test_a_chinese_sentence_continues_on_the_next_page(tmp_path: Path) -> None:
    """Where its last line is full and the next is not indented; particulars line by line are not full."""
    full = "乙方逾期交货的，每逾期一日，应按逾期交付设备价款的万分之五向甲方支付违约金，"
    read = two_pages(tmp_path, full, "违约金总额不超过合同总价的10%。", font=CHINESE, fill=CLAUSE)
    assert f"{full}违约金总额不超过合同总价的10%。" in texts(read, "text")
    check_places(read)
    named = "甲方（盖章）：星河智联科技有限公司"
    read = two_pages(tmp_path, named, "日期：2026年4月18日", font=CHINESE, fill=CLAUSE)
    assert {named, "日期：2026年4月18日"} <= set(texts(read, "text"))


_ROLES: tuple[ParagraphRole, ...] = ("text", "text", "text", "table", "header", "footer", "turned")
_PIECES = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from(_ROLES), st.sampled_from(["the laws of", "goods of the", "Done."])),
    min_size=1,
    max_size=14,
)


@settings(deadline=None)
@given(_PIECES)
def test_nothing_is_lost_and_every_page_stays_whole(made: list[tuple[int, ParagraphRole, str]]) -> None:
    """Whatever stands where: all words are there, what stands beside keeps its place, and pages follow each other."""
    draft, page = Draft(), 1
    for number, (turn, role, text) in enumerate(made):
        page += turn
        draft.asides.append(Aside(HiddenText("white", f"before {number}"), draft.here))
        draft.add(DraftParagraph(f"{text} {number} of", page, role))
    words = Counter(word for piece in draft.pieces for word in piece.text.split())
    starts = [f"{text} {number} of" for number, (_, _, text) in enumerate(made)]
    join_across_pages(
        draft, [PageParagraph(piece.text, 0, 0, piece.role, full=True, flush=True) for piece in draft.pieces]
    )
    read = assemble(draft, "a.pdf", "pdf", range(1, page + 1))
    assert Counter(read.text.split()) == words
    assert [read.text[one.offset :].startswith(starts[number]) for number, one in enumerate(read.hidden)] == (
        [True] * len(starts)
    )
    assert [one.page for one in read.paragraphs] == sorted(one.page for one in read.paragraphs)
    for one in read.paragraphs:
        assert read.place(one.start).page == one.page
    for number, start in enumerate(starts):
        assert read.place(read.text.index(start)).page == 1 + sum(turn for turn, _, _ in made[: number + 1])
