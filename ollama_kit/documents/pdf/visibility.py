"""Which words of a page are hidden, and why; and whether the page is a scan whose text was recognized."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ollama_kit.documents.document import HiddenRule
from ollama_kit.documents.pdf.ink import Box, Painted, Shape
from ollama_kit.documents.pdf.words import Word

TINY_POINTS = 3.6
"""Height of a line, from its lowest to its highest letter: text of 3 points and less. Small print has 5 and more."""
BAND_POINTS = 12
MOST_IN_BAND = 2_000
"""Shapes that one word is compared with; of more, those on top."""
STAMP_SHARE = 3
"""A scan may have a stamp in ink, such as a signing service's; but more than this many times as much without ink."""
SCAN_SHARE = 0.5
"""A picture over this share of the page makes it a scan, if its text is drawn without ink."""


class VisibleWords(NamedTuple):
    """The visible words; the others with their rule; whether the visible ones were recognized in a picture."""

    words: list[Word]
    hidden: list[tuple[Word, HiddenRule]]
    recognized: bool


def split_visible(words: Sequence[Word], painted: Painted, paper: Box) -> VisibleWords:
    """The words of a page, parted. `paper` is the part of the page that is shown."""
    bands = _bands(painted.shapes, paper)
    verdicts = [_verdict(word, bands[_band(word.y0 + word.y1)], paper) for word in words]
    drawn = sum(verdict is None for verdict in verdicts)
    under = sum(verdict in ("invisible", "covered", "transparent") for verdict in verdicts)
    if under > STAMP_SHARE * drawn and _pictured(painted.shapes, paper):
        verdicts = [None if verdict in ("invisible", "covered", "transparent") else verdict for verdict in verdicts]
        return _parted(words, verdicts, recognized=True)
    return _parted(words, verdicts, recognized=False)


def _band(doubled: float) -> int:
    return int(doubled / 2 // BAND_POINTS)


def _bands(shapes: Sequence[Shape], paper: Box) -> dict[int, deque[Shape]]:
    """The shapes by stripes of the page, so that a word meets only those at its height."""
    bands: dict[int, deque[Shape]] = defaultdict(lambda: deque(maxlen=MOST_IN_BAND))
    for shape in shapes:
        low, high = max(shape.box[1], paper[1]), min(shape.box[3], paper[3])
        for band in range(_band(2 * low), _band(2 * high) + 1):
            bands[band].append(shape)
    return bands


def _parted(words: Iterable[Word], verdicts: Iterable[HiddenRule | None], *, recognized: bool) -> VisibleWords:
    shown, hidden = [], []
    for word, verdict in zip(words, verdicts, strict=True):
        if verdict is None:
            shown.append(word)
        else:
            hidden.append((word, verdict))
    return VisibleWords(shown, hidden, recognized)


def _verdict(word: Word, shapes: deque[Shape], paper: Box) -> HiddenRule | None:
    box = (word.x0, word.y0, word.x1, word.y1)
    if word.ink.mode in (3, 7):
        return "invisible"
    if box[2] <= paper[0] or box[0] >= paper[2] or box[3] <= paper[1] or box[1] >= paper[3]:
        return "off_page"
    if word.ink.clear:
        return "transparent"
    rule = _against(word, box, shapes) if shapes or word.ink.white else None
    if rule is None:
        turned = 45 < word.angle % 180 < 135
        tiny = 0 < (box[2] - box[0] if turned else box[3] - box[1]) < TINY_POINTS
        return "tiny" if tiny else None
    return rule


def _against(word: Word, box: Box, shapes: deque[Shape]) -> HiddenRule | None:
    """Whether what is painted above covers the word, or it has the color of what is painted below."""
    if not word.ink.white and shapes[-1].order < word.order:
        return None
    middle = ((box[0] + box[2]) / 2, (box[1] + box[3]) / 2)
    there = [shape for shape in shapes if _holds(shape.box, middle)]
    if word.order >= 0 and any(shape.order > word.order and _covers(shape.box, box) for shape in there):
        return "covered"
    if not word.ink.white:
        return None
    below = (shape for shape in there if word.order < 0 or shape.order < word.order)
    top = max(below, key=lambda shape: shape.order, default=None)
    return "white" if top is None or top.what == "paper" else None


def _holds(box: Box, point: tuple[float, float]) -> bool:
    return box[0] <= point[0] <= box[2] and box[1] <= point[1] <= box[3]


def _covers(box: Box, inner: Box) -> bool:
    """Whether next to nothing of the inner box looks out: its own box has air around the letters."""
    wide, high = (inner[2] - inner[0]) * 0.1, (inner[3] - inner[1]) * 0.3
    return (
        box[0] <= inner[0] + wide
        and box[2] >= inner[2] - wide
        and box[1] <= inner[1] + high
        and box[3] >= inner[3] - high
    )


def _pictured(shapes: Sequence[Shape], paper: Box) -> bool:
    whole = (paper[2] - paper[0]) * (paper[3] - paper[1])
    area = sum(
        max(0.0, min(shape.box[2], paper[2]) - max(shape.box[0], paper[0]))
        * max(0.0, min(shape.box[3], paper[3]) - max(shape.box[1], paper[1]))
        for shape in shapes
        if shape.what == "image"
    )
    return whole > 0 and area >= SCAN_SHARE * whole
