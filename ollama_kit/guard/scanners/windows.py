"""A text in pieces that a model can take whole: what lies past its window, a model does not see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Span = tuple[int, int]

SPARE_TOKENS = 16  # a piece can take a few tokens more than the same characters did within the text
WORD_CHARS, SHARED_CHARS = 100, 24
_BREAKS = re.compile(r"[\n。！？；.!?;,，\s]")


def overlapping(text: str, tokenizer: Any, room: int) -> tuple[Span, ...]:
    """Spans that cover `text`, each of at most `room` tokens, each sharing about a quarter with the one before."""
    spans = list(_covering(text, tokenizer, room, max(1, room // 4)))
    return tuple(spans or [(0, len(text))])


def disjoint(text: str, tokenizer: Any, room: int) -> tuple[Span, ...]:
    """Spans of at most `room` tokens that join to `text`, cut where a sentence or a word ends if there is one."""
    spans, start = [], 0
    for _, end in _covering(text, tokenizer, room, 0):
        if end < len(text):
            last = max((found.end() for found in _BREAKS.finditer(text, start, end)), default=end)
            end = last if last > start + (end - start) // 2 else end
        while start < end:
            stop = end
            while stop - start > 1 and count(text[start:stop], tokenizer) > room:
                stop = start + (stop - start) // 2
            spans.append((start, stop))
            start = stop
    return (*spans, (start, len(text))) if start < len(text) else tuple(spans)


def count(text: str, tokenizer: Any) -> int:
    """The tokens of a text, without special ones."""
    return len(tokenizer(text, add_special_tokens=False, truncation=False, verbose=False)["input_ids"])


def _covering(text: str, tokenizer: Any, room: int, overlap: int) -> Iterator[Span]:
    """Spans by the tokens of the whole text, each split again where it takes more tokens by itself."""
    places = _places(text, tokenizer)
    begun = 0
    for at, (start, end) in enumerate(places):
        if end - start > WORD_CHARS:
            yield from _by_tokens(text, places[begun:at], (places[begun][0], start), tokenizer, (room, overlap))
            yield from _in_pieces(start, end)
            begun = at + 1
    if begun < len(places) or not places:
        rest = (places[begun][0] if begun else 0, len(text))
        yield from _by_tokens(text, places[begun:], rest, tokenizer, (room, overlap))


def _by_tokens(text: str, places: list[Span], span: Span, tokenizer: Any, sizes: tuple[int, int]) -> Iterator[Span]:
    """`span` of the text, whose tokens stand at `places`, in pieces; `sizes` are the room and the overlap in tokens."""
    room, overlap = sizes
    size = room - SPARE_TOKENS if room > 2 * SPARE_TOKENS else max(1, room)
    step, covered = max(1, size - overlap), span[0]
    for at in range(0, len(places), step):
        last = at + size >= len(places)
        end = span[1] if last else places[at + size - 1][1]
        yield from _fitting(text, (min(places[at][0], covered), end), tokenizer, room)
        covered = end
        if last:
            return


def _in_pieces(start: int, end: int) -> Iterator[Span]:
    """One endless word in pieces. WordPiece takes a word of more than 100 characters for a single unknown token, and
    the model then sees nothing of what it says; the pieces are words that it can see."""
    for at in range(start, end, WORD_CHARS - SHARED_CHARS):
        yield at, min(at + WORD_CHARS, end)
        if at + WORD_CHARS >= end:
            return


def _fitting(text: str, span: Span, tokenizer: Any, room: int) -> Iterator[Span]:
    """The span, or the parts of it that fit; parts share some characters, so that no word is only ever seen in two."""
    start, end = span
    if end - start <= 1 or count(text[start:end], tokenizer) <= room:
        yield span
        return
    middle, shared = (start + end) // 2, min(SHARED_CHARS, (end - start) // 8)
    yield from _fitting(text, (start, middle + shared), tokenizer, room)
    yield from _fitting(text, (middle, end), tokenizer, room)


def _places(text: str, tokenizer: Any) -> list[Span]:
    """Where each token of the text stands, in characters; one a character where the tokenizer does not know."""
    if not getattr(tokenizer, "is_fast", False):
        return [(at, at + 1) for at in range(len(text))]
    encoded = tokenizer(text, add_special_tokens=False, truncation=False, return_offsets_mapping=True, verbose=False)
    return [(start, end) for start, end in encoded["offset_mapping"] if end > start]
