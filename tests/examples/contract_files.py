"""Makes the DOCX and the PDF of examples/contracts/ from the texts beside them: python -m tests.examples.contract_files

The text says everything: a line with tabs is a row of a table, a line that begins with a number is a clause. In the
DOCX the numbers are Word's own, so that they stand nowhere in its text.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import docx
from docx.enum.text import WD_ALIGN_PARAGRAPH
from docx.oxml.ns import qn
from docx.shared import Pt
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY
from reportlab.lib.pagesizes import letter
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, KeepTogether, PageBreak, Paragraph, SimpleDocTemplate, Table

from tests.documents.docxs import xml

FOLDER = Path(__file__).parents[2] / "examples" / "contracts"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every part of the DOCX, so that the same text gives the same file."""


class Line(NamedTuple):
    """A line of the text: its style, its number where Word is to give it, and the rest."""

    style: str
    number: str
    text: str


_STYLES = (
    ("article", r"第[一二三四五六七八九十]+条 "),
    ("paragraph", r"\d+\.\d+ "),
    ("item", r"（[一二三四五六七八九十]+）"),
    ("point", r"[一二三四五六七八九十]+、"),
    ("attachment", r"(?=附件[一二三] |Exhibit [A-Z]: )"),
    ("heading", r"(?=\d+\. [A-Z])"),
    ("row", r"(?=.*\t)"),
    ("party", r"(?=[A-Z][A-Z .,]+$)"),
    ("signature", r"(?=(?:By|Name|Title|Date): )"),
)
_LEVELS = (
    ("article", "chineseCountingThousand", "第%1条", "space"),
    ("paragraph", "decimal", "%1.%2", "space"),
    ("item", "chineseCounting", "（%3）", "nothing"),
)


def lines_of(text: str) -> Iterator[Line]:
    """Every line that is not blank, the first as title."""
    for number, line in enumerate(filter(None, text.split("\n"))):
        found = ((style, re.match(mark, line)) for style, mark in _STYLES)
        style, match = next(((style, match) for style, match in found if match), ("text", None))
        end = match.end() if match else 0
        yield Line("title" if number == 0 else style, line[:end], line[end:])


def write_docx(text: str, path: Path) -> None:
    """A contract as Word has it: styles that number, tables, a running header, attachments on pages of their own."""
    document: Any = docx.Document()
    _number(document)
    _dress(document)
    lists = iter(range(2, 20))
    points = 0
    for is_row, group in groupby(lines_of(text), key=lambda line: line.style == "row"):
        if is_row:
            _word_table(document, [line.text.split("\t") for line in group])
            continue
        for line in group:
            points = next(lists) if line.style == "attachment" else points
            paragraph = document.add_paragraph(
                line.text, style=None if line.style == "text" else f"contract {line.style}"
            )
            if line.style == "point":
                numbers = xml(f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{points}"/></w:numPr>')
                paragraph._p.get_or_add_pPr().append(numbers)
    _edges(document, next(line for line in text.split("\n") if line.startswith("合同编号")))
    _pack(document, path)


def _number(document: Any) -> None:
    """Puts in the lists: articles with paragraphs and items below them, and one of points for each attachment."""
    root = document.part.numbering_part.element
    for child in list(root):
        root.remove(child)
    levels = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:pStyle w:val="{style}"/>'
        f'{"<w:isLgl/>" if form == "decimal" else ""}<w:suff w:val="{gap}"/><w:lvlText w:val="{shown}"/></w:lvl>'
        for at, (style, form, shown, gap) in enumerate(_LEVELS)
    )
    point = (
        '<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="chineseCounting"/><w:suff w:val="nothing"/>'
        '<w:lvlText w:val="%1、"/></w:lvl>'
    )
    restart = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'
    numbers = "".join(f'<w:num w:numId="{n}"><w:abstractNumId w:val="2"/>{restart}</w:num>' for n in range(2, 5))
    for child in xml(
        f'<w:numbering><w:abstractNum w:abstractNumId="1">{levels}</w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="2">{point}</w:abstractNum>'
        f'<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>{numbers}</w:numbering>'
    ):
        root.append(child)


def _dress(document: Any) -> None:
    """The styles. Those of _LEVELS number their paragraphs."""
    normal = document.styles["Normal"]
    normal.font.name, normal.font.size = "Times New Roman", Pt(10.5)
    normal.element.rPr.rFonts.set(qn("w:eastAsia"), "宋体")
    normal.paragraph_format.line_spacing, normal.paragraph_format.space_after = 1.3, Pt(2)
    for name in ("title", "attachment", "article", "paragraph", "item", "point"):
        level = next((at for at, one in enumerate(_LEVELS) if one[0] == name), None)
        numbers = "" if level is None else f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="1"/></w:numPr>'
        outline = '<w:outlineLvl w:val="0"/>' if name in ("article", "attachment") else ""
        document.styles.element.append(
            xml(
                f'<w:style w:type="paragraph" w:customStyle="1" w:styleId="{name}"><w:name w:val="contract {name}"/>'
                f'<w:basedOn w:val="Normal"/><w:qFormat/><w:pPr>{numbers}{outline}</w:pPr></w:style>'
            )
        )
    for name, size in (("title", 18.0), ("attachment", 12.0), ("article", 10.5)):
        style = document.styles[f"contract {name}"]
        style.font.bold, style.font.size = True, Pt(size)
        style.paragraph_format.space_before = style.paragraph_format.space_after = Pt(6)
    document.styles["contract title"].paragraph_format.alignment = WD_ALIGN_PARAGRAPH.CENTER
    document.styles["contract attachment"].paragraph_format.page_break_before = True


