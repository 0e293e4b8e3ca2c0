"""Paragraphs that a page break cut in two: the last of a page goes on at the top of the next."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ollama_kit.documents.document import Anchor, Draft, Piece
from ollama_kit.documents.pdf.paragraphs import Lines, joined
from ollama_kit.documents.plain import begins_clause

LONG_CHARS = 80
"""A paragraph of more is no title, name or address, which end without a full stop."""
_BESIDE = ("header", "footer", "turned")
_ENDED = re.compile(r"[.:;!?。：；！？…][\"”’'）)\]]*\Z")
_WAITING = re.compile(
    r"(?i)(?:,|\b(?:a|an|and|any|as|at|be|by|each|for|from|in|is|its|may|nor|not|of|on|or|shall|such|than|that|the|this|to|will|with))\Z"
)
"""How no paragraph ends: what follows may begin with a capital, as in "the laws of | California"."""
_CHINESE = re.compile(r"[\u3400-\u9fff，、（《“\d]")
_LETTER = re.compile(r"[^\W\d_]")


def join_overleaf(draft: Draft, lines: Sequence[Lines]) -> None:
    """Makes one piece of two where a paragraph goes on overleaf; `lines` are those of the draft's pieces.

    The foot of the first page then stands before it and the head of the second behind it, so that every page is still
    one stretch of the text. What stands on three pages is parted after the second."""
    pieces = draft.pieces
    tails = dict(_tails(pieces, lines))
    if not tails:
        return
    order = list(_ordered(pieces, tails))
    made: list[Piece] = []
    places: dict[int, Anchor] = {}
    for index in order:
        places[index] = Anchor(len(made), 0)
        piece = pieces[index]
        if index in tails:
            rest = pieces[tails[index]].text
            text = joined([piece.text, rest])
            begins = len(text) - len(rest)
            places[tails[index]] = Anchor(len(made), begins)
            piece = replace(piece, text=text, breaks=(*piece.breaks, begins))
        made.append(piece)
    places[len(pieces)] = Anchor(len(made), 0)
    draft.asides = [replace(one, anchor=_moved(one.anchor, places)) for one in draft.asides]
    draft.pieces = made


def _moved(anchor: Anchor, places: dict[int, Anchor]) -> Anchor:
    if anchor.piece not in places:
        return anchor
    piece, offset = places[anchor.piece]
    return Anchor(piece, offset + anchor.offset)


def _tails(pieces: Sequence[Piece], lines: Sequence[Lines]) -> Iterator[tuple[int, int]]:
    """(a paragraph, its rest on the next page)."""
    flow = [index for index, piece in enumerate(pieces) if piece.role not in _BESIDE]
    rest = -1
    for index, after in pairwise(flow):
        first, second = pieces[index], pieces[after]
        turned_over = second.page == first.page + 1 and first.role == second.role == "text"
        if turned_over and index != rest and _goes_on(first, second, lines[index].full, lines[after].flush):
            rest = after
            yield index, after


def _ordered(pieces: Sequence[Piece], tails: dict[int, int]) -> Iterator[int]:
    """The pieces that remain, in their new order."""
    index = 0
    while index < len(pieces):
        end = tails.get(index, index)
        between = range(index + 1, end)
        yield from (one for one in between if pieces[one].page == pieces[index].page)
        yield index
        yield from (one for one in between if pieces[one].page != pieces[index].page)
        index = end + 1


def _goes_on(first: Piece, second: Piece, full: bool, flush: bool) -> bool:
    """Whether the second is the rest of the first: `full`, whose last line reaches the right side; `flush`, the first
    line there begins at the left one."""
    before, after = first.text.rstrip(), second.text.lstrip()
    if _ENDED.search(before) or not _LETTER.search(before) or begins_clause(after):
        return False
    if after[0].islower():
        return True
    if _CHINESE.match(before[-1]):
        return full and flush and _CHINESE.match(after) is not None
    long = len(before) > LONG_CHARS and len(after) > LONG_CHARS
    return full and (long or _WAITING.search(before) is not None)
