"""Blanks to be filled in that are drawn and not written: a rule on the line of the text, with nothing on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ollama_kit.documents.pdf.ink import THIN_POINTS, Box
from ollama_kit.documents.pdf.rows import Stretch

MARK = "____"
SHORTEST_POINTS = 14.0
MOST_RULES = 200
"""Rules of a page; one with more is a drawing or a table."""
TOUCH_POINTS = 1.5
NEAR = 1.2
"""Line heights between a blank and the text or blank beside it, at most."""


def blanks(rules: Iterable[Box], stretches: Sequence[Stretch]) -> list[Stretch]:
    """The blanks of a page as stretches of text, each on the line that it stands in; the coordinates are those of the
    words (x right, y down). The borders of cells, and rules under words or across the page, are none."""
    rules = list(rules)
    level = [box for box in rules if box[3] - box[1] < THIN_POINTS < box[2] - box[0]]
    upright = [box for box in rules if box[2] - box[0] < THIN_POINTS < box[3] - box[1]]
    if not stretches or not 0 < len(level) <= MOST_RULES or len(upright) > MOST_RULES:
        return []
    lines = [box for box in _whole(level) if box[2] - box[0] >= SHORTEST_POINTS and not _in_grid(box, upright)]
    found: list[Stretch] = []
    while more := [blank for box in lines if (blank := _blank(box, [*stretches, *found], stretches)) is not None]:
        found += more
        taken = {(blank.x0, blank.x1) for blank in more}
        lines = [box for box in lines if (box[0], box[2]) not in taken]
    return found


def _whole(level: Iterable[Box]) -> Iterator[Box]:
    """Level rules; those that follow one another on one line as one: programs underline run by run."""
    last: Box | None = None
    for box in sorted(level, key=lambda one: (round(one[1]), one[0])):
        if last is not None and abs(box[1] - last[1]) < 1 and box[0] - last[2] < TOUCH_POINTS:
            last = (last[0], min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3]))
            continue
        if last is not None:
            yield last
        last = box
    if last is not None:
        yield last


def _in_grid(box: Box, upright: Iterable[Box]) -> bool:
    """Whether a rule that stands upright meets it: then both are the borders of cells."""
    left, top, right, bottom = box
    return any(
        one[1] - TOUCH_POINTS <= bottom
        and one[3] + TOUCH_POINTS >= top
        and one[0] - TOUCH_POINTS <= right
        and one[2] + TOUCH_POINTS >= left
        for one in upright
    )


def _blank(box: Box, beside: Iterable[Stretch], written: Iterable[Stretch]) -> Stretch | None:
    """The rule as a blank on the line of the text beside it."""
    left, _, right, bottom = box
    line = next((one for one in beside if _is_beside(box, one)), None)
    if line is None or any(
        one.x0 < right - 2 and one.x1 > left + 2 and one.y0 < bottom and one.y1 > bottom - line.height / 2
        for one in written
    ):
        return None
    return Stretch(MARK, left, line.y0, right, line.y1)


def _is_beside(box: Box, one: Stretch) -> bool:
    left, _, right, bottom = box
    on_line = one.y1 - 0.6 * one.height <= bottom <= one.y1 + 0.4 * one.height
    return on_line and -2 <= max(left - one.x1, one.x0 - right) <= NEAR * one.height