def _word_table(document: Any, rows: Sequence[Sequence[str]]) -> None:
    """A table; a row with fewer cells has its first one across those that are missing. Two columns: the signatures,
    without lines."""
    width = max(map(len, rows))
    table = document.add_table(0, width, style=None if width == 2 else "Table Grid")
    for row in rows:
        cells = table.add_row().cells
        missing = width - len(row)
        first = cells[0].merge(cells[missing]) if missing else cells[0]
        for cell, words in zip((first, *cells[missing + 1 :]), row, strict=True):
            cell.paragraphs[0].text = words


def _edges(document: Any, number: str) -> None:
    section = document.sections[0]
    section.header.paragraphs[0].text = number
    footer = section.footer.paragraphs[0]
    footer.alignment = WD_ALIGN_PARAGRAPH.CENTER
    for words, field in (("第", "PAGE"), ("页，共", "NUMPAGES"), ("页", "")):
        footer.add_run(words)
        if field:
            footer._p.append(xml(f'<w:fldSimple w:instr="{field}"><w:r><w:t>1</w:t></w:r></w:fldSimple>'))


def _pack(document: Any, path: Path) -> None:
    """Saves the document without the template's author, picture and times."""
    properties = document.core_properties
    properties.author, properties.comments = "", ""
    packed = BytesIO()
    document.save(packed)
    with zipfile.ZipFile(packed) as archive, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name in archive.namelist():
            data = archive.read(name)
            if name == "_rels/.rels":
                data = re.sub(rb"<Relationship [^>]*thumbnail[^>]*/>", b"", data)
            if not name.endswith("thumbnail.jpeg"):
                entry = zipfile.ZipInfo(name, LONG_AGO)
                entry.compress_type = zipfile.ZIP_DEFLATED
                out.writestr(entry, data)


_BODY = ParagraphStyle("text", fontName="Times-Roman", fontSize=10.5, leading=13.5, spaceAfter=5, alignment=TA_JUSTIFY)
_LOOKS = {
    "text": _BODY,
    "paragraph": ParagraphStyle("paragraph", parent=_BODY, leftIndent=14),
    "title": ParagraphStyle("title", parent=_BODY, fontName="Times-Bold", fontSize=15, leading=20, alignment=TA_CENTER),
    "heading": ParagraphStyle("heading", parent=_BODY, fontName="Times-Bold", spaceBefore=6, keepWithNext=1),
    "attachment": ParagraphStyle("attachment", parent=_BODY, fontName="Times-Bold", fontSize=12, leading=18),
    "party": ParagraphStyle("party", parent=_BODY, spaceBefore=14, keepWithNext=1),
    "signature": ParagraphStyle("signature", parent=_BODY, spaceAfter=0, leading=16),
}
_CELL = ParagraphStyle("cell", parent=_BODY, fontSize=9.5, leading=11.5, spaceAfter=0, alignment=0)
_GRID = [("GRID", (0, 0), (-1, -1), 0.5, "black"), ("VALIGN", (0, 0), (-1, -1), "TOP")]


def write_pdf(text: str, path: Path) -> None:
    """A contract as a word processor prints it: justified text in Times, tables, a running header and page numbers."""
    number = text.split("\n")[2]
    template = SimpleDocTemplate(
        str(path), pagesize=letter, title="Service Agreement", author="", invariant=1, topMargin=72, bottomMargin=72
    )
    edge = _page_edge(number)
    template.build(list(_flow(text)), onFirstPage=edge, onLaterPages=edge)


def _flow(text: str) -> Iterator[Flowable]:
    for style, group in groupby(lines_of(text), key=lambda line: line.style):
        if style == "row":
            rows = [[Paragraph(escape(cell), _CELL) for cell in line.text.split("\t")] for line in group]
            yield Table(rows, style=_GRID, hAlign="LEFT", spaceBefore=4, spaceAfter=8)
            continue
        made = [Paragraph(escape(line.number + line.text), _LOOKS[style]) for line in group]
        if style == "attachment":
            yield PageBreak()
        yield from [KeepTogether(made)] if style == "signature" else made


def _page_edge(number: str) -> Callable[[Canvas, Any], None]:
    def draw(canvas: Canvas, template: Any) -> None:
        canvas.setFont("Times-Roman", 8.5)
        canvas.drawString(72, 752, f"Service Agreement {number.partition(' ')[2]}")
        canvas.drawRightString(540, 752, "Confidential")
        canvas.drawCentredString(306, 40, f"Page {template.page}")

    return draw


def main() -> None:
    """Writes both files anew."""
    for name, write in (("purchase_contract.docx", write_docx), ("service_agreement.pdf", write_pdf)):
        path = FOLDER / name
        write(path.with_suffix(".txt").read_text(encoding="utf-8"), path)
        print(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
