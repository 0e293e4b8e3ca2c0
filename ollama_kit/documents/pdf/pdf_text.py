"""Reads a PDF page by page: words, which of them are visible, the order they are read in, paragraphs.

A page that cannot be read (pictures without text, or shapes without known characters) becomes a warning; where
half of the pages cannot, the document is refused.
"""

from __future__ import annotations

import ctypes
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ollama_kit.documents.document import DocumentLimits, HiddenText
from ollama_kit.documents.draft import Aside, Draft, DraftParagraph
from ollama_kit.documents.pdf.annotations import document_properties, marks_on, unread_parts
from ollama_kit.documents.pdf.ink import MOST_OBJECTS, Box, Painted, painted
from ollama_kit.documents.pdf.page_breaks import join_across_pages, mark_edges
from ollama_kit.documents.pdf.pdfium import SPLIT_HINT, opened, pages_of, raw
from ollama_kit.documents.pdf.reading_order import PageParagraph, joined, paragraphs_of, regions, rows_of, stretches_of
from ollama_kit.documents.pdf.ruled import Grid, blanks, tables
from ollama_kit.documents.pdf.visibility import VisibleWords, split_visible
from ollama_kit.documents.pdf.words import Word, turned, upright, words_of
from ollama_kit.errors import DocumentError

WRAPPED_SHARE = 0.5
"""Of the page's width: where no line is longer (and none is beside it), each is a paragraph of its own."""


@dataclass(slots=True)
class _Book:
    """What the pages read so far gave. `lines` and `heights` are of the draft's pieces: where each is on its page,
    from 0 (top) to 1."""

    draft: Draft = field(default_factory=Draft)
    lines: list[PageParagraph] = field(default_factory=list)
    heights: list[float] = field(default_factory=list)
    states: list[PageState] = field(default_factory=list)


def read_pdf(path: Path, password: str | None, limits: DocumentLimits) -> tuple[Draft, int]:
    """The draft of a PDF and its number of pages. DocumentError: see pdfium.py and `check`; and for a page with
    more characters than the limit."""
    book = _Book()
    with opened(path, password, limits) as document:
        # Closed on the way out of an error too, before the document is.
        with closing(pages_of(document, path)) as pages:
            for page, text_page, number in pages:
                _read_page(document, page, text_page, _PageLimits(path, number, limits), book)
        book.draft.warnings.extend(unread_parts(document))
        book.draft.asides.extend(Aside(value) for value in document_properties(document))
    book.draft.warnings[:0] = check(book.states, path)
    book.draft.pieces = mark_edges(book.draft.pieces, book.heights, len(book.states))
    join_across_pages(book.draft, book.lines)
    return book.draft, len(book.states)


class _PageLimits(NamedTuple):
    """Which page of which file, and what it may hold."""

    path: Path
    number: int
    limits: DocumentLimits

    def check(self, what: str, count: int, most: int) -> None:
        if count > most:
            said = f"{count:,} {what}; the limit is {most:,}"
            raise DocumentError(said, path=self.path, page=self.number, hint=SPLIT_HINT)


def _read_page(document: Any, page: Any, text_page: Any, limit: _PageLimits, book: _Book) -> None:
    noted = marks_on(page, limit.number)
    book.draft.asides.extend(Aside(note, book.draft.here) for note in noted.comments)
    if not noted.drawn:
        _add_page(page, text_page, limit, book)
        return
    # Fields and typed text are drawn into the page (in memory), so that they are read where they are.
    raw().FPDFPage_Flatten(page, raw().FLAT_NORMALDISPLAY)
    with closing(pages_of(document, limit.path, [limit.number])) as pages:
        for flat, flat_text, _ in pages:
            _add_page(flat, flat_text, limit, book)


def _add_page(page: Any, text_page: Any, limit: _PageLimits, book: _Book) -> None:
    number, count = limit.number, raw().FPDFText_CountChars(text_page)
    limit.check("characters", count, limit.limits.page_chars)
    paint = painted(page)
    limit.check("objects or more", paint.count, MOST_OBJECTS)
    paper = _paper(page)
    found = split_visible(list(words_of(text_page, count, paint)), paint, paper)
    book.states.append(page_state(number, found.words, painted=bool(paint.shapes), recognized=found.recognized))
    book.draft.asides.extend(Aside(text, book.draft.here) for text in _hidden(found, number))
    for place, lines in _paragraphs(found.words, paper, _borders(paint, paper)):
        if lines.text.strip():
            book.draft.add(DraftParagraph(lines.text, number, lines.role))
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


