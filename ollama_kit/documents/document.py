"""What a document is once read: one text, and for every character of it the page and the paragraph.

Text that a reader of the paper would not see is never part of `text`: it is in `hidden`. Comments, footnotes and
running headers are in `notes`, each with the place that it belongs to.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

DocumentKind = str
"""The name of its reader: pdf, docx, txt, md, html, or that of a plug-in."""
ParagraphRole = Literal["text", "heading", "table", "header", "footer", "textbox", "turned"]
"""header, footer: repeated on most pages of a PDF. turned: written in another direction than the rest of its page."""
NoteKind = Literal["comment", "footnote", "endnote", "header", "footer"]
HiddenRule = Literal[
    "white", "tiny", "invisible", "transparent", "covered", "off_page", "vanish", "style", "aria", "comment", "metadata"
]
"""Why a reader does not see it: the color of the paper · too small to read · drawn in the mode that leaves no ink ·
under something · outside the page · Word's "hidden" · HTML or CSS · only for screen readers · a comment in the source ·
a document property that gives orders to a model."""


class DocumentPlace(NamedTuple):
    """Where a character is, both from 1. `page` is 0 where the format has no pages."""

    page: int
    paragraph: int


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Characters start to end (end not included) of the text. A row of a table is one, its cells parted by tabs."""

    number: int
    page: int
    start: int
    end: int
    role: ParagraphRole = "text"


@dataclass(frozen=True, slots=True)
class Page:
    """Characters start to end of the text; pages lie close together, so that each character has one."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Note:
    """A text apart from the document's own. `offset` is where it belongs in the text (for a header: 0)."""

    kind: NoteKind
    text: str
    page: int = 0
    offset: int = 0
    author: str = ""


@dataclass(frozen=True, slots=True)
class HiddenText:
    """Words that are in the file and cannot be seen. `offset` is where in the text they would be.

    `orders` says that they read like instructions to a model (the guard's rules of injection)."""

    rule: HiddenRule
    text: str
    page: int = 0
    offset: int = 0
    detail: str = ""
    orders: bool = False


@dataclass(frozen=True, slots=True)
class DocumentLimits:
    """How much of a file is read; more is a DocumentError. Sizes in bytes."""

    file_bytes: int = 200_000_000
    pages: int = 5_000
    page_chars: int = 200_000
    unpacked_bytes: int = 500_000_000
    part_bytes: int = 100_000_000
    entries: int = 10_000
    ratio: int = 200
    """Unpacked to packed, of a part of more than a megabyte. Text shrinks to a tenth, the same row over and over to a
    hundredth."""
    depth: int = 1_000
    """How deep elements of HTML may be nested; of DOCX the XML parser takes 256."""


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document: see the module. `paragraphs` are in the order of the text, and whitespace separates them. TXT
    keeps its text unchanged, except that line ends are LF."""

    name: str
    kind: DocumentKind
    text: str
    paragraphs: tuple[Paragraph, ...]
    pages: tuple[Page, ...] = ()
    notes: tuple[Note, ...] = ()
    hidden: tuple[HiddenText, ...] = ()
    warnings: tuple[str, ...] = ()

    def place(self, offset: int) -> DocumentPlace:
        """Page and paragraph of the character at `offset`; a line end counts to the paragraph before it.

        IndexError outside 0 to len(text)."""
        if not 0 <= offset <= len(self.text):
            raise IndexError(f"offset {offset} is not in a text of {len(self.text)} characters")
        page = self.pages[_last_started(self.pages, offset)].number if self.pages else 0
        return DocumentPlace(page, _last_started(self.paragraphs, offset) + 1 if self.paragraphs else 0)

    def of(self, paragraph: Paragraph) -> str:
        """The text of one of the paragraphs."""
        return self.text[paragraph.start : paragraph.end]


def _last_started(ranges: Sequence[Paragraph | Page], offset: int) -> int:
    return max(0, bisect_right(ranges, offset, key=lambda one: one.start) - 1)
