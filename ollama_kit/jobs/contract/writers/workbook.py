"""A batch as one Excel sheet, the evidence in the comments of its cells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from ollama_kit.documents.pages.escaping import cut_cell, piece_of_text
from ollama_kit.errors import UsageError
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.writers.table import Cell, table_of, text_of
from ollama_kit.jobs.contract.writers.wording import words_of

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

AUTHOR = "ollama-kit"
WRITTEN = datetime(1980, 1, 1)
"""The time in the file: the same reports give the same bytes. It is the first that a ZIP archive can hold."""
FILLS = {"bad": "FDE3E1", "warn": "FDEFD9"}
HEADING_FILL = "E8ECEA"
NARROWEST, WIDEST = 8, 44
LONGEST_COMMENT = 4_000
COMMENT_WIDTH, COMMENT_HEIGHT = 420, 200
"""Points; a longer comment is scrolled."""


def require_openpyxl() -> None:
    """Returns where sheets can be written. UsageError, with the remedy, where the package for them is not installed."""
    try:
        import openpyxl  # noqa: F401
    except ImportError as problem:
        raise UsageError(
            "Excel sheets need the package openpyxl, which is not installed",
            hint=(
                "Install it with pip install 'ollama-kit[contract]'.",
                "请安装：pip install 'ollama-kit[contract]'。",
            ),
        ) from problem


def write_xlsx(reports: Sequence[ContractReport]) -> bytes:
    """The workbook of a batch, byte for byte the same for the same reports. UsageError without `openpyxl`.

    Text is text: no cell is a formula, not even once it is edited. Cells with a conflict or with what is unproven are
    colored and say so; what is too long for a cell or a comment is cut visibly."""
    require_openpyxl()
    from openpyxl import Workbook

    table = table_of(reports)
    book = Workbook()
    book.properties.creator = AUTHOR
    book.properties.created = WRITTEN
    sheet = book.active
    sheet.title = table.name
    for column, heading in enumerate(table.headings, 1):
        _write_heading(sheet, column, cut_cell(_spoken(heading), "…"))
    for number, (report, row) in enumerate(zip(reports, table.rows, strict=True), 2):
        more = words_of(report.facts.language)["cut"]
        for column, cell in enumerate(row, 1):
            _write_cell(sheet, (number, column), cell, more)
    _lay_out(sheet, table.headings, table.rows)
    out = BytesIO()
    book.save(out)
    return _timeless(out.getvalue())


def _write_heading(sheet: Worksheet, column: int, text: str) -> None:
    from openpyxl.styles import Alignment, Font, PatternFill

    cell = sheet.cell(1, column)
    _set_text(cell, text)
    cell.font = Font(bold=True)
    cell.fill = PatternFill("solid", fgColor=HEADING_FILL)
    cell.alignment = Alignment(vertical="center", wrap_text=True)


def _write_cell(sheet: Worksheet, place: tuple[int, int], shown: Cell, more: str) -> None:
    from openpyxl.comments import Comment
    from openpyxl.styles import Alignment, PatternFill

    cell = sheet.cell(*place)
    if shown.number is not None:
        cell.value = shown.number
    elif text := _spoken("\n".join(shown.lines)):
        _set_text(cell, cut_cell(text, more))
    cell.alignment = Alignment(vertical="top", wrap_text=True)
    if shown.level in FILLS:
        cell.fill = PatternFill("solid", fgColor=FILLS[shown.level])
    if shown.evidence:
        text = cut_cell(_spoken("\n".join(shown.evidence)), more, LONGEST_COMMENT)
        cell.comment = Comment(text, AUTHOR, width=COMMENT_WIDTH, height=COMMENT_HEIGHT)


def _set_text(cell: Any, text: str) -> None:
    """Text that Excel takes for text. The prefix keeps it so when somebody edits the cell."""
    cell.value = text
    cell.data_type = "s"
    cell.quotePrefix = True


def _spoken(text: str) -> str:
    """`text` without what XML cannot hold. `_x0041_` would be read as the letter A: its underscore is written so."""
    return _escape().sub("_x005F_", piece_of_text(text))


@cache
def _escape() -> re.Pattern[str]:
    return re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")


def _lay_out(sheet: Worksheet, headings: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """The heading and the documents' names stay in sight; columns are as wide as their longest line, within bounds."""
    from openpyxl.utils import get_column_letter

    sheet.freeze_panes = "B2"
    sheet.auto_filter.ref = sheet.dimensions
    for column, heading in enumerate(headings):
        texts = [heading, *(line for row in rows for line in text_of(row[column], "\n").split("\n"))]
        width = max(map(_width, texts)) + 2
        sheet.column_dimensions[get_column_letter(column + 1)].width = min(max(width, NARROWEST), WIDEST)
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.fitToHeight = 0
    sheet.sheet_properties.pageSetUpPr.fitToPage = True
    sheet.print_title_rows = "1:1"


def _width(text: str) -> int:
    """Columns of a fixed-width screen: a Chinese character takes two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _timeless(data: bytes) -> bytes:
    """The archive with one time in all of it; openpyxl writes that of the clock."""
    out = BytesIO()
    with ZipFile(BytesIO(data)) as old, ZipFile(out, "w", ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "docProps/core.xml":
                stamp = f">{WRITTEN:%Y-%m-%dT%H:%M:%SZ}<".encode()
                content = re.sub(rb"(?<=W3CDTF\")>[^<]*<", stamp, content)
            info = ZipInfo(name, WRITTEN.timetuple()[:6])
            info.compress_type = ZIP_DEFLATED
            new.writestr(info, content)
    return out.getvalue()
