"""Turns words so that they run from left to right and lines go down, whatever the page's rotation or their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ollama_kit.documents.pdf.ink import Box
from ollama_kit.documents.pdf.words import Word


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
