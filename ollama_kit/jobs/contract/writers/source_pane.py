"""The text of a contract cut where a quote begins or ends, so that any number of quotes may lie over each other.

Each piece says in which quotes it lies, and which of them begin there; nothing is nested, so quotes may overlap in any
way and reach over paragraphs and cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ollama_kit.documents.document import Note, Paragraph, ReadDocument
from ollama_kit.jobs.contract.writers.view_model import Proof, View

Kind = Literal["text", "heading", "table", "beside"]
"""beside: running headers, text boxes and text turned on the page."""

LONGEST_HEADING = 60
"""Characters of a line that may be the heading of a clause."""
NOTED = ("comment", "footnote", "endnote")
"""Notes that belong to a place in the text; headers and footers belong to all of it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of the text: the numbers of the quotes that it lies in, and what begins before its first character. `page`
    is the number of a page that begins there, 0 if none does."""

    text: str
    quotes: tuple[int, ...] = ()
    begins: tuple[int, ...] = ()
    clauses: tuple[int, ...] = ()
    hidden: tuple[int, ...] = ()
    notes: tuple[int, ...] = ()
    page: int = 0


@dataclass(frozen=True, slots=True)
class Line:
    """A paragraph: its cells, one where it is no row of a table."""

    number: int
    cells: tuple[tuple[Piece, ...], ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Paragraphs of one kind; all rows of a table are one block. `page` is the page that begins before it, or 0."""

    kind: Kind
    page: int
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Pane:
    """The whole text, the notes that stand beside it, and the numbers of the quotes."""

    blocks: tuple[Block, ...]
    notes: tuple[Note, ...]
    numbers: tuple[int, ...]


def read_pane(document: ReadDocument, view: View) -> Pane:
    """The text with every quote, clause, note and hidden text of the view in its place.

    What lies outside the text or between paragraphs is moved to the nearest place behind it."""
    notes = tuple(note for note in document.notes if note.text.strip())
    spans = {proof.number: (proof.evidence.start, proof.evidence.end) for proof in _proofs(view)}
    cutter = _Cutter(document, _events(document, view, notes, spans))
    blocks: list[Block] = []
    page = 0
    for paragraph in document.paragraphs:
        kind = _kind(paragraph, document, view)
        line = cutter.line(paragraph)
        turned = paragraph.page if paragraph.page != page else 0
        page = cutter.page or paragraph.page
        last = blocks[-1] if blocks else None
        if kind == "table" and last and last.kind == "table" and not turned:
            blocks[-1] = Block("table", last.page, (*last.lines, line))
        else:
            blocks.append(Block(kind, turned, (line,)))
    rest = cutter.rest()
    if rest is not None:
        blocks.append(Block("beside", 0, (Line(0, ((rest,),)),)))
    return Pane(tuple(blocks), notes, tuple(sorted(spans)))


def _proofs(view: View) -> Iterator[Proof]:
    items = [item for section in view.sections for row in section.rows for item in row.items]
    for item in (*items, *view.notices):
        for one in item.each():
            yield from one.proofs


def _kind(paragraph: Paragraph, document: ReadDocument, view: View) -> Kind:
    if paragraph.role in ("heading", "table"):
        return "heading" if paragraph.role == "heading" else "table"
    if paragraph.role != "text":
        return "beside"
    text = document.of(paragraph).strip()
    titled = any(paragraph.start <= clause.start < paragraph.end for clause in view.clauses)
    ended = not text or text[-1] in "。；;，,：:.、"
    return "heading" if titled and not ended and "\n" not in text and len(text) <= LONGEST_HEADING else "text"


EventKind = Literal["begin", "end", "clause", "hidden", "note", "page"]


@dataclass(frozen=True, slots=True, order=True)
class _Event:
    """What happens at an offset. Quotes begin before others end: one without a character begins and ends at once."""

    offset: int
    kind: EventKind
    number: int


def _events(
    document: ReadDocument, view: View, notes: Sequence[Note], spans: dict[int, tuple[int, int]]
) -> list[_Event]:
    events = [_Event(start, "begin", number) for number, (start, _) in spans.items()]
    events += [_Event(max(span), "end", number) for number, span in spans.items()]
    events += [_Event(clause.start, "clause", at) for at, clause in enumerate(view.clauses, 1)]
    events += [_Event(one.offset, "hidden", at) for at, one in enumerate(view.hidden, 1)]
    events += [_Event(one.offset, "note", at) for at, one in enumerate(notes, 1) if one.kind in NOTED]
    starts = {paragraph.start for paragraph in document.paragraphs}
    events += [_Event(page.start, "page", page.number) for page in document.pages if page.start not in starts]
    return sorted(events)


@dataclass
class _Cutter:
    """Walks through the text once, with the quotes that lie over the place where it is."""

    document: ReadDocument
    events: list[_Event]
    at: int = 0
    page: int = 0
    over: dict[int, None] = field(default_factory=dict)
    begun: dict[str, list[int]] = field(default_factory=dict)

    def line(self, paragraph: Paragraph) -> Line:
        """A paragraph in pieces."""
        self.page = 0
        cells: list[tuple[Piece, ...]] = []
        start = paragraph.start
        for end in self._cell_ends(paragraph):
            cells.append(tuple(self._pieces(start, end)))
            start = end + 1
        return Line(paragraph.number, tuple(cells))

    def _cell_ends(self, paragraph: Paragraph) -> Iterable[int]:
        text = self.document.text
        if paragraph.role == "table":
            yield from (at for at in range(paragraph.start, paragraph.end) if text[at] == "\t")
        yield paragraph.end

    def _pieces(self, start: int, end: int) -> Iterator[Piece]:
        while start < end:
            self._reach(start)
            stop = min(self.events[self.at].offset, end) if self.at < len(self.events) else end
            yield self._piece(start, stop)
            start = stop

    def _piece(self, start: int, stop: int) -> Piece:
        begun = {kind: tuple(numbers) for kind, numbers in self.begun.items()}
        self.begun = {}
        page = begun.get("page", (0,))[-1]
        self.page = page or self.page
        return Piece(
            text=self.document.text[start:stop],
            quotes=tuple(self.over),
            begins=begun.get("begin", ()),
            clauses=begun.get("clause", ()),
            hidden=begun.get("hidden", ()),
            notes=begun.get("note", ()),
            page=page,
        )

    def _reach(self, offset: int) -> None:
        """Takes in all that happens up to `offset`."""
        while self.at < len(self.events) and self.events[self.at].offset <= offset:
            event = self.events[self.at]
            self.at += 1
            if event.kind == "end":
                self.over.pop(event.number, None)
                continue
            if event.kind == "begin":
                self.over[event.number] = None
            self.begun.setdefault(event.kind, []).append(event.number)

    def rest(self) -> Piece | None:
        """What begins behind the last character; None if nothing does."""
        self._reach(max([len(self.document.text), *(event.offset for event in self.events)]))
        return self._piece(0, 0) if self.begun else None
