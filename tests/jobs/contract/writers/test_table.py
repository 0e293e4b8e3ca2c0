"""The table of a batch, read back from the sheet by openpyxl and from CSV by csv."""

from __future__ import annotations

import csv
import io
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.documents.pages.escaping import LONGEST_CELL, cut_cell, inert, piece_of_text
from ollama_kit.errors import UsageError
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.writers import write_csv, write_files, write_xlsx
from ollama_kit.jobs.contract.writers.table import table_of, text_of
from tests.intensity import examples
from tests.jobs.contract.writers.dressed import NASTY, dressed
from tests.jobs.contract.writers.reports import bare, english, sale

FORMULAS = frozenset("=+-@\t\r＝＋－＠")


def sheet(reports: list[ContractReport]) -> Any:
    return openpyxl.load_workbook(io.BytesIO(write_xlsx(reports))).active


def columns(of: Any) -> dict[str, Any]:
    """The cells of the first contract by their headings."""
    return {cell.value: of.cell(2, cell.column) for cell in of[1]}


def rows_of(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


# -- the sheet


@settings(deadline=None, max_examples=examples(15))
@given(NASTY)
def test_the_sheet_says_what_the_table_says(text: str) -> None:
    """Every cell read back is the table's, but for characters that XML cannot hold; none is a formula or an error."""
    reports = [dressed(text), bare("x"), dressed("#N/A")]
    read, table = sheet(reports), table_of(reports)
    for number, row in enumerate([table.headings, *table.rows], 1):
        for column, shown in enumerate(row, 1):
            cell = read.cell(number, column)
            expected = shown if isinstance(shown, str) else text_of(shown, "\n")
            assert str(cell.value or "") == ("" if not expected else piece_of_text(expected))
            assert cell.data_type in ("s", "n")
            if cell.data_type == "s":
                assert cell.quotePrefix


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "#DIV/0!", "=cmd|' /C calc'!A0"])
def test_text_that_looks_like_a_formula_stays_text(text: str) -> None:
    """Not even once somebody edits the cell."""
    cell = columns(sheet([dressed(text)]))["Document"]
    assert cell.value == text
    assert cell.data_type == "s"
    assert cell.quotePrefix


def test_excels_own_escapes_are_not_taken_for_characters() -> None:
    """`_x0041_` of a contract would be shown as A."""
    with ZipFile(io.BytesIO(write_xlsx([dressed("_x0041_")]))) as archive:
        strings = archive.read("xl/worksheets/sheet1.xml").decode()
    assert strings.count("_x005F_x0041_") == strings.count("x0041_") > 0


def test_evidence_stands_in_comments() -> None:
    """Quote, clause and paragraph; and what the model invented."""
    cells = columns(sheet([sale()]))
    assert cells["合同编号"].comment.text == "“SYN-CG-2026-031” (第 2 段)"
    assert cells["合同编号"].comment.author == "ollama-kit"
    assert "“中华人民共和国法律” (第七条 · 第 29 段)" in cells["适用法律"].comment.text
    assert "合同里没有这句话: “本合同有效期三年”" in cells["期限"].comment.text
    assert "模型读到“2026年4月18日”，规则没有" in cells["生效日期"].comment.text


def test_what_is_unproven_or_contradicts_itself_is_colored_and_says_so() -> None:
    """In the text too, for whoever sees no colors."""
    cells = columns(sheet([sale()]))
    for name, said in (
        ("期限", "三年 [未证实]"),
        ("生效日期", "[相互矛盾]"),
        ("金额", "运费: 人民币 8,000 元 [未证实]"),
    ):
        assert said in cells[name].value
        assert cells[name].fill.fgColor.rgb == "00FDE3E1"
    assert cells["适用法律"].fill.fill_type is None
    assert cells["风险数"].value == len(sale().facts.risks) + 2
    assert cells["状态"].value.splitlines()[0] == "模型未答全"


def test_a_users_own_questions_have_columns() -> None:
    """Of the contracts that were not asked them the cells are empty."""
    read = sheet([english(), bare("x")])
    headings = [cell.value for cell in read[1]]
    assert headings[0] == "Document"
    at = headings.index("notice_days") + 1
    assert [read.cell(row, at).value for row in (2, 3)] == ["30", None]
    assert "[UNPROVEN]" in read.cell(2, headings.index("Contacts") + 1).value


