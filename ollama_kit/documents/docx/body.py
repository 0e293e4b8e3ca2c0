"""The body of a DOCX in its order: paragraphs with their numbers, rows of tables, text boxes after their paragraph.

In the words of a paragraph insertions are kept and deletions left out, as if every change were accepted; hidden runs
are kept apart, and the places of notes recorded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ollama_kit.documents.document import HiddenRule, HiddenText, ParagraphRole
from ollama_kit.documents.docx.list_numbers import Numbering
from ollama_kit.documents.docx.opc import W, attribute
from ollama_kit.documents.docx.styles import Look, Styles, look_of, shaded
from ollama_kit.documents.draft import Anchor, Aside, Draft, DraftParagraph

_THROUGH = frozenset(W + name for name in ("sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"))
LONG_CELL_CHARS = 400
"""A row with a cell of several paragraphs and more than this is not a row of a table but text side by side: its cells
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

    def read(self, parent: Any, draft: Draft, role: ParagraphRole = "text") -> None:
        """Adds the blocks below the parent to the draft."""
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

    def _paragraph(self, element: Any, draft: Draft, role: ParagraphRole) -> None:
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

    def _add(self, words: Words, properties: Any | None, draft: Draft, role: ParagraphRole) -> None:
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
        draft.add(DraftParagraph(label + text, page, role, tuple(breaks)))
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
        side_by_side = any(len(inner.pieces) > 1 and _length(inner) > LONG_CELL_CHARS for inner, _ in filled)
        if len(filled) <= 1 or side_by_side:
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
        draft.add(DraftParagraph(text.rstrip("\t"), page, "table", (len(text),) * (self.page - page)))


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


MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

_TRANSPARENT = frozenset(
    W + name
    for name in (
        *("ins", "moveTo", "hyperlink", "smartTag", "sdt", "sdtContent", "fldSimple", "customXml", "dir", "bdo"),
        *("ruby", "rubyBase"),
    )
)
"""What is read through; w:del, w:moveFrom and whatever else is not named is left out."""
_CHARACTERS = {W + "tab": "\t", W + "ptab": "\t", W + "br": "\n", W + "cr": "\n", W + "noBreakHyphen": "-"}
_REFERENCES = {
    W + "footnoteReference": "footnote",
    W + "endnoteReference": "endnote",
    W + "commentReference": "comment",
    W + "commentRangeStart": "comment",
}
TAB_BLANK = " " * 4
"""What a tab that is underlined takes, so that a blank made of one is as long as those made of spaces."""
_DRAWINGS = frozenset((W + "drawing", W + "pict", W + "object"))


