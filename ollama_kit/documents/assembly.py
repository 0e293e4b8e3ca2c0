"""Puts pieces together: the text, the ranges of its paragraphs and pages, and the offsets of what stands beside."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ollama_kit.documents.document import (
    Anchor,
    Draft,
    HiddenText,
    Kind,
    Note,
    Page,
    Paragraph,
    Piece,
    ReadDocument,
)

LONG_PROPERTY = 100
_SPOKEN = re.compile(
    r"(?i)ignor|disregard|instruct|prompt|system|assistant|\bAI\b|model|output|respond|answer|must|<\||忽略|无视|指令|指示"
    r"|提示词|模型|助手|输出|回答|审阅|必须|不要"
)


def assemble(draft: Draft, name: str, kind: Kind, page_numbers: Sequence[int] = ()) -> ReadDocument:
    """The document of a draft. `page_numbers`: all pages there are, those without text too; empty: none are known.

    >>> draft = Draft([Piece("one", page=1), Piece("two", page=2)])
    >>> read = assemble(draft, "a.pdf", "pdf", [1, 2])
    >>> read.text, read.place(4)
    ('one\\ntwo', Place(page=2, paragraph=2))
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
    """The findings, each with the guard's word on whether it gives orders; a property that gives none is no finding."""
    told = (replace(one, orders=_gives_orders(one)) for one in found if one.rule != "metadata" or _talks(one.text))
    return tuple(one for one in told if one.orders or one.rule != "metadata")


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
    pieces: Sequence[Piece], paragraphs: Sequence[Paragraph], numbers: Sequence[int], length: int
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
