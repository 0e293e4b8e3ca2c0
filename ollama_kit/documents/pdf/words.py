"""The words of a page: characters between whitespace, of one ink and one line, with the box around them; and the words
turned so that they run from left to right and lines go down, whatever the rotation of the page or their own.

pdfium (FPDFText_*) gives characters in the order of the file, puts a space where it sees a gap and a line end where
the text continues elsewhere. Boxes are asked for at the ends of a word only: each call costs as much as laying it out.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from ollama_kit.documents.pdf.ink import PLAIN, Box, Ink, Painted
from ollama_kit.documents.pdf.pdfium import address, calls, raw

LINE_END_HYPHENS = "\x02\ufffe"
"""What pdfium gives for a hyphen at the end of a line, with no line end behind it."""
HYPHENS = {0x02: "-", 0xFFFE: "-", 0xAD: "-"}
"""Hyphens are kept, since they may belong to the word (non-|exclusive)."""


class Word(NamedTuple):
    """Text in a box (points; x to the right, y down, once turned), with what comes before it on its line.

    `glued`: no space before it. `line`: lines of the file's own order, from 0. `order`: of its first letter among all
    that is painted, -1 where it is not known. `legible`: False
    where the file does not say which characters the shapes represent. `number`: of the first letter in the file."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    glued: bool
    line: int
    ink: Ink
    order: int
    angle: int
    legible: bool
    number: int

    @property
    def height(self) -> float:
        return self.y1 - self.y0


def words_of(text_page: Any, count: int, painted: Painted) -> Iterator[Word]:
    """The words of a text page with `count` characters, in the order of the file; boxes in the page's own space.

    `painted`: what its page paints."""
    text = _characters(text_page, count)
    reader = _Reader(text_page, painted)
    line, angle, end = 0, 0, 0
    for match in _pieces().finditer(text):
        start = match.start()
        between = text[end:start]
        hyphenated = end > 0 and text[end - 1] in LINE_END_HYPHENS
        if "\n" in between or hyphenated or not end:
            line += 1
            angle = reader.angle(start)
        for part, stop, ink, order in reader.runs(start, match.end()):
            shown = text[part:stop].translate(HYPHENS)
            glued = part > start
            yield Word(shown, *reader.box(part, stop), glued, line, ink, order, angle, reader.legible(part), part)
        end = match.end()


@cache
def _pieces() -> re.Pattern[str]:
    return re.compile(rf"[^\s{LINE_END_HYPHENS}]*[{LINE_END_HYPHENS}]|[^\s{LINE_END_HYPHENS}]+")


def _characters(text_page: Any, count: int) -> str:
    """One Python character for each of pdfium's, so that an index means the same in both."""
    api = raw()
    buffer = (ctypes.c_ushort * (count + 1))()
    written = api.FPDFText_GetText(text_page, 0, count, buffer) - 1
    text = bytes(buffer)[: max(written, 0) * 2].decode("utf-16-le", "replace")
    if len(text) == count:
        return text
    codes = (api.FPDFText_GetUnicode(text_page, index) for index in range(count))
    return "".join(chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd" for code in codes)


class _Reader:
    """Asks pdfium about single characters."""

    def __init__(self, text_page: Any, painted: Painted) -> None:
        self._call, self._page, self._inks = calls(), address(text_page), painted.inks
        self._alike = painted.inks_alike
        self._first, self._last = raw().FS_RECTF(), raw().FS_RECTF()
        self._first_at, self._last_at = ctypes.addressof(self._first), ctypes.addressof(self._last)

    def angle(self, index: int) -> int:
        """The direction in which the text runs on the page, in degrees from 0 to 359, clockwise as pdfium counts."""
        return round(math.degrees(float(self._call.char_angle(self._page, index)))) % 360

    def box(self, start: int, stop: int) -> tuple[float, float, float, float]:
        first, last = self._first, self._last
        self._call.loose_box(self._page, start, self._first_at)
        if stop - start == 1:
            return first.left, first.bottom, first.right, first.top
        self._call.loose_box(self._page, stop - 1, self._last_at)
        return (
            min(first.left, last.left),
            min(first.bottom, last.bottom),
            max(first.right, last.right),
            max(first.top, last.top),
        )

    def legible(self, index: int) -> bool:
        return bool(self._call.unmapped(self._page, index) != 1)

    def runs(self, start: int, stop: int) -> Iterator[tuple[int, int, Ink, int]]:
        """Start, end, ink and order of each part of a word that is drawn in one ink."""
        ask, page, inks = self._call.text_object, self._page, self._inks
        first = ask(page, start)
        ink, order = inks.get(first, PLAIN)
        if self._alike or stop - start == 1 or ask(page, stop - 1) == first:
            yield start, stop, ink, order
            return
        begun = start
        for index in range(start + 1, stop):
            handle = ask(page, index)
            if handle != first:
                other, later = inks.get(handle, PLAIN)
                if other is not ink:
                    yield begun, index, ink, order
                    begun, ink, order = index, other, later
                first = handle
        yield begun, stop, ink, order


def upright(words: Iterable[Word]) -> list[tuple[int, list[Word]]]:
    """The words by direction (0, 90, 180, 270, or -1 for slanted), that of most characters first.

    Slanted words (stamps, watermarks) keep the file's order."""
    groups: dict[int, list[Word]] = {}
    weights: Counter[int] = Counter()
    for word in words:
        direction = _direction(word.angle)
        box = turned(direction, (word.x0, word.y0, word.x1, word.y1))
        groups.setdefault(direction, []).append(word._replace(x0=box[0], y0=box[1], x1=box[2], y1=box[3]))
        weights[direction] += len(word.text)
    return sorted(groups.items(), key=lambda group: (group[0] < 0, -weights[group[0]]))


def turned(direction: int, box: Box) -> Box:
    """A box of the page (y counts upwards) as seen when text of that direction runs to the right; y then down.

    The direction is clockwise, so 270 runs up the page.

    >>> turned(0, (1, 2, 3, 5)), turned(270, (1, 2, 3, 5))
    ((1, -5, 3, -2), (2, 1, 5, 3))
    """
    left, bottom, right, top = box
    if direction == 90:
        return -top, -right, -bottom, -left
    if direction == 180:
        return -right, bottom, -left, top
    if direction == 270:
        return bottom, left, top, right
    return left, -top, right, -bottom


def _direction(angle: int) -> int:
    nearest = round(angle / 90) * 90
    return nearest % 360 if abs(angle - nearest) <= 5 else -1
