"""PDF: what stands where on the page becomes text in the order in which it is read."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from ollama_kit.documents import ReadDocument, read_document
from tests.documents.pdfs import CHINESE, both, lines, pdf

CONTRACTS = Path(__file__).parents[1] / "data" / "contracts"
CHINESE_PDF = CONTRACTS / "docs" / "synthetic_zh_embedded_cid_table_hiddentext.pdf"


def texts(document: ReadDocument, role: str = "") -> list[str]:
    """The paragraphs, of one role if it is given."""
    return [document.of(one) for one in document.paragraphs if role in ("", one.role)]


def check_places(document: ReadDocument) -> None:
    """Each character of a paragraph has that paragraph and its page as its place, across page breaks too."""
    for paragraph in document.paragraphs:
        for offset in {paragraph.start, (paragraph.start + paragraph.end - 1) // 2, paragraph.end - 1}:
            turned = sum(paragraph.start < page.start <= offset for page in document.pages)
            assert document.place(offset) == (paragraph.page + turned, paragraph.number)


def test_the_chinese_contract_is_read_as_it_was_written() -> None:
    """Text, table rows, joined lines, and the page of each paragraph of the shipped Chinese contract."""
    read = read_document(CHINESE_PDF)
    written = (CONTRACTS / "zh_synthetic" / "synthetic_zh_sale.txt").read_text(encoding="utf-8").splitlines()
    found = texts(read, "text")
    missing = [line for line in written if line.strip() and line not in found]
    # What differs is set as a table, or spaced otherwise, in the PDF.
    assert [line for line in missing if "，" in line] == []
    assert texts(read, "table") == [
        "序号\t名称\t型号\t数量\t含税单价（元）\t含税金额（元）",
        "1\t数控加工中心\tBC-850V\t3 台\t386,000.00\t1,158,000.00",
        "2\t刀具套装\tT-20\t3 套\t14,000.00\t42,000.00",
    ]
    assert texts(read, "footer") == ["第 1 页 共 2 页", "第 2 页 共 2 页"]
    seal = read.text.index("乙方（盖章）")
    assert read.place(seal).page == 2
    check_places(read)
    assert [(page.number, page.end) for page in read.pages][-1] == (2, len(read.text))


def test_wrapped_lines_become_one_paragraph_and_hyphens_stay(tmp_path: Path) -> None:
    """A line goes on where its first word would not have fitted; Latin words keep their hyphen and their spaces."""
    page = lines(
        [
            "1. The Supplier grants to the Buyer for the whole term of this agreement a non-",
            "exclusive license to use the goods, and the Buyer accepts it as it stands here, not",
            "as in the schedule.",
            "2. Notices are in writing.",
        ]
    )
    read = read_document(pdf(tmp_path / "a.pdf", page))
    first, second = texts(read)
    assert first.startswith("1. The Supplier grants to the Buyer for the whole term of this agreement a non-exclusive")
    assert first.endswith("Buyer accepts it as it stands here, not as in the schedule.")
    assert second == "2. Notices are in writing."


def test_a_word_that_a_line_end_cut_is_whole_where_the_page_has_it_whole(tmp_path: Path) -> None:
    """Typeset text is hyphenated: the page's own words tell such a hyphen from that of a compound."""
    page = lines(
        [
            "1. This agreement is a non-exclusive one, and nothing that is said in this agree-",
            "ment makes it exclusive for either party, nor does it make the license a non-",
            "exclusive one for others, whatever stands in the schedule or was said before-",
            "hand by one of the parties.",
        ]
    )
    (read,) = texts(read_document(pdf(tmp_path / "a.pdf", page)))
    assert "said in this agreement makes it" in read
    assert "the license a non-exclusive one for others" in read
    assert "before-hand" in read


def test_full_lines_of_a_page_of_short_paragraphs_stay_apart(tmp_path: Path) -> None:
    """Where most paragraphs are of one or two lines, the usual step is the one between them: the close lines tell."""
    full = "The goods remain the property of the Seller until the Buyer has paid their price in full."
    paragraphs = [["The Supplier shall tell the Buyer at once of whatever may delay the goods, and of their", "delay."]]
    paragraphs += [[full]] * 8

    def draw(canvas: Canvas) -> None:
        y = 780.0
        for paragraph in paragraphs * 2:
            for line in paragraph:
                canvas.drawString(72, y, line)
                y -= 13.5
            y -= 5

    made = texts(read_document(pdf(tmp_path / "a.pdf", draw)))
    assert made == [" ".join(paragraph) for paragraph in paragraphs * 2]


