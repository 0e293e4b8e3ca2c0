"""Blanks that are drawn as rules are text: what is not filled in can be seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

from ollama_kit.documents import read_document
from tests.documents.pdfs import Draw, pdf
from tests.documents.test_pdf import texts

FULL = "This agreement is made between the two parties that are named here, and by nobody else at"


def line(y: float, *parts: str | int) -> Draw:
    """A line of text in which a number is a rule of so many points."""

    def draw(canvas: Canvas) -> None:
        x = 72.0
        for part in parts:
            if isinstance(part, int):
                canvas.line(x, y - 1.5, x + part, y - 1.5)
                x += part
            else:
                canvas.drawString(x, y, part)
                x += canvas.stringWidth(part, "Helvetica", 11)

    return draw


def read(path: Path, *draws: Draw) -> list[str]:
    def page(canvas: Canvas) -> None:
        for draw in draws:
            draw(canvas)

    return texts(read_document(pdf(path / "a.pdf", page)))


def test_a_rule_on_the_line_is_a_blank(tmp_path: Path) -> None:
    """Behind a label, between words, at the beginning of a line, and two in a row; the sentence stays one."""
    made = read(
        tmp_path,
        line(700, FULL + " all,"),
        line(686, "represented by ", 90, " (the Buyer) and ", 120, ", with its seat in ", 60),
        line(672, 80, " (the Seller)."),
        line(600, "Date: ", 150),
    )
    assert made == [
        f"{FULL} all, represented by ____ (the Buyer) and ____, with its seat in ____ ____ (the Seller).",
        "Date: ____",
    ]


def test_underlining_run_by_run_is_one_blank(tmp_path: Path) -> None:
    """As word processors draw it."""
    made = read(tmp_path, line(700, "Name: ", 40, 3, 50))
    assert made == ["Name: ____"]


def test_a_numbered_line_that_begins_with_a_blank_is_one_paragraph(tmp_path: Path) -> None:
    """The number hangs out to the left of what follows."""

    def hanging(canvas: Canvas) -> None:
        canvas.drawString(72, 700, "2.")
        canvas.line(90, 698.5, 250, 698.5)
        canvas.drawString(254, 700, "with its seat in the city of Portland, Oregon, and represented")
        canvas.drawString(90, 686, "by its managing director.")

    made = read(tmp_path, hanging)
    assert made == ["2. ____ with its seat in the city of Portland, Oregon, and represented by its managing director."]


def under_words(canvas: Canvas) -> None:
    canvas.drawString(72, 700, "Name: Jane Example")
    canvas.line(105, 698.5, 170, 698.5)


def across_the_page(canvas: Canvas) -> None:
    canvas.drawString(72, 700, "1. Term. It runs for a year.")
    canvas.line(72, 660, 520, 660)
    canvas.drawString(72, 640, "2. Fees. There are none.")


def cells(canvas: Canvas) -> None:
    canvas.drawString(76, 686, "Item")
    canvas.drawString(304, 686, "Price")
    canvas.grid([72, 172, 300, 400], [700, 682, 664])


@pytest.mark.parametrize("draw", [under_words, across_the_page, cells])
def test_other_rules_are_no_blanks(tmp_path: Path, draw: Draw) -> None:
    """Below words that were filled in, between clauses, around cells."""
    assert not any("_" in text for text in read(tmp_path, draw))
