"""The order in which a page is read: words into stretches and rows, columns one after the other, rows into paragraphs.

A stretch is text without a wide gap. A gutter between columns is a strip that stays empty over at least four lines on
both sides, next to which lines begin at one x; it parts columns only if most lines on both sides are about full, which
the cells of tables are not. In a paragraph, a line continues the one before where its first word would not have fitted
there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ollama_kit.documents.document import ParagraphRole
from ollama_kit.documents.pdf.words import Word
from ollama_kit.documents.plain_text import begins_clause

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
    return [Row(tuple(_closed_up(sorted(row, key=lambda one: one.x0)))) for row in rows]


def _beside(row: list[Stretch], stretch: Stretch) -> bool:
    """Whether it is at the height of the row's tallest, and overlaps none of them."""
    tallest = max(row, key=lambda one: one.y1 - one.y0)
    overlap = min(tallest.y1, stretch.y1) - max(tallest.y0, stretch.y0)
    if tallest.table or stretch.table:
        return False
    level = overlap > 0.5 * min(tallest.height, stretch.height)
    return level and all(stretch.x0 >= one.x1 - 1 or stretch.x1 <= one.x0 + 1 for one in row)


def _closed_up(cells: list[Stretch]) -> list[Stretch]:
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
    """Stretches that are read by rows from top to bottom; `column`: others are beside them."""

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
    """For each band of the page in which nothing crosses the strip left of `x`: what is where."""
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
    them (a date, the number of an exhibit), come above both."""
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


_CJK = r"\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef"
_NO_SPACE = re.compile(rf"[{_CJK}]")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LAST_WORD = re.compile(rf"{_WORD.pattern}\Z")
LONGEST_WORD = 60
_STOPS = (*".;:。；：!?！？,，、", " and", " or")
_CHINESE_STOPS = tuple("。；：！？”）")

_ENDS = tuple('.!?。！？”"')
APART, APART_AFTER_STOP = 1.45, 1.3
"""Of the distance from line to line: a wider step parts paragraphs. Where a sentence has just ended it is compared with
the paragraph's own, or the closest, lines: on a page of short paragraphs the usual step is the one between them."""
SAME_STEP_POINTS = 0.2
BLANK = 8.0
"""Line heights: a wider gap in a line parts what is side by side, such as two signatures."""
LINED_UP_POINTS = 3.0
SHORT = 0.5
"""Lines of less than half of the width that do not begin at the left are an address or a title, set line by line."""


class PageParagraph(NamedTuple):
    """A paragraph of a page: its text, and the top and bottom of its box (points, down the page).

    `full`: its last line reaches the right side, so that it may continue elsewhere; `flush`: its first begins at the
    left one."""

    text: str
    top: float
    bottom: float
    role: ParagraphRole = "text"
    full: bool = False
    flush: bool = False


def paragraphs_of(rows: Sequence[Row], least_width: float = 0.0) -> Iterator[PageParagraph]:
    """The paragraphs of rows that are read one after another. A row of cells is one of its own; in a line of text,
    wide gaps (blanks to fill in) become a space. `least_width`: lines shorter than this were not wrapped."""
    left, pitch = min((row.x0 for row in rows), default=0.0), _pitch(rows)
    right = max((row.x1 for row in rows), default=0.0)
    right = max(right, left + least_width)
    sides, words = (left, right), _hyphenation_words(rows)
    gathered: list[Row] = []
    for at, row in enumerate(rows):
        ruled = row.cells[0].table
        table = ruled or any(_lined_up(row, other) for other in (*rows[max(at - 1, 0) : at], *rows[at + 1 : at + 2]))
        if table or _widest_gap(row) > BLANK:
            yield from _made(gathered, sides, words)
            gathered = []
            yield PageParagraph(row.text, row.y0, row.y1, "table" if table else "text")
            continue
        if gathered and not _continues(gathered, row, sides, pitch):
            yield from _made(gathered, sides, words)
            gathered = []
        gathered.append(row)
    yield from _made(gathered, sides, words)


def _lined_up(row: Row, other: Row) -> bool:
    """Whether both have cells, and one behind the first begins, ends or has its middle at the same x."""
    if len(row.cells) < 2 or len(other.cells) < 2:
        return False
    return any(
        min(abs(a.x0 - b.x0), abs(a.x1 - b.x1), abs(a.x0 + a.x1 - b.x0 - b.x1) / 2) < LINED_UP_POINTS
        for a in row.cells[1:]
        for b in other.cells[1:]
    )


def _widest_gap(row: Row) -> float:
    """In line heights."""
    gaps = (after.x0 - before.x1 for before, after in pairwise(row.cells))
    return max(gaps, default=0.0) / max(row.height, 0.1)


