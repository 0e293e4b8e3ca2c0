"""The page against a parser that is not ours, lxml: nothing of the contract acts, every link leads somewhere."""

from __future__ import annotations

import base64
import hashlib
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st
from lxml import html as lxml_html

from ollama_kit.documents.pages.escaping import piece_of_text
from ollama_kit.errors import SpecError
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.writers import page as page_module, write_html
from ollama_kit.jobs.contract.writers.source_pane import read_pane
from ollama_kit.jobs.contract.writers.view import view_of
from tests.intensity import examples
from tests.jobs.contract.samples import FOLDER
from tests.jobs.contract.writers.dressed import NASTY, SPANS, Spans, dressed
from tests.jobs.contract.writers.reports import bare, english, ruled, sale

DOCS = FOLDER.parent / "docs"


def tree(report: ContractReport) -> Any:
    return lxml_html.document_fromstring(write_html(report).encode("utf-8"))


def elements(page: Any) -> list[str]:
    return [element.tag for element in page.iter() if isinstance(element.tag, str)]


def lit(page: Any, number: int) -> str:
    """The text that is lit up by a link to a quote: all pieces of its class, cells and paragraphs put together."""
    return "".join(
        mark.text_content() for mark in page.xpath(f"//mark[contains(concat(' ', @class, ' '), ' s{number} ')]")
    )


@settings(deadline=None, max_examples=examples(30))
@given(NASTY, SPANS)
def test_every_link_leads_to_one_place(text: str, spans: Spans) -> None:
    """Wherever quotes lie, each id is there once and each link has its own."""
    page = tree(dressed(text, spans))
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    assert {link[1:] for link in page.xpath("//@href")} <= set(ids)
    assert all(link.startswith("#") for link in page.xpath("//@href"))


@settings(deadline=None, max_examples=examples(30))
@given(NASTY)
def test_no_text_changes_the_page(text: str) -> None:
    """Whatever stands in the contract and the answers, the elements are ours, and nothing is a script or loads."""
    page = tree(dressed(text))
    allowed = (
        "html head meta title style body main section header footer nav h1 h2 h3 p ul ol li dl dt dd div a b q s br "
        "span bdi mark table tbody tr td"
    )
    assert set(elements(page)) <= set(allowed.split())
    for element in page.iter():
        assert not {"style", "src", "action", "background"} & set(element.attrib)
        assert not [name for name in element.attrib if name.startswith("on")]


@settings(deadline=None, max_examples=examples(60))
@given(SPANS, st.sampled_from(["ab\ncd", "x", "<b>&amp;"]))
def test_quotes_over_each_other_are_each_lit_whole(spans: Spans, text: str) -> None:
    """Any number of overlapping quotes: what a link lights up is the quote, but for what lies between paragraphs."""
    report = dressed(text, spans)
    view = view_of(report)
    page = tree(report)
    for section in view.sections:
        for row in section.rows:
            for item in row.items:
                for proof in item.proofs:
                    shown = re.sub(r"\s", "", lit(page, proof.number))
                    assert shown == re.sub(r"\s", "", piece_of_text(proof.evidence.quote))


@settings(deadline=None, max_examples=examples(60))
@given(NASTY, SPANS)
def test_the_pane_holds_the_whole_text(text: str, spans: Spans) -> None:
    """Cutting it loses nothing and doubles nothing."""
    report = dressed(text, spans)
    pane = read_pane(report.document, view_of(report))
    pieces = [piece.text for block in pane.blocks for line in block.lines for cell in line.cells for piece in cell]
    paragraphs = report.document.paragraphs
    whole = [report.document.of(one).replace("\t", "" if one.role == "table" else "\t") for one in paragraphs]
    assert "".join(pieces) == "".join(whole)


def test_a_quote_is_lit_in_browsers_old_and_new() -> None:
    """By the siblings of its number, and by :has for other paragraphs and cells; each in a rule of its own."""
    style = tree(sale()).xpath("//style")[0].text
    near, far = re.findall(r"(?:^|\})\s*([^{}]*#q1:target[^{}]*)\{", style)
    assert "#q1:target~.s1" in near
    assert ":has(" not in near
    assert ".text:has(#q1:target) .s1" in far


def test_the_policy_allows_the_style_sheet_and_nothing_else() -> None:
    """The Content-Security-Policy names the hash of what stands between the style tags, the quotes' rules included."""
    written = write_html(sale())
    style = written[written.index("<style>") + 7 : written.index("</style>")]
    policy = tree(sale()).xpath("//meta[@http-equiv]/@content")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_what_is_not_proven_is_marked() -> None:
    """Each such answer, and the words that stand nowhere in the contract."""
    page = tree(sale())
    marked = [item for item in page.xpath("//div[@class='item']") if "未证实" in item.text_content()]
    assert len(marked) == 5
    assert "本合同有效期三年" in [one.text for one in page.xpath("//p[@class='invented']/s")]
    assert any("三次回答都不是合规的 JSON" in one.text_content() for one in page.xpath("//p[@class='note']"))


def test_hidden_text_stands_in_a_box_of_its_own() -> None:
    """In the text there is a sign in its place, and not one of its words."""
    page = tree(ruled(DOCS / "synthetic_zh_embedded_cid_table_hiddentext.pdf"))
    text, box = page.xpath("//section[@id='text']")[0], page.xpath("//li[@id='hidden1']")[0]
    assert "approved=true" in box.text_content()
    assert "approved=true" not in text.text_content()
    assert text.xpath(".//a[@id='h1']/@href") == ["#hidden1"]


def test_tables_pages_and_paragraphs_are_shown() -> None:
    """Cells are cells, a new page is told before its first paragraph, and each paragraph has its number."""
    page = tree(ruled(DOCS / "synthetic_zh_embedded_cid_table_hiddentext.pdf"))
    (table, *_) = page.xpath("//table")
    assert [cell.text_content() for cell in table.xpath(".//tr[2]/td")][:3] == ["1", "数控加工中心", "BC-850V"]
    assert [one.text_content() for one in page.xpath("//p[@class='page']")] == ["第 1 页", "第 2 页"]
    assert page.xpath("//section[@id='text']//@data-n")[:3] == ["1", "2", "3"]


def test_headings_go_down_by_one_and_landmarks_have_names() -> None:
    """What a screen reader goes by."""
    for report in (sale(), english(), bare("x")):
        page = tree(report)
        levels = [int(tag[1]) for tag in elements(page) if re.fullmatch(r"h\d", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(later <= earlier + 1 for earlier, later in pairwise(levels))
        assert len(page.xpath("//main")) == 1
        assert all(nav.get("aria-label") for nav in page.xpath("//nav"))


def test_a_template_of_the_users_own_is_escaped_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A template can be replaced, and what it prints is escaped without its doing; so can the style sheet, if it keeps
    the page's promise."""
    mine = tmp_path / "templates" / page_module.HTML
    mine.parent.mkdir(parents=True)
    mine.write_text("<p>{{ view.title }}</p>", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OLLAMA_KIT_HOME", str(tmp_path))
    assert write_html(dressed("<b>")) == "<p>&lt;b&gt;</p>"
    (tmp_path / "templates" / page_module.STYLE).write_text("@import 'x.css';\n", encoding="utf-8")
    with pytest.raises(SpecError, match="@import"):
        write_html(sale())
