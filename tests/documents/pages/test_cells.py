"""Cells that a spreadsheet opens as text."""

from __future__ import annotations

from hypothesis import given, settings, strategies as st

from ollama_kit.documents.pages.cells import inert

FORMULAS = frozenset("=+-@\t\r＝＋－＠")


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet="ab中1 \t\n\r;'\"=+-@＝＋－＠|\x00\ud800", max_size=40))
def test_no_cell_is_a_formula(text: str) -> None:
    """No cell begins as a formula does, whichever of comma and semicolon separates cells."""
    for cell in inert(text).split(";"):
        assert cell.strip(' "')[:1] not in FORMULAS