@dataclass(slots=True)
class Words:
    """What a paragraph gave so far. Offsets count from its beginning, without its number.

    hidden: (rule, text, offset). references: (kind, id, offset). boxes: the contents of text boxes. breaks: where
    pages begin."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    hidden: list[tuple[HiddenRule, str, int]] = field(default_factory=list)
    references: list[tuple[str, str, int]] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    pictures: int = 0
    underlined: list[tuple[int, int]] = field(default_factory=list)
    """Start and end of what is underlined; pieces that follow one another are one."""

    @property
    def text(self) -> str:
        """The words. White space that is underlined, and nothing else with it, is a blank to be filled in: it is shown
        as a line, and so it is read."""
        text = "".join(self.parts)
        shown, end = [], 0
        for first, last in self.underlined:
            if last - first > 1 and text[first:last].isspace():
                shown += [text[end:first], "_" * (last - first)]
                end = last
        return "".join((*shown, text[end:]))

    def add(self, text: str, rule: HiddenRule | None, *, underlined: bool = False) -> None:
        if rule is None:
            if underlined:
                text = text.replace("\t", TAB_BLANK)
                begun = bool(self.underlined) and self.underlined[-1][1] == self.length
                start = self.underlined.pop()[0] if begun else self.length
                self.underlined.append((start, self.length + len(text)))
            self.parts.append(text)
            self.length += len(text)
        elif self.hidden and self.hidden[-1][0] == rule and self.hidden[-1][2] == self.length:
            self.hidden[-1] = (rule, self.hidden[-1][1] + text, self.length)
        else:
            self.hidden.append((rule, text, self.length))


@dataclass(slots=True)
class Inline:
    """Reads paragraphs one after another. Fields may span paragraphs, so their state is kept: for each open field,
    whether its instruction is being read."""

    styles: Styles
    on_color: bool = False
    _fields: list[bool] = field(default_factory=list)

    def read(self, paragraph: Any, words: Words) -> None:
        """Adds a paragraph's words."""
        properties = paragraph.find(W + "pPr")
        style = None if properties is None else attribute(properties.find(W + "pStyle"))
        below = self.styles.look(style or self.styles.paragraph).over(self.styles.default)
        if (shade := shaded(properties)) is not None:
            below = Look(shaded=shade).over(below)
        self._walk(paragraph, words, below)

    def _walk(self, element: Any, words: Words, below: Look) -> None:
        for child in element:
            tag = child.tag
            if tag == W + "r":
                self._run(child, words, below)
            elif tag in _TRANSPARENT:
                self._walk(child, words, below)
            elif tag == MC + "AlternateContent":
                self._walk(chosen(child), words, below)
            elif tag in _REFERENCES:
                words.references.append((_REFERENCES[tag], attribute(child, "id") or "", words.length))
            elif tag in (M + "oMath", M + "oMathPara"):
                words.add("".join(one.text or "" for one in child.iter(M + "t")), None)

    def _run(self, run: Any, words: Words, below: Look) -> None:
        properties = run.find(W + "rPr")
        look = look_of(properties)
        named = None if properties is None else attribute(properties.find(W + "rStyle"))
        if named:
            look = look.over(self.styles.look(named))
        shown = look.over(below)
        rule = shown.hides(on_color=self.on_color)
        for child in _parts(run):
            self._part(child, words, rule, shown)

    def _part(self, child: Any, words: Words, rule: HiddenRule | None, shown: Look) -> None:
        tag = child.tag
        if tag == W + "fldChar":
            self._field(attribute(child, "fldCharType"))
        elif tag == W + "lastRenderedPageBreak":
            words.breaks.append(words.length)
        elif tag in _REFERENCES:
            words.references.append((_REFERENCES[tag], attribute(child, "id") or "", words.length))
        elif any(self._fields):
            return
        elif tag == W + "t":
            words.add(child.text or "", rule, underlined=bool(shown.underlined))
        elif tag in _CHARACTERS:
            character = "" if attribute(child, "type") in ("page", "column") else _CHARACTERS[tag]
            words.add(character, rule, underlined=bool(shown.underlined) and character == "\t")
        elif tag == W + "sym":
            words.add(_symbol(attribute(child, "char") or ""), rule)
        elif tag in _DRAWINGS:
            words.pictures += 1
            words.boxes.extend(_boxes(child))
        elif tag == W + "ruby":
            self._walk(child, words, shown)

    def _field(self, kind: str | None) -> None:
        if kind == "begin":
            self._fields.append(True)
        elif kind == "separate" and self._fields:
            self._fields[-1] = False
        elif kind == "end" and self._fields:
            self._fields.pop()


def chosen(alternate: Any) -> Any:
    """The branch of mc:AlternateContent that a current Word shows: the first choice, else the fallback."""
    branch = alternate.find(MC + "Choice")
    if branch is None:
        branch = alternate.find(MC + "Fallback")
    return () if branch is None else branch


def _parts(run: Any) -> Iterator[Any]:
    for child in run:
        if child.tag == MC + "AlternateContent":
            yield from chosen(child)
        else:
            yield child


def _boxes(drawing: Any) -> Iterator[Any]:
    """The contents of the text boxes of a drawing, those inside another one not counted twice."""
    waiting = list(drawing)
    while waiting:
        element = waiting.pop(0)
        if element.tag == W + "txbxContent":
            yield element
        else:
            waiting[:0] = list(chosen(element) if element.tag == MC + "AlternateContent" else element)


def _symbol(code: str) -> str:
    """The character of w:sym; those that only a symbol font has become a bullet."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    return "•" if 0xE000 <= number <= 0xF8FF else chr(number) if 0x20 <= number < 0x110000 else ""
