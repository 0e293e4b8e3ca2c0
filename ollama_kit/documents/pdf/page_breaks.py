"""Where pages meet: running headers, footers and page numbers, which repeat on the pages; and paragraphs that a page
break cut in two, which continue at the top of the next page.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from ollama_kit.documents.document import ParagraphRole
from ollama_kit.documents.draft import Anchor, Draft, DraftParagraph
from ollama_kit.documents.pdf.reading_order import PageParagraph, joined
from ollama_kit.documents.plain_text import begins_clause

EDGE_PIECES = 3
"""Paragraphs looked at from either end of a page."""
EDGE_SHARE = 0.13
"""Of the page's height, at its top and foot."""
LEAST_SHARE = 0.4
LONGEST_CHARS = 160
_WORDS = re.compile(r"[^\W\d_]{2}")
_NUMBERS = re.compile(r"\d+|[一二三四五六七八九十百〇零]+(?=\s*页)|\b[ivxlc]+\b")


def mark_edges(pieces: list[DraftParagraph], heights: Sequence[float], pages: int) -> list[DraftParagraph]:
    """The pieces, those that repeat marked as header or footer. `heights`: where each is, from 0 (top) to 1.

    They repeat if, but for numbers, they are the same at the same edge of two pages in five, and of two at least. A
    page number on its own may be anywhere, if nothing comes after it (or before it)."""
    if pages < 2:
        return pieces
    found: dict[tuple[ParagraphRole, str], set[int]] = defaultdict(set)
    places = dict(_edges(pieces, heights))
    for index, key in places.items():
        found[key].add(pieces[index].page)
    least = max(2, LEAST_SHARE * pages)
    return [
        replace(piece, role=places[index][0]) if index in places and len(found[places[index]]) >= least else piece
        for index, piece in enumerate(pieces)
    ]


def _edges(pieces: list[DraftParagraph], heights: Sequence[float]) -> list[tuple[int, tuple[ParagraphRole, str]]]:
    by_page: dict[int, list[int]] = defaultdict(list)
    for index, piece in enumerate(pieces):
        if piece.role != "turned":
            by_page[piece.page].append(index)
    edges: list[tuple[int, tuple[ParagraphRole, str]]] = []
    for indexes in by_page.values():
        ranked = sorted(indexes, key=lambda index: heights[index])
        sides: dict[ParagraphRole, list[int]] = {"header": ranked[:EDGE_PIECES], "footer": ranked[::-1][:EDGE_PIECES]}
        for role, some in sides.items():
            for rank, index in enumerate(some):
                text = pieces[index].text.strip()
                if len(text) > LONGEST_CHARS:
                    continue
                key = _NUMBERS.sub("#", text)
                if (rank == 0 and not _WORDS.search(key)) or _near(heights[index], role):
                    edges.append((index, (role, key)))
    return edges


def _near(height: float, role: ParagraphRole) -> bool:
    return height < EDGE_SHARE if role == "header" else height > 1 - EDGE_SHARE


LONG_CHARS = 80
"""A paragraph of more is not a title, name or address, which end without a full stop."""
_OUTSIDE_FLOW = ("header", "footer", "turned")
_ENDED = re.compile(r"[.:;!?。：；！？…][\"”’'）)\]]*\Z")
_WAITING = re.compile(
    r"(?i)(?:,|\b(?:a|an|and|any|as|at|be|by|each|for|from|in|is|its|may|nor|not|of|on|or|shall|such|than|that|the|this|to|will|with))\Z"
)
"""How no paragraph ends: what follows may begin with a capital, as in "the laws of | California"."""
_CHINESE = re.compile(r"[\u3400-\u9fff，、（《“\d]")
_LETTER = re.compile(r"[^\W\d_]")


def join_across_pages(draft: Draft, lines: Sequence[PageParagraph]) -> None:
    """Makes one piece of two where a paragraph continues on the next page; `lines` are those of the draft's pieces.

    The foot of the first page then comes before it and the head of the second behind it, so that every page is still
    one stretch of the text. What spans three pages is split after the second."""
    pieces = draft.pieces
    tails = dict(_tails(pieces, lines))
    if not tails:
        return
    order = list(_ordered(pieces, tails))
    made: list[DraftParagraph] = []
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


def _tails(pieces: Sequence[DraftParagraph], lines: Sequence[PageParagraph]) -> Iterator[tuple[int, int]]:
    """(a paragraph, its rest on the next page)."""
    flow = [index for index, piece in enumerate(pieces) if piece.role not in _OUTSIDE_FLOW]
    rest = -1
    for index, after in pairwise(flow):
        first, second = pieces[index], pieces[after]
        turned_over = second.page == first.page + 1 and first.role == second.role == "text"
        if turned_over and index != rest and _continues(first, second, lines[index].full, lines[after].flush):
            rest = after
            yield index, after


def _ordered(pieces: Sequence[DraftParagraph], tails: dict[int, int]) -> Iterator[int]:
    """The pieces that remain, in their new order."""
    index = 0
    while index < len(pieces):
        end = tails.get(index, index)
        between = range(index + 1, end)
        yield from (one for one in between if pieces[one].page == pieces[index].page)
        yield index
        yield from (one for one in between if pieces[one].page != pieces[index].page)
        index = end + 1


def _continues(first: DraftParagraph, second: DraftParagraph, full: bool, flush: bool) -> bool:
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