@pytest.mark.parametrize("interleaved", [False, True])
def test_two_columns_are_read_one_after_the_other(tmp_path: Path, interleaved: bool) -> None:
    """The left column first, whether the file holds it first or goes from left to right line by line."""
    left = [f"left {number} the supplier delivers all goods" for number in range(8)]
    right = [f"right {number} the buyer pays for all goods" for number in range(8)]

    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 790, "MASTER AGREEMENT BETWEEN THE PARTIES NAMED BELOW AND ON THE NEXT PAGE, TO WIT")
        rows = [(72, text, at) for at, text in enumerate(left)] + [(320, text, at) for at, text in enumerate(right)]
        for x, text, at in sorted(rows, key=lambda row: row[2]) if interleaved else rows:
            canvas.drawString(x, 740 - 14 * at, text)
        canvas.drawString(72, 500, "Signed by both parties, each on the date beside its own signature")

    text = read_document(pdf(tmp_path / "a.pdf", draw)).text
    order = [text.index(one) for one in ("MASTER", *left, *right, "Signed")]
    assert order == sorted(order)
    assert "goods left 1" in text.replace("\n", " ")


def test_a_table_without_rules_keeps_its_cells(tmp_path: Path) -> None:
    """Cells that line up are parted by tabs, row by row."""

    def draw(canvas: Canvas) -> None:
        for row, cells in enumerate([("Item", "Price", "Due"), ("Steel", "100.00", "May"), ("Wire", "7.50", "June")]):
            for column, cell in enumerate(cells):
                canvas.drawString(72 + 150 * column, 700 - 16 * row, cell)

    read = read_document(pdf(tmp_path / "a.pdf", draw))
    assert texts(read, "table") == ["Item\tPrice\tDue", "Steel\t100.00\tMay", "Wire\t7.50\tJune"]


def test_a_ruled_table_joins_the_lines_of_a_cell(tmp_path: Path) -> None:
    """Between rules, text of several lines is one cell, and an empty cell keeps its place."""

    def draw(canvas: Canvas) -> None:
        canvas.grid([72, 172, 300, 400], [700, 660, 620])
        canvas.drawString(76, 686, "Milling")
        canvas.drawString(76, 672, "center")
        canvas.drawString(304, 686, "386,000.00")
        canvas.drawString(76, 646, "Tools")
        canvas.drawString(176, 646, "T-20")
        canvas.drawString(304, 646, "14,000.00")

    read = read_document(pdf(tmp_path / "a.pdf", draw))
    assert texts(read, "table") == ["Milling center\t\t386,000.00", "Tools\tT-20\t14,000.00"]


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_rotated_page_reads_like_any_other(tmp_path: Path, angle: int) -> None:
    """Pages turned by /Rotate, with their text drawn to look upright then, give the same text as upright ones."""
    x, y = {90: (100, 100), 180: (500, 700), 270: (400, 500)}[angle]

    def draw(canvas: Canvas) -> None:
        canvas.setPageRotation(angle)
        canvas.translate(x, y)
        canvas.rotate(angle)
        lines(["Clause one: price.", "Clause two: delivery.", "Clause three: law."], 0, 0)(canvas)

    read = read_document(pdf(tmp_path / "a.pdf", draw))
    assert read.text == "Clause one: price.\nClause two: delivery.\nClause three: law."


def test_text_turned_on_its_page_stands_after_the_rest(tmp_path: Path) -> None:
    """A note up the margin, and a slanted stamp, are kept apart from the lines they cross."""

    def draw(canvas: Canvas) -> None:
        lines(["This is the contract.", "It has two lines."])(canvas)
        for angle, text in ((90, "Up the margin"), (40, "DRAFT")):
            canvas.saveState()
            canvas.translate(300, 400)
            canvas.rotate(angle)
            canvas.drawString(0, 0, text)
            canvas.restoreState()

    read = read_document(pdf(tmp_path / "a.pdf", draw))
    assert texts(read, "turned") == ["Up the margin", "DRAFT"]
    assert texts(read)[:2] == ["This is the contract.", "It has two lines."]


