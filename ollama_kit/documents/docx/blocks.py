"""The body of a DOCX in its order: paragraphs with their numbers, rows of tables, text boxes after their paragraph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ollama_kit.documents.document import Anchor, Aside, Draft, HiddenText, Piece, Role
from ollama_kit.documents.docx.inline import MC, Inline, Words, chosen
from ollama_kit.documents.docx.numbering import Numbering
from ollama_kit.documents.docx.package import W, attribute
from ollama_kit.documents.docx.styles import Styles, shaded

_THROUGH = frozenset(W + name for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"))
LONG_CELL_CHARS = 400
"""A row with a cell of several paragraphs and more than this is no row of a table but text side by side: its cells
are read one after the other."""


@dataclass(slots=True)
class Blocks:
    """Reads blocks into drafts. `references` collects (kind, id) with the place in the draft of the whole body."""

    styles: Styles
    numbering: Numbering
    paged: bool = False
    """Whether the file says where pages begin (as whoever saved it last laid them out)."""
    page: int = 0
    pictures: int = 0
    skipped: int = 0
    """Parts of other files put into this one (w:altChunk)."""
    anchors: list[tuple[str, str, Anchor]] = field(default_factory=list)
    _colored: list[bool] = field(default_factory=list)
    _inline: Inline | None = None
    _carried: Words | None = None

    def read(self, parent: Any, draft: Draft, role: Role = "text") -> None:
        """Adds what stands below the parent to the draft."""
        for child in parent:
            tag = child.tag
            if tag == W + "p":
                self._paragraph(child, draft, role)
            elif tag == W + "tbl":
                self._table(child, draft)
            elif tag in _THROUGH:
                self.read(child, draft, role)
            elif tag == MC + "AlternateContent":
                self.read(chosen(child), draft, role)
            elif tag == W + "altChunk":
                self.skipped += 1

    def finish(self, draft: Draft) -> None:
        """Adds what waits for a paragraph that never came: the last one's mark was deleted."""
        if self._carried is not None:
            carried, self._carried = self._carried, None
            self._add(carried, None, draft, "text")

    def _paragraph(self, element: Any, draft: Draft, role: Role) -> None:
        words, self._carried = self._carried or Words(), None
        if self._inline is None:
            self._inline = Inline(self.styles)
        self._inline.on_color = any(self._colored)
        self._inline.read(element, words)
        properties = element.find(W + "pPr")
        mark = None if properties is None else properties.find(W + "rPr")
        if mark is not None and (mark.find(W + "del") is not None or mark.find(W + "moveFrom") is not None):
            # With the deletion of its mark accepted, the paragraph runs on into the next one.
            self._carried = words
            return
        self._add(words, properties, draft, role)

    def _add(self, words: Words, properties: Any | None, draft: Draft, role: Role) -> None:
        text = words.text
        label = self._label(properties) if text.strip() or not words.hidden else ""
        style_id = None if properties is None else attribute(properties.find(W + "pStyle"))
        if role == "text" and any(style.heading for style in self.styles.chain(style_id or "")):
            role = "heading"
        here, shift = len(draft.pieces), len(label)
        for rule, hidden, offset in words.hidden:
            if hidden.strip():
                draft.asides.append(Aside(HiddenText(rule, hidden.strip()), Anchor(here, shift + offset)))
        self.anchors.extend((kind, key, Anchor(here, shift + offset)) for kind, key, offset in words.references)
        page, breaks = self.page, [at + shift if at else 0 for at in words.breaks] if self.paged else []
        self.page += len(breaks)
        while breaks and breaks[0] == 0:
            page, breaks = page + 1, breaks[1:]
        draft.add(Piece(label + text, page, role, tuple(breaks)))
        self.pictures += words.pictures
        for box in words.boxes:
            self.read(box, draft, "textbox")

    def _label(self, properties: Any | None) -> str:
        """The number of a paragraph, by its own properties or by its style's."""
        style_id = self.styles.paragraph
        own = None
        if properties is not None:
            style_id = attribute(properties.find(W + "pStyle")) or style_id
            own = properties.find(W + "numPr")
        list_id = None if own is None else attribute(own.find(W + "numId"))
        level = None if own is None else attribute(own.find(W + "ilvl"))
        if list_id is None:
            for style in self.styles.chain(style_id):
                if style.list_id is not None:
                    list_id = style.list_id
                    tied = self.numbering.level_of_style(list_id, style_id)
                    level = level or str(tied if style.level is None else style.level)
                    break
        if list_id in (None, "0"):
            return ""
        return self.numbering.label(str(list_id), int(level) if level and level.isdigit() else 0)

    def _table(self, table: Any, draft: Draft) -> None:
        style_id = attribute(table.find(f"{W}tblPr/{W}tblStyle")) or ""
        colored = any(style.shaded for style in self.styles.chain(style_id))
        for row in _below(table, W + "tr"):
            if row.find(f"{W}trPr/{W}del") is None:
                self._row(row, draft, colored=colored)

    def _row(self, row: Any, draft: Draft, *, colored: bool) -> None:
        cells = []
        first = self.page
        seen = len(self.anchors)
        for cell in _below(row, W + "tc"):
            properties = cell.find(W + "tcPr")
            if properties is not None and properties.find(W + "cellDel") is not None:
                continue
            inner, before = Draft(), len(self.anchors)
            self._colored.append(colored or bool(shaded(properties)))
            self.read(cell, inner)
            self.finish(inner)
            self._colored.pop()
            cells.append((inner, self.anchors[before:]))
        del self.anchors[seen:]
        filled = [cell for cell in cells if cell[0].pieces]
        beside = any(len(inner.pieces) > 1 and _length(inner) > LONG_CELL_CHARS for inner, _ in filled)
        if len(filled) <= 1 or beside:
            for inner, anchors in cells:
                self._one_by_one(inner, anchors, draft, in_table=len(cells) > 1)
        else:
            self._side_by_side(cells, draft, first)

    def _one_by_one(
        self, inner: Draft, anchors: list[tuple[str, str, Anchor]], draft: Draft, *, in_table: bool
    ) -> None:
        shift = len(draft.pieces)
        for piece in inner.pieces:
            draft.add(replace(piece, role="table") if in_table and piece.role == "text" else piece)
        draft.asides.extend(Aside(one.value, _moved(one.anchor, shift)) for one in inner.asides)
        self.anchors.extend((kind, key, _moved(anchor, shift)) for kind, key, anchor in anchors)

    def _side_by_side(self, cells: list[tuple[Draft, list[tuple[str, str, Anchor]]]], draft: Draft, page: int) -> None:
        here, text = len(draft.pieces), ""
        for at, (inner, anchors) in enumerate(cells):
            text += "\t" if at else ""
            starts = []
            for number, piece in enumerate(inner.pieces):
                text += " " if number else ""
                starts.append(len(text))
                text += piece.text.replace("\n", " ")
            starts.append(len(text))

            def place(anchor: Anchor, starts: list[int] = starts) -> Anchor:
                return Anchor(here, starts[min(anchor.piece, len(starts) - 1)] + anchor.offset)

            draft.asides.extend(Aside(one.value, place(one.anchor)) for one in inner.asides)
            self.anchors.extend((kind, key, place(anchor)) for kind, key, anchor in anchors)
        draft.add(Piece(text.rstrip("\t"), page, "table", (len(text),) * (self.page - page)))


def _below(parent: Any, tag: str) -> Iterator[Any]:
    """The rows of a table or the cells of a row, those within content controls and insertions too."""
    for child in parent:
        if child.tag == tag:
            yield child
        elif child.tag in _THROUGH:
            yield from _below(child, tag)


def _length(draft: Draft) -> int:
    return sum(len(piece.text) for piece in draft.pieces)


def _moved(anchor: Anchor, shift: int) -> Anchor:
    return Anchor(anchor.piece + shift, anchor.offset)
