"""The order in which a page is read: columns one after the other, a table row by row.

A gutter is a strip that stays empty over at least four lines on both sides, beside which lines begin at one x. It
parts columns only if most lines on both sides are about full: cells of tables are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ollama_kit.documents.pdf.rows import Stretch

LEAST_LINES = 4
FULL = 0.6
"""The middle line's width, to that of the widest (nine tenths quantile)."""
GUTTER_POINTS = 6.0
MOST_STRETCHES = 2_000
"""Pages of more pieces are drawings; they are read by rows."""
MOST_STARTS = 8
DEEPEST = 6


class _Cut(NamedTuple):
    above: list[Stretch]
    left: list[Stretch]
    right: list[Stretch]
    below: list[Stretch]


class Region(NamedTuple):
    """Stretches that are read by rows from top to bottom; `column`: others stand beside them."""

    stretches: list[Stretch]
    column: bool


def regions(stretches: Sequence[Stretch], depth: int = 0, *, column: bool = False) -> Iterator[Region]:
    """The stretches of a page in groups, in reading order."""
    cut = _cut(stretches) if len(stretches) <= MOST_STRETCHES and depth < DEEPEST else None
    if cut is None:
        if stretches:
            yield Region(list(stretches), column)
        return
    for part, beside in ((cut.above, column), (cut.left, True), (cut.right, True), (cut.below, column)):
        if part:
            yield from regions(part, depth + 1, column=beside)


def _cut(stretches: Sequence[Stretch]) -> _Cut | None:
    if len(stretches) < 2 * LEAST_LINES:
        return None
    left, right = min(one.x0 for one in stretches), max(one.x1 for one in stretches)
    width = right - left
    found = (
        cut
        for x in _starts(stretches, left + 0.2 * width, right - 0.15 * width)
        for cut in _bands(stretches, x)
        if _is_prose(cut)
    )
    return max(found, key=lambda cut: min(len(cut.left), len(cut.right)), default=None)


def _starts(stretches: Sequence[Stretch], low: float, high: float) -> list[float]:
    """The x within the bounds at which most stretches begin, at least four each."""
    xs = sorted(one.x0 for one in stretches if low <= one.x0 <= high)
    groups: list[list[float]] = []
    for x in xs:
        if groups and x - groups[-1][0] <= 3:
            groups[-1].append(x)
        else:
            groups.append([x])
    groups.sort(key=len, reverse=True)
    return [group[0] for group in groups[:MOST_STARTS] if len(group) >= LEAST_LINES]


def _bands(stretches: Sequence[Stretch], x: float) -> Iterator[_Cut]:
    """For each band of the page in which nothing stands across the strip left of `x`: what is where."""
    ordered = sorted(stretches, key=_middle)
    begun = 0
    for at in range(len(ordered) + 1):
        across = at == len(ordered) or (ordered[at].x0 < x - 1 and ordered[at].x1 > x - GUTTER_POINTS)
        if not across:
            continue
        inside, begun = ordered[begun:at], at + 1
        left = [one for one in inside if one.x1 <= x - GUTTER_POINTS]
        right = [one for one in inside if one.x0 >= x - 1]
        if min(len(left), len(right)) >= LEAST_LINES:
            yield _side_by_side(stretches, left, right)


def _middle(one: Stretch) -> float:
    return (one.y0 + one.y1) / 2


def _side_by_side(stretches: Sequence[Stretch], left: list[Stretch], right: list[Stretch]) -> _Cut:
    """The cut at the height of both columns. Lines on the right above the left column, and apart from those below
    them (a date, the number of an exhibit), stand above both."""
    right = sorted(right, key=_middle)
    top = min(one.y0 for one in left)
    begun = next((at for at, one in enumerate(right) if one.y1 > top), 0)
    while begun and right[begun].y0 - right[begun - 1].y1 < right[begun].height:
        begun -= 1
    right = right[begun:]
    taken = set(map(id, left + right))
    top = min(map(_middle, left + right))
    rest = [one for one in stretches if id(one) not in taken]
    above = [one for one in rest if _middle(one) < top or one.y1 <= top]
    taken.update(map(id, above))
    return _Cut(above, left, right, [one for one in rest if id(one) not in taken])


def _is_prose(cut: _Cut) -> bool:
    whole = max(one.x1 for one in cut.left + cut.right) - min(one.x0 for one in cut.left + cut.right)
    return all(len(side) >= LEAST_LINES and _full(side, whole) for side in (cut.left, cut.right))


def _full(side: Sequence[Stretch], whole: float) -> bool:
    widths = sorted(one.width for one in side)
    widest = widths[len(widths) * 9 // 10]
    letters = sorted(len(one.text) for one in side)[len(side) // 2]
    return widest >= 0.15 * whole and widths[len(widths) // 2] >= FULL * widest and letters >= 8