def joined(lines: Iterable[str], words: frozenset[str] = frozenset()) -> str:
    """Lines of a paragraph as one: no space between Chinese letters, and none behind a hyphen. The hyphen is kept,
    except where the word appears without it among the `words` (in lower case), and not with it.

    >>> joined(["自双方盖章", "之日起", "生效"]), joined(["a non-", "exclusive", "license"])
    ('自双方盖章之日起生效', 'a non-exclusive license')
    >>> joined(["this Agree-", "ment is"], frozenset({"agreement"}))
    'this Agreement is'
    """
    text = ""
    for line in lines:
        if not text:
            text = line
        elif text[-1] == "-" and text[-2:-1].isalpha():
            text = (text[:-1] if _is_broken(text, line, words) else text) + line
        elif _NO_SPACE.match(text[-1]) and _NO_SPACE.match(line):
            text += line
        else:
            text += " " + line
    return text


def _is_broken(text: str, line: str, words: frozenset[str]) -> bool:
    """Whether the hyphen at the end of the text is there only because the line ended."""
    first, rest = _LAST_WORD.search(text[-LONGEST_WORD:-1]), _WORD.match(line)
    if not words or first is None or rest is None:
        return False
    before, after = first[0].lower(), rest[0].lower()
    return before + after in words and f"{before}-{after}" not in words


def _hyphenation_words(rows: Sequence[Row]) -> frozenset[str]:
    """The words of the rows in lower case, if any row ends with a hyphen: else nobody asks for them."""
    if not any(row.text.endswith("-") for row in rows):
        return frozenset()
    return frozenset(word.lower() for row in rows for word in _WORD.findall(row.text))


def _made(rows: Sequence[Row], sides: tuple[float, float], words: frozenset[str]) -> Iterator[PageParagraph]:
    if rows:
        first, last = rows[0], rows[-1]
        full = last.x1 > sides[1] - (1.5 if _NO_SPACE.match(last.text[-1]) else 8) * last.height
        flush = first.x0 <= sides[0] + 0.8 * first.height
        text = joined((row.text.replace("\t", " ") for row in rows), words)
        yield PageParagraph(text, first.y0, last.y1, full=full, flush=flush)


class _Pitch(NamedTuple):
    """Distances from line to line: the median, and the least that is there twice; 0 where there is one line only."""

    usual: float
    close: float


def _pitch(rows: Sequence[Row]) -> _Pitch:
    steps = sorted(after.y0 - before.y0 for before, after in pairwise(rows) if after.y0 > before.y0)
    if not steps:
        return _Pitch(0.0, 0.0)
    usual, least = steps[len(steps) // 2], min(row.height for row in rows)
    twice = (a for a, b in pairwise(steps) if b - a < SAME_STEP_POINTS and a >= least)
    return _Pitch(usual, next(twice, usual))


def _farthest(before: Sequence[Row], pitch: _Pitch) -> float:
    """How far down the next line of that paragraph may begin."""
    if not before[-1].text.rstrip().endswith(_ENDS):
        return APART * pitch.usual
    own = before[-1].y0 - before[-2].y0 if len(before) > 1 else pitch.close
    return min(APART * pitch.usual, APART_AFTER_STOP * own)


def _continues(before: Sequence[Row], row: Row, sides: tuple[float, float], pitch: _Pitch) -> bool:
    last, (left, right) = before[-1], sides
    height = max(last.height, row.height)
    if row.y0 - last.y0 > max(min(_farthest(before, pitch), 2.6 * height), 1.1 * height) or row.y0 < last.y0:
        return False
    if abs(last.height - row.height) > 0.2 * height:
        return False
    if last.x1 + _first_word(row) < right - 0.3 * height:
        return False
    if max(last.x1 - last.x0, row.x1 - row.x0) < SHORT * (right - left) and last.x0 > left + height:
        return False
    if begins_clause(row.text) and last.text.rstrip().endswith(_STOPS):
        return False
    # In Chinese, every paragraph begins two letters in: a line that does so, after a full stop, is a new one.
    if last.text.endswith(_CHINESE_STOPS) and row.x0 > left + 0.8 * height and len(before) == 1:
        return False
    return _aligned(before, row, height)


def _aligned(before: Sequence[Row], row: Row, height: float) -> bool:
    """Whether the line begins where a second or later line of that paragraph may."""
    if len(before) == 1:
        hanging = begins_clause(before[0].text)
        return row.x0 <= before[0].x0 + (12 if hanging else 1) * height
    return abs(row.x0 - before[-1].x0) <= 1.2 * height


def _first_word(row: Row) -> float:
    """The width of what could have been broken off the line: a word, or a Chinese letter."""
    text = row.text
    first = text[:1] if _NO_SPACE.match(text) else text.split(None, 1)[0]
    closing = len(first) + 1 if first != text and text[len(first) : len(first) + 1] in "，。；：、）》”" else len(first)
    return (row.x1 - row.x0) * closing / max(len(text), 1)