def _hidden(found: VisibleWords, number: int) -> Iterator[HiddenText]:
    """Hidden words that follow one another, as one finding for each rule."""
    for rule, group in groupby(found.hidden, key=lambda one: one[1]):
        lines = [
            "".join(word.text if word.glued else " " + word.text for word in line).strip()
            for _, line in groupby((word for word, _ in group), key=lambda word: word.line)
        ]
        if text := joined(filter(None, lines)):
            yield HiddenText(rule, text, number)


def _paragraphs(words: Sequence[Word], paper: Box, rules: Sequence[Box]) -> Iterator[tuple[float, PageParagraph]]:
    """The paragraphs of a page with their height on it, from 0 (top) to 1; what is turned comes last."""
    for rank, (direction, group) in enumerate(upright(words)):
        if direction < 0:
            for _, line in groupby(group, key=lambda word: word.line):
                text = "".join(word.text if word.glued else " " + word.text for word in line).strip()
                yield 0.5, PageParagraph(text, 0, 0, "turned")
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


LEAST_CHARS = 8
"""A page with pictures and fewer characters than this has no text to speak of."""
GARBLED_SHARE = 0.3
REFUSED_SHARE = 0.5
"""Of the pages that are not blank."""

State = Literal["read", "blank", "picture", "garbled"]
OCR_HINT = (
    "Have the text recognized first, for instance with `ocrmypdf --force-ocr -l chi_sim+eng in.pdf out.pdf`.",
    "请先做文字识别（OCR），例如 `ocrmypdf --force-ocr -l chi_sim+eng in.pdf out.pdf`，再读取 out.pdf。",
)


class PageState(NamedTuple):
    """What can be read of page `number` (from 1); `recognized`: its text is what a program saw in a picture."""

    number: int
    state: State
    recognized: bool = False


def page_state(number: int, words: Sequence[Word], *, painted: bool, recognized: bool) -> PageState:
    """The state of a page by the visible words. `painted`: it has something that is not text."""
    total = sum(len(word.text) for word in words)
    if total < LEAST_CHARS and painted:
        return PageState(number, "picture")
    if total == 0:
        return PageState(number, "blank")
    bad = sum(len(word.text) if not word.legible else _strange(word.text) for word in words)
    return PageState(number, "garbled" if bad > GARBLED_SHARE * total else "read", recognized)


def _strange(text: str) -> int:
    """Characters that no document has: private use, controls, not assigned, the replacement character.

    Symbol fonts put a few (bullets, boxes) into the private use area; a page full of them is another matter."""
    if text.isascii() and text.isprintable():
        return 0
    return sum(one == "\ufffd" or unicodedata.category(one) in ("Co", "Cc", "Cn", "Cs") for one in text)


def check(states: Sequence[PageState], path: Path) -> list[str]:
    """Warnings about single pages. DocumentError where half of the pages cannot be read, or none has text."""
    written = [page for page in states if page.state != "blank"]
    pictures = [page.number for page in written if page.state == "picture"]
    garbled = [page.number for page in written if page.state == "garbled"]
    if not written:
        raise DocumentError("the document has no text: every page is blank", path=path, hint=OCR_HINT)
    if len(pictures) + len(garbled) >= REFUSED_SHARE * len(written):
        what = "is a scan: no text" if len(pictures) >= len(garbled) else "is garbled: no known characters"
        unread = sorted(pictures + garbled)
        raise DocumentError(
            f"the PDF {what} on {len(unread)} of {len(written)} pages ({numbers(unread)})", path=path, hint=OCR_HINT
        )
    warnings = []
    if pictures:
        warnings.append(f"no text on page {numbers(pictures)}: pictures only, whose text was not read")
    if garbled:
        warnings.append(f"garbled text on page {numbers(garbled)}: the file does not say which characters it shows")
    if seen := [page.number for page in states if page.recognized]:
        warnings.append(f"a scan: the text of page {numbers(seen)} was recognized by a program and may be wrong")
    return warnings


def numbers(pages: Sequence[int]) -> str:
    """Page numbers for a person, runs drawn together.

    >>> numbers([1, 2, 3, 7])
    '1-3, 7'
    """
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][-1] + 1:
            runs[-1][1:] = [page]
        else:
            runs.append([page])
    return ", ".join("-".join(map(str, run)) for run in runs)