def test_running_headers_and_footers_are_marked(tmp_path: Path) -> None:
    """What repeats at the edges of pages is marked, numbers aside; clauses that merely stand there are not."""

    def page(number: int) -> None:
        body = lines([f"{number}. Clause of its own number {'abc'[number - 1]}."], top=700)
        edges = both(lines(["Contract No. SYN-7, secret"], top=815), lines([f"Page {number} of 3"], top=30))
        pages.append(both(edges, body))

    pages: list[object] = []
    for number in (1, 2, 3):
        page(number)
    read = read_document(pdf(tmp_path / "a.pdf", *pages))  # type: ignore[arg-type]
    assert texts(read, "header") == ["Contract No. SYN-7, secret"] * 3
    assert texts(read, "footer") == ["Page 1 of 3", "Page 2 of 3", "Page 3 of 3"]
    assert len(texts(read, "text")) == 3
    check_places(read)


def test_a_page_without_text_keeps_its_number(tmp_path: Path) -> None:
    """A blank page in between has a range of no characters, and the next one its right number."""
    read = read_document(
        pdf(tmp_path / "a.pdf", lines(["first page text"]), lambda canvas: None, lines(["third page text"]))
    )
    assert [page.number for page in read.pages] == [1, 2, 3]
    assert read.place(read.text.index("third")).page == 3
    assert read.pages[1].start == read.pages[1].end


def test_filled_in_fields_are_read_where_they_stand_and_comments_apart(tmp_path: Path) -> None:
    """A form's value belongs to the page; a sticky note does not."""

    def draw(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "Name of the buyer:")
        canvas.acroForm.textfield(name="buyer", value="Acme Example Ltd", x=200, y=692, width=200, height=20)
        canvas.textAnnotation("Is this the right entity?", Rect=[400, 700, 420, 720])

    read = read_document(pdf(tmp_path / "a.pdf", draw))
    assert "Acme Example Ltd" in read.text
    assert [(note.kind, note.text, note.page) for note in read.notes] == [("comment", "Is this the right entity?", 1)]
    assert "right entity" not in read.text


def test_chinese_lines_are_joined_without_spaces(tmp_path: Path) -> None:
    """A font that is not embedded, a paragraph of two full lines: no space and no line end between its letters."""
    line = "乙方应于二〇二六年六月三十日前将全部设备运抵甲方指定地点并由双方共同验收合"
    page = lines([line, "格。", "第二条 交货"], font=CHINESE)
    read = read_document(pdf(tmp_path / "a.pdf", page))
    assert texts(read) == [line + "格。", "第二条 交货"]


def test_chinese_paragraphs_begin_two_letters_in(tmp_path: Path) -> None:
    """A line that fills its width and ends with a full stop does not draw the next, indented one to itself."""
    line = "乙方应于二〇二六年六月三十日前将全部设备运抵甲方指定地点并由双方共同验"

    def draw(canvas: Canvas) -> None:
        canvas.setFont(CHINESE, 11)
        for row, (x, text) in enumerate([(94, line[:33] + "。"), (94, line[:34]), (72, line), (72, "收合格。")]):
            canvas.drawString(x, 700 - 18 * row, text)

    read = read_document(pdf(tmp_path / "a.pdf", draw))
    assert texts(read) == [line[:33] + "。", line[:34] + line + "收合格。"]


def test_two_languages_side_by_side_in_one_frame(tmp_path: Path) -> None:
    """A row of two long cells is read cell by cell, though one begins lower than the other."""

    def draw(canvas: Canvas) -> None:
        canvas.grid([72, 290, 520], [700, 400])
        canvas.setFont(CHINESE, 10)
        for row in range(16):
            canvas.drawString(76, 660 - 14 * row, f"第{row}行乙方为甲方提供数据平台的实施")
        for row in range(18):
            canvas.drawString(296, 688 - 14 * row, f"line {row} Party B shall provide the services to A")

    text = read_document(pdf(tmp_path / "a.pdf", draw)).text
    order = [text.index(f"第{row}行") for row in range(16)] + [text.index(f"line {row} ") for row in range(18)]
    assert order == sorted(order)


def test_a_document_is_a_value(tmp_path: Path) -> None:
    """It can be sent to another process, and is equal to itself read again."""
    path = pdf(tmp_path / "a.pdf", lines(["The contract."]))
    read = read_document(path)
    assert pickle.loads(pickle.dumps(read)) == read == read_document(path)