def test_every_party_has_a_column() -> None:
    """As many as the contract with the most of them has, and no fewer than two."""
    three = bare("甲方：一方有限公司\n乙方：二方有限公司\n丙方：三方有限公司\n" + "第一条 合作\n各方合作。\n" * 3)
    headings = [cell.value for cell in sheet([three, bare("x")])[1]]
    assert [name for name in headings if "arty" in name or "当事人" in name] == ["当事人 1", "当事人 2", "当事人 3"]


def test_the_heading_stays_in_sight_and_chinese_takes_two_columns() -> None:
    """Widths are those of the longest line, within bounds."""
    read = sheet([sale()])
    assert read.freeze_panes == "B2"
    assert read.column_dimensions["B"].width == 2 * len("设备采购合同") + 2
    assert max(dimension.width for dimension in read.column_dimensions.values()) <= 44


def test_the_same_reports_give_the_same_bytes() -> None:
    """No time of writing is in the file."""
    data = write_xlsx([sale()])
    assert data == write_xlsx([sale()])
    with ZipFile(io.BytesIO(data)) as archive:
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        core = archive.read("docProps/core.xml").decode()
    assert core.count("1980-01-01T00:00:00Z") == 2


@pytest.mark.parametrize("length", [LONGEST_CELL, LONGEST_CELL + 1, 70_000])
def test_what_is_too_long_for_a_cell_is_cut_visibly(length: int) -> None:
    """How much is missing stands at the end; Excel counts a character of the higher planes twice."""
    report = bare("x")
    long = replace(report, facts=replace(report.facts, name="𠀀" * (length // 2) + "x" * (length % 2)))
    for value in (columns(sheet([long]))["Document"].value, rows_of(write_csv([long]))[1][0]):
        assert len(value.encode("utf-16-le")) <= 2 * LONGEST_CELL
        assert value.endswith("more characters)") == (length > LONGEST_CELL)


@given(st.text(alphabet="ab中𠀀👨‍👩‍👧\n。", max_size=60), st.integers(8, 40))
def test_a_cut_cell_is_a_beginning_of_it(text: str, most: int) -> None:
    """And the count is what is missing."""
    cut = cut_cell(text, "…{count}", most)
    assert len(cut.encode("utf-16-le")) <= 2 * most
    if cut != text:
        kept, _, count = cut.rpartition("…")
        assert text.startswith(kept)
        assert len(text) - len(kept) == int(count)


def test_a_missing_package_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without openpyxl the error says what to install."""
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(UsageError, match="openpyxl") as caught:
        write_xlsx([sale()])
    assert "ollama-kit[contract]" in caught.value.hint


def test_no_contract_is_a_table_without_rows() -> None:
    """The headings stand there."""
    assert sheet([]).max_row == 1
    assert len(rows_of(write_csv([]))) == 1


# -- CSV


@settings(deadline=None, max_examples=examples(25))
@given(NASTY)
def test_csv_says_what_the_table_says(text: str) -> None:
    """On one line a cell, and no cell is a formula."""
    reports = [dressed(text), english()]
    table, rows = table_of(reports), rows_of(write_csv(reports))
    expected = [list(table.headings), *([text_of(cell, "; ") for cell in row] for row in table.rows)]
    assert rows == [[inert(cell) for cell in row] for row in expected]
    assert not [cell for row in rows for cell in row if cell[:1] in FORMULAS]


def test_excel_is_told_that_the_table_is_utf_8() -> None:
    """The file begins with a byte-order mark and its lines end as Windows ends them."""
    data = write_csv([sale(), english()]).encode()
    assert data.startswith(b"\xef\xbb\xbf")
    assert data.count(b"\n") == data.count(b"\r\n") == 3


def test_a_batch_has_one_sheet_and_one_table(tmp_path: Path) -> None:
    """Beside the files of each contract."""
    paths = write_files([sale(), english()], tmp_path, ("html", "xlsx", "csv"))
    assert [path.name for path in paths] == [
        "synthetic_zh_sale.txt.facts.html",
        "sample.txt.facts.html",
        "contracts.xlsx",
        "contracts.csv",
    ]
    assert paths[2].read_bytes() == write_xlsx([sale(), english()])
    assert paths[3].read_bytes() == write_csv([sale(), english()]).encode()
