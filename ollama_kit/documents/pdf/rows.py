"""Words into stretches (text without a wide gap), and stretches into rows of a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ollama_kit.documents.pdf.words import Word
from ollama_kit.documents.plain import begins_clause

WIDE = 0.95
"""A gap of more than this many line heights parts two cells or columns; a justified line has no wider ones."""


class Stretch(NamedTuple):
    """Words of one line without a wide gap between them, and the box around them (x right, y down, points).

    `table`: a whole row of a ruled table, its cells parted by tabs."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float
    table: bool = False

    @property
    def height(self) -> float:
        return self.y1 - self.y0

    @property
    def width(self) -> float:
        return self.x1 - self.x0


class Row(NamedTuple):
    """Stretches side by side, left to right: one for a line of text, more for a row of a table."""

    cells: tuple[Stretch, ...]

    @property
    def x0(self) -> float:
        return self.cells[0].x0

    @property
    def x1(self) -> float:
        return self.cells[-1].x1

    @property
    def y0(self) -> float:
        return min(cell.y0 for cell in self.cells)

    @property
    def y1(self) -> float:
        return max(cell.y1 for cell in self.cells)

    @property
    def height(self) -> float:
        return max(cell.y1 - cell.y0 for cell in self.cells)

    @property
    def text(self) -> str:
        return "\t".join(cell.text for cell in self.cells)


def stretches_of(words: Iterable[Word]) -> list[Stretch]:
    """Words that follow one another in the file, on one line, with gaps as between words."""
    found: list[Stretch] = []
    parts: list[str] = []
    box = (0.0, 0.0, 0.0, 0.0)
    last: Word | None = None
    for word in words:
        if last is not None and word.line == last.line and _follows(last, word):
            parts.append(word.text if word.glued else " " + word.text)
            box = (box[0], min(box[1], word.y0), max(box[2], word.x1), max(box[3], word.y1))
        else:
            if last is not None:
                found.append(Stretch("".join(parts), *box))
            parts, box = [word.text], (word.x0, word.y0, word.x1, word.y1)
        last = word
    if last is not None:
        found.append(Stretch("".join(parts), *box))
    return found


def _follows(last: Word, word: Word) -> bool:
    height = max(last.y1 - last.y0, word.y1 - word.y0)
    overlap = min(last.y1, word.y1) - max(last.y0, word.y0)
    return -0.5 * height <= word.x0 - last.x1 <= WIDE * height and overlap > 0.3 * min(last.height, word.height)


def rows_of(stretches: Sequence[Stretch]) -> list[Row]:
    """The stretches by rows from top to bottom; those less than a wide gap apart become one."""
    rows: list[list[Stretch]] = []
    for stretch in sorted(stretches, key=lambda one: (one.y0 + one.y1, one.x0)):
        if rows and _beside(rows[-1], stretch):
            rows[-1].append(stretch)
        else:
            rows.append([stretch])
    return [Row(tuple(_joined(sorted(row, key=lambda one: one.x0)))) for row in rows]


def _beside(row: list[Stretch], stretch: Stretch) -> bool:
    """Whether it stands at the height of the row's tallest, and on no one's place."""
    tallest = max(row, key=lambda one: one.y1 - one.y0)
    overlap = min(tallest.y1, stretch.y1) - max(tallest.y0, stretch.y0)
    if tallest.table or stretch.table:
        return False
    level = overlap > 0.5 * min(tallest.height, stretch.height)
    return level and all(stretch.x0 >= one.x1 - 1 or stretch.x1 <= one.x0 + 1 for one in row)


def _joined(cells: list[Stretch]) -> list[Stretch]:
    """A row's stretches, those close together made one, and a clause's number joined to its text."""
    made = cells[:1]
    for cell in cells[1:]:
        last = made[-1]
        gap = cell.x0 - last.x1
        height = max(last.height, cell.height)
        lead = len(cells) == 2 and _is_number(last.text) and _is_worded(cell.text) and gap < 8 * height
        if gap <= WIDE * height or lead:
            space = " " if lead or gap > 0.12 * height else ""
            made[-1] = Stretch(
                last.text + space + cell.text, last.x0, min(last.y0, cell.y0), cell.x1, max(last.y1, cell.y1)
            )
        else:
            made.append(cell)
    return made


def _is_number(text: str) -> bool:
    return len(text) <= 12 and begins_clause(f"{text} x")


def _is_worded(text: str) -> bool:
    return sum(character.isalpha() for character in text) > max(3, len(text) // 2)
