"""Reads a PDF page by page: words, what of them is seen, the order they are read in, paragraphs."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from ollama_kit.documents.document import Aside, Draft, HiddenText, Limits, Piece
from ollama_kit.documents.pdf import asides, legible
from ollama_kit.documents.pdf.blanks import blanks
from ollama_kit.documents.pdf.cells import Grid, tables
from ollama_kit.documents.pdf.columns import regions
from ollama_kit.documents.pdf.edges import mark_edges
from ollama_kit.documents.pdf.ink import MOST_OBJECTS, Box, Painted, painted
from ollama_kit.documents.pdf.opening import SPLIT_HINT, opened, pages_of, raw
from ollama_kit.documents.pdf.page_breaks import join_overleaf
from ollama_kit.documents.pdf.paragraphs import Lines, joined, paragraphs_of
from ollama_kit.documents.pdf.rows import rows_of, stretches_of
from ollama_kit.documents.pdf.turning import turned, upright
from ollama_kit.documents.pdf.visibility import Seen, seen
from ollama_kit.documents.pdf.words import Word, words_of
from ollama_kit.errors import DocumentError

WRAPPED_SHARE = 0.5
"""Of the page's width: where no line is longer (and none stands beside), each is a paragraph of its own."""


@dataclass(slots=True)
class _Book:
    """What the pages read so far gave. `lines` and `heights` are of the draft's pieces: where each stands on its page,
    from 0 (top) to 1."""

    draft: Draft = field(default_factory=Draft)
    lines: list[Lines] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)
    states: list[legible.PageState] = field(default_factory=list)


def read_pdf(path: Path, password: str | None, limits: Limits) -> tuple[Draft, int]:
    """The draft of a PDF and its number of pages. DocumentError: see opening.py and legible.py; and for a page with
    more characters than the limit."""
    book = _Book()
    with opened(path, password, limits) as document:
        # Closed on the way out of an error too, before the document is.
        with closing(pages_of(document, path)) as pages:
            for page, text_page, number in pages:
                _read_page(document, page, text_page, _Sheet(path, number, limits), book)
        book.draft.warnings.extend(asides.warnings(document))
        book.draft.asides.extend(Aside(value) for value in asides.properties(document))
    book.draft.warnings[:0] = legible.check(book.states, path)
    book.draft.pieces = mark_edges(book.draft.pieces, book.heights, len(book.states))
    join_overleaf(book.draft, book.lines)
    return book.draft, len(book.states)


class _Sheet(NamedTuple):
    """Which page of which file, and what it may hold."""

    path: Path
    number: int
    limits: Limits

    def check(self, what: str, count: int, most: int) -> None:
        if count > most:
            said = f"{count:,} {what}; the limit is {most:,}"
            raise DocumentError(said, path=self.path, page=self.number, hint=SPLIT_HINT)


def _read_page(document: Any, page: Any, text_page: Any, sheet: _Sheet, book: _Book) -> None:
    noted = asides.marks_on(page, sheet.number)
    book.draft.asides.extend(Aside(note, book.draft.here) for note in noted.comments)
    if not noted.drawn:
        _add_page(page, text_page, sheet, book)
        return
    # Fields and typed text are drawn into the page (in memory), so that they are read where they stand.
    raw().FPDFPage_Flatten(page, raw().FLAT_NORMALDISPLAY)
    with closing(pages_of(document, sheet.path, [sheet.number])) as pages:
        for flat, flat_text, _ in pages:
            _add_page(flat, flat_text, sheet, book)


def _add_page(page: Any, text_page: Any, sheet: _Sheet, book: _Book) -> None:
    number, count = sheet.number, raw().FPDFText_CountChars(text_page)
    sheet.check("characters", count, sheet.limits.page_chars)
    paint = painted(page)
    sheet.check("objects or more", paint.count, MOST_OBJECTS)
    paper = _paper(page)
    found = seen(list(words_of(text_page, count, paint)), paint, paper)
    book.states.append(legible.page_state(number, found.words, painted=bool(paint.shapes), recognized=found.recognized))
    book.draft.asides.extend(Aside(text, book.draft.here) for text in _hidden(found, number))
    for place, lines in _paragraphs(found.words, paper, _borders(paint, paper)):
        if lines.text.strip():
            book.draft.add(Piece(lines.text, number, lines.role))
            book.lines.append(lines)
            book.heights.append(place)


def _paper(page: Any) -> Box:
    """The part of the page that is shown: its crop box within its media box; US letter where there is neither."""
    api = raw()
    boxes = []
    for ask in (api.FPDFPage_GetMediaBox, api.FPDFPage_GetCropBox):
        left, bottom, right, top = (ctypes.c_float() for _ in range(4))
        if ask(page, left, bottom, right, top):
            xs, ys = sorted((left.value, right.value)), sorted((bottom.value, top.value))
            boxes.append((xs[0], ys[0], xs[1], ys[1]))
    if not boxes:
        return 0.0, 0.0, 612.0, 792.0
    sides = list(zip(*boxes, strict=True))
    return max(sides[0]), max(sides[1]), min(sides[2]), min(sides[3])


def _hidden(found: Seen, number: int) -> Iterator[HiddenText]:
    """Hidden words that follow one another, as one finding for each rule."""
    for rule, group in groupby(found.hidden, key=lambda one: one[1]):
        lines = [
            "".join(word.text if word.glued else " " + word.text for word in line).strip()
            for _, line in groupby((word for word, _ in group), key=lambda word: word.line)
        ]
        if text := joined(filter(None, lines)):
            yield HiddenText(rule, text, number)


def _paragraphs(words: Sequence[Word], paper: Box, rules: Sequence[Box]) -> Iterator[tuple[float, Lines]]:
    """The paragraphs of a page with their height on it, from 0 (top) to 1; what is turned stands last."""
    for rank, (direction, group) in enumerate(upright(words)):
        if direction < 0:
            for _, line in groupby(group, key=lambda word: word.line):
                text = "".join(word.text if word.glued else " " + word.text for word in line).strip()
                yield 0.5, Lines(text, 0, 0, "turned")
            continue
        left, top, right, bottom = turned(direction, paper)
        width, height = right - left, max(bottom - top, 1.0)
        grid = Grid(turned(direction, box) for box in rules)
        flowing, table_rows = tables(group, grid) if grid else (group, [])
        stretches = stretches_of(flowing)
        drawn = blanks((turned(direction, box) for box in rules), stretches)
        for region in regions([*stretches, *drawn, *table_rows]):
            least_width = 0.0 if region.column else WRAPPED_SHARE * width
            for lines in paragraphs_of(rows_of(region.stretches), least_width):
                place = ((lines.top + lines.bottom) / 2 - top) / height
                yield place, lines._replace(role="turned") if rank else lines


def _borders(paint: Painted, paper: Box) -> list[Box]:
    """What may part the cells of tables: rules, and the edges of filled boxes that are not as large as pages."""
    high = (paper[3] - paper[1]) / 2
    filled = (shape.box for shape in paint.shapes if shape.what != "image" and shape.box[3] - shape.box[1] < high)
    return [*(rule.box for rule in paint.rules), *filled]
