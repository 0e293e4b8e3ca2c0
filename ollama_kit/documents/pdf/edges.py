"""What repeats at the top or foot of the pages: running headers, footers, page numbers."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ollama_kit.documents.document import Piece, Role

EDGE_PIECES = 3
"""Paragraphs looked at from either end of a page."""
EDGE_SHARE = 0.13
"""Of the page's height, at its top and foot."""
LEAST_SHARE = 0.4
LONGEST_CHARS = 160
_WORDS = re.compile(r"[^\W\d_]{2}")
_NUMBERS = re.compile(r"\d+|[一二三四五六七八九十百〇零]+(?=\s*页)|\b[ivxlc]+\b")


def mark_edges(pieces: list[Piece], heights: Sequence[float], pages: int) -> list[Piece]:
    """The pieces, those that repeat marked as header or footer. `heights`: where each stands, from 0 (top) to 1.

    They repeat if, but for numbers, they are the same at the same edge of two pages in five, and of two at least. A
    page number on its own may stand anywhere, if nothing stands behind it (or before it)."""
    if pages < 2:
        return pieces
    found: dict[tuple[Role, str], set[int]] = defaultdict(set)
    places = dict(_edges(pieces, heights))
    for index, key in places.items():
        found[key].add(pieces[index].page)
    least = max(2, LEAST_SHARE * pages)
    return [
        replace(piece, role=places[index][0]) if index in places and len(found[places[index]]) >= least else piece
        for index, piece in enumerate(pieces)
    ]


def _edges(pieces: list[Piece], heights: Sequence[float]) -> list[tuple[int, tuple[Role, str]]]:
    by_page: dict[int, list[int]] = defaultdict(list)
    for index, piece in enumerate(pieces):
        if piece.role != "turned":
            by_page[piece.page].append(index)
    edges: list[tuple[int, tuple[Role, str]]] = []
    for indexes in by_page.values():
        ranked = sorted(indexes, key=lambda index: heights[index])
        sides: dict[Role, list[int]] = {"header": ranked[:EDGE_PIECES], "footer": ranked[::-1][:EDGE_PIECES]}
        for role, some in sides.items():
            for rank, index in enumerate(some):
                text = pieces[index].text.strip()
                if len(text) > LONGEST_CHARS:
                    continue
                key = _NUMBERS.sub("#", text)
                if (rank == 0 and not _WORDS.search(key)) or _near(heights[index], role):
                    edges.append((index, (role, key)))
    return edges


def _near(height: float, role: Role) -> bool:
    return height < EDGE_SHARE if role == "header" else height > 1 - EDGE_SHARE
