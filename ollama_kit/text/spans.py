"""Where a character of changed text was in the text that the caller gave."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """`old[start:end]` was replaced by `new`. Edits of one text are sorted and do not overlap."""

    start: int
    end: int
    new: str


@dataclass(frozen=True)
class SpanMap:
    """Maps offsets in the changed text back to the original. Built from edits; the identity without edits.

    From each offset of `ends` (in the changed text) on, the matching one of `shifts` leads back; `ceilings` keeps an
    offset inside a replacement from running past the part that it replaced (-1: unbounded).
    """

    ends: tuple[int, ...] = ()
    shifts: tuple[int, ...] = ()
    ceilings: tuple[int, ...] = ()

    @staticmethod
    def of(edits: Sequence[Edit]) -> SpanMap:
        """The map of a text changed by `edits`.

        >>> SpanMap.of([Edit(1, 1, "\\u200b")]).original(3)
        2
        """
        ends, shifts, ceilings, grown = [], [], [], 0
        for edit in edits:
            begins = edit.start + grown
            grown += len(edit.new) - (edit.end - edit.start)
            ends += [begins, begins + len(edit.new)]
            shifts += [edit.start - begins, -grown]
            ceilings += [edit.end, -1]
        return SpanMap(tuple(ends), tuple(shifts), tuple(ceilings))

    def original(self, offset: int) -> int:
        """The offset in the original text of an offset in the changed one; inside a replacement, its nearest."""
        at = bisect_right(self.ends, offset) - 1
        if at < 0:
            return offset
        found, ceiling = offset + self.shifts[at], self.ceilings[at]
        return min(found, ceiling) if ceiling >= 0 else found

    def original_end(self, offset: int) -> int:
        """The offset in the original text where what ends at `offset` in the changed one ended: what was taken out
        right behind it is not part of it, and a replacement that ends here is whole.

        >>> SpanMap.of([Edit(1, 4, "")]).original(1), SpanMap.of([Edit(1, 4, "")]).original_end(1)
        (4, 1)
        """
        at = bisect_left(self.ends, offset) - 1
        if at < 0:
            return offset
        found, ceiling = offset + self.shifts[at], self.ceilings[at]
        if ceiling < 0:
            return found
        return ceiling if offset >= self.ends[at + 1] else min(found, ceiling)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original span of a span in the changed text."""
        first = self.original(start)
        return first, max(first, self.original_end(end))

    def cuts(self, offset: int) -> bool:
        """Whether an offset in the changed text lies inside a replacement, with parts of it on either side."""
        at = bisect_left(self.ends, offset) - 1
        return at >= 0 and self.ceilings[at] >= 0 and offset < self.ends[at + 1]


@dataclass(frozen=True)
class Changed:
    """A text after a stage, and how to find the way back."""

    text: str
    map: SpanMap = SpanMap()


def apply(text: str, edits: Sequence[Edit]) -> Changed:
    """`text` with all `edits` made, in one pass.

    >>> apply("a<b>", [Edit(2, 2, "|")]).text
    'a<|b>'
    """
    if not edits:
        return Changed(text)
    parts, at = [], 0
    for edit in edits:
        parts += [text[at : edit.start], edit.new]
        at = edit.end
    return Changed("".join((*parts, text[at:])), SpanMap.of(edits))
