"""What a reader gathers of a file, and how it becomes a document: the text, the ranges of its paragraphs and pages, and
the offsets of its notes and hidden texts.

Readers of every format fill a `Draft` with paragraphs and asides; `assemble` makes the `ReadDocument` of it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ollama_kit.documents.document import DocumentKind, HiddenText, Note, Page, Paragraph, ParagraphRole, ReadDocument

LONG_PROPERTY = 100
_SPOKEN = re.compile(
    r"(?i)ignor|disregard|instruct|prompt|system|assistant|\bAI\b|model|output|respond|answer|must|<\||忽略|无视|指令|指示"
    r"|提示词|模型|助手|输出|回答|审阅|必须|不要"
)


class Anchor(NamedTuple):
    """A place while the text is being assembled: piece of text from 0 and characters into it; piece -1: characters
    from the beginning of the text."""

    piece: int
    offset: int


BEGINNING = Anchor(0, 0)


@dataclass(frozen=True, slots=True)
class DraftParagraph:
    """A paragraph as a reader gives it. `breaks`: characters in `text` before which a new page begins. `gap`: what
    parts it from the one before (of the first, too, if the text is kept unchanged)."""

    text: str
    page: int = 0
    role: ParagraphRole = "text"
    breaks: tuple[int, ...] = ()
    gap: str = "\n"


@dataclass(frozen=True, slots=True)
class Aside:
    """A note or hidden text as a reader gives it: its place is a piece, and becomes an offset."""

    value: Note | HiddenText
    anchor: Anchor = BEGINNING


@dataclass(slots=True)
class Draft:
    """What a reader has gathered so far. Pieces without a visible character are not paragraphs and are left out."""

    pieces: list[DraftParagraph] = field(default_factory=list)
    asides: list[Aside] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    verbatim: bool = False
    """Whether the gap before the first piece belongs to the text."""
    tail: str = ""

    def add(self, piece: DraftParagraph) -> None:
        if piece.text.strip():
            self.pieces.append(piece)

    @property
    def here(self) -> Anchor:
        """The place where the next piece will begin."""
        return Anchor(len(self.pieces), 0)


def assemble(draft: Draft, name: str, kind: DocumentKind, page_numbers: Sequence[int] = ()) -> ReadDocument:
    """The document of a draft. `page_numbers`: all pages there are, those without text too; empty: none are known.

    >>> draft = Draft([DraftParagraph("one", page=1), DraftParagraph("two", page=2)])
    >>> read = assemble(draft, "a.pdf", "pdf", [1, 2])
    >>> read.text, read.place(4)
    ('one\\ntwo', DocumentPlace(page=2, paragraph=2))
    """
    paragraphs = tuple(_ranges(draft))
    gaps = [piece.gap for piece in draft.pieces]
    gaps[:1] = gaps[:1] if draft.verbatim else [""] * len(gaps[:1])
    text = "".join(gap + piece.text for gap, piece in zip(gaps, draft.pieces, strict=True)) + draft.tail
    values = [_placed(aside.value, aside.anchor, paragraphs) for aside in draft.asides]
    return ReadDocument(
        name=name,
        kind=kind,
        text=text,
        paragraphs=paragraphs,
        pages=tuple(_pages(draft.pieces, paragraphs, page_numbers, len(text))),
        notes=tuple(value for value in values if isinstance(value, Note)),
        hidden=judged(value for value in values if isinstance(value, HiddenText)),
        warnings=tuple(dict.fromkeys(draft.warnings)),
    )


def judged(found: Iterable[HiddenText]) -> tuple[HiddenText, ...]:
    """The hidden texts, each with the guard's verdict on whether it gives orders; a property without is dropped."""
    rated = (replace(one, orders=_gives_orders(one)) for one in found if one.rule != "metadata" or _talks(one.text))
    return tuple(one for one in rated if one.orders or one.rule != "metadata")


def _gives_orders(one: HiddenText) -> bool:
    from ollama_kit.guard.injection import find_injection

    return bool(find_injection(one.text, "hidden text"))


def _talks(text: str) -> bool:
    """Whether a property may be more than a title or a name: the guard's rules, which take a second to load, are
    asked about those only."""
    return len(text) > LONG_PROPERTY or _SPOKEN.search(text) is not None


def _ranges(draft: Draft) -> Iterable[Paragraph]:
    end = 0
    for number, piece in enumerate(draft.pieces, 1):
        start = end + (len(piece.gap) if number > 1 or draft.verbatim else 0)
        end = start + len(piece.text)
        yield Paragraph(number, piece.page, start, end, piece.role)


def _placed(value: Note | HiddenText, anchor: Anchor, paragraphs: Sequence[Paragraph]) -> Note | HiddenText:
    if anchor.piece < 0:
        after = bisect_left(paragraphs, anchor.offset, key=lambda one: one.end)
        paragraph = paragraphs[after] if after < len(paragraphs) else Paragraph(0, 0, 0, 0)
        offset = anchor.offset
    elif anchor.piece < len(paragraphs):
        paragraph = paragraphs[anchor.piece]
        offset = min(paragraph.start + anchor.offset, paragraph.end)
    else:
        paragraph = paragraphs[-1] if paragraphs else Paragraph(0, 0, 0, 0)
        offset = paragraph.end
    return replace(value, offset=offset, page=value.page or paragraph.page)


def _pages(
    pieces: Sequence[DraftParagraph], paragraphs: Sequence[Paragraph], numbers: Sequence[int], length: int
) -> Iterable[Page]:
    starts: dict[int, int] = {}
    for piece, paragraph in zip(pieces, paragraphs, strict=True):
        starts.setdefault(piece.page, paragraph.start)
        for more, offset in enumerate(piece.breaks, 1):
            starts.setdefault(piece.page + more, paragraph.start + offset)
    if not numbers:
        return
    begins: dict[int, int] = {}
    later = length
    for number in reversed(numbers):
        later = begins[number] = starts.get(number, later)
    begins[numbers[0]] = 0
    ends = [*(begins[number] for number in numbers[1:]), length]
    for number, end in zip(numbers, ends, strict=True):
        yield Page(number, begins[number], end)
