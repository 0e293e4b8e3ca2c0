"""What ruled lines mean: the cells of tables, and blanks to fill in.

Words between four rules are a cell, cells below the same rule a row. Rules are thin shapes and the outlines of boxes. A
frame around text (one column), and two columns of long texts (two languages side by side), are not tables: they are
read as columns are. A rule on the line of the text, with nothing on it, is a blank that is drawn and not written.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ollama_kit.documents.pdf.ink import THIN_POINTS, Box
from ollama_kit.documents.pdf.reading_order import Stretch, joined, rows_of, stretches_of
from ollama_kit.documents.pdf.words import Word

SHORTEST_RULE_POINTS = 6.0
MOST_GRID_RULES = 1_000
"""A page with more is a drawing."""
LONG_CHARS = 400
NEAR_POINTS = 3.0


class _Cell(NamedTuple):
    left: float
    top: float
    right: float
    bottom: float


class _Filled(NamedTuple):
    cell: _Cell
    text: str


class Grid:
    """The rules of a page, in the coordinates of its words (x right, y down)."""

    def __init__(self, boxes: Iterable[Box]) -> None:
        self._vertical: list[tuple[float, float, float]] = []
        self._level: list[tuple[float, float, float]] = []
        for left, top, right, bottom in boxes:
            wide, high = right - left, bottom - top
            if wide >= SHORTEST_RULE_POINTS:
                middle = (top + bottom) / 2
                edges = (middle,) if high < THIN_POINTS else (top, bottom)
                self._level.extend((y, left - 1, right + 1) for y in edges)
            if high >= SHORTEST_RULE_POINTS:
                middle = (left + right) / 2
                edges = (middle,) if wide < THIN_POINTS else (left, right)
                self._vertical.extend((x, top - 1, bottom + 1) for x in edges)
        self._xs: dict[int, list[float]] = {}
        self._ys: dict[tuple[float, float], list[float]] = {}

    def __bool__(self) -> bool:
        return 3 <= len(self._vertical) <= MOST_GRID_RULES and 2 <= len(self._level) <= MOST_GRID_RULES

    def cell(self, x: float, y: float) -> _Cell | None:
        """The cell around a point; None where a rule is missing on one side."""
        xs = self._xs.get(round(y))
        if xs is None:
            xs = self._xs[round(y)] = sorted({at for at, low, high in self._vertical if low <= y <= high})
        sides = _around(xs, x)
        if sides is None:
            return None
        ys = self._ys.get(sides)
        if ys is None:
            middle = (sides[0] + sides[1]) / 2
            ys = self._ys[sides] = sorted({at for at, low, high in self._level if low <= middle <= high})
        ends = _around(ys, y)
        return _Cell(sides[0], ends[0], sides[1], ends[1]) if ends else None


def tables(words: Sequence[Word], grid: Grid) -> tuple[list[Word], list[Stretch]]:
    """The words outside of tables, and the rows of the tables, each as one stretch with a tab between its cells."""
    cells: dict[_Cell, list[Word]] = defaultdict(list)
    outside: list[Word] = []
    for word in words:
        cell = grid.cell((word.x0 + word.x1) / 2, (word.y0 + word.y1) / 2)
        (outside if cell is None else cells[cell]).append(word)
    rows: list[Stretch] = []
    for table in _tables(cells):
        filled = [_Filled(cell, _text(cells[cell])) for cell in table]
        if _is_table(filled):
            rows.extend(_rows(filled))
        else:
            outside.extend(word for cell in table for word in cells[cell])
    outside.sort(key=lambda word: word.number)
    return outside, rows


def _around(places: list[float], at: float) -> tuple[float, float] | None:
    after = bisect_right(places, at)
    return (places[after - 1], places[after]) if 0 < after < len(places) else None


def _tables(cells: Iterable[_Cell]) -> Iterator[list[_Cell]]:
    """Cells from top to bottom, parted where one begins clearly below the end of all before."""
    table: list[_Cell] = []
    for cell in sorted(cells, key=lambda one: (one.top, one.left)):
        if table and cell.top > max(one.bottom for one in table[-40:]) + NEAR_POINTS:
            yield table
            table = []
        table.append(cell)
    if table:
        yield table


def _text(words: Sequence[Word]) -> str:
    return joined(row.text.replace("\t", " ") for row in rows_of(stretches_of(words)))


def _is_table(cells: Sequence[_Filled]) -> bool:
    columns = _columns(cells)
    long = sum(len(one.text) > LONG_CHARS for one in cells)
    return len(columns) > 1 and not (len(columns) == 2 and long)


def _columns(cells: Iterable[_Filled]) -> list[float]:
    """The left edges of the columns."""
    edges: list[float] = []
    for x in sorted(one.cell.left for one in cells):
        if not edges or x - edges[-1] > NEAR_POINTS:
            edges.append(x)
    return edges


def _rows(cells: Sequence[_Filled]) -> Iterator[Stretch]:
    """A stretch for each row. A cell over several rows is in the first of them; empty cells stay empty."""
    columns = _columns(cells)
    row: list[_Filled] = []
    for one in sorted(cells, key=lambda one: (one.cell.top, one.cell.left)):
        if row and one.cell.top - row[0].cell.top > NEAR_POINTS:
            yield _row(row, columns)
            row = []
        row.append(one)
    yield _row(row, columns)


def _row(row: Sequence[_Filled], columns: Sequence[float]) -> Stretch:
    texts = [""] * len(columns)
    for one in row:
        at = max(0, bisect_left(columns, one.cell.left + NEAR_POINTS) - 1)
        texts[at] = f"{texts[at]} {one.text}".strip()
    last = max(index for index, text in enumerate(texts) if text) if any(texts) else 0
    boxes = [one.cell for one in row]
    return Stretch(
        "\t".join(texts[: last + 1]),
        min(box.left for box in boxes),
        min(box.top for box in boxes),
        max(box.right for box in boxes),
        min(box.bottom for box in boxes),
        True,
    )


MARK = "____"
SHORTEST_BLANK_POINTS = 14.0
MOST_BLANK_RULES = 200
"""Rules of a page; one with more is a drawing or a table."""
TOUCH_POINTS = 1.5
NEAR = 1.2
"""Line heights between a blank and the text or blank beside it, at most."""


def blanks(rules: Iterable[Box], stretches: Sequence[Stretch]) -> list[Stretch]:
    """The blanks of a page as stretches of text, each on its line; the coordinates are those of the
    words (x right, y down). The borders of cells, and rules under words or across the page, are not blanks."""
    rules = list(rules)
    level = [box for box in rules if box[3] - box[1] < THIN_POINTS < box[2] - box[0]]
    upright = [box for box in rules if box[2] - box[0] < THIN_POINTS < box[3] - box[1]]
    if not stretches or not 0 < len(level) <= MOST_BLANK_RULES or len(upright) > MOST_BLANK_RULES:
        return []
    lines = [box for box in _whole(level) if box[2] - box[0] >= SHORTEST_BLANK_POINTS and not _in_grid(box, upright)]
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
    """Whether an upright rule meets it: then both are the borders of cells."""
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
