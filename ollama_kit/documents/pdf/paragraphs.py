"""Rows into paragraphs: a line goes on where its first word would not have fitted on the line before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from ollama_kit.documents.document import Role
from ollama_kit.documents.pdf.rows import Row
from ollama_kit.documents.plain import begins_clause

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
"""Line heights: a wider gap in a line parts what stands side by side, such as two signatures."""
LINED_UP_POINTS = 3.0
SHORT = 0.5
"""Lines of less than half of the width that do not begin at the left are an address or a title, set line by line."""


class Lines(NamedTuple):
    """A paragraph of a page: its text, and the top and bottom of its box (points, down the page).

    `full`: its last line reaches the right side, so that it may go on elsewhere; `flush`: its first begins at the left
    one."""

    text: str
    top: float
    bottom: float
    role: Role = "text"
    full: bool = False
    flush: bool = False


def paragraphs_of(rows: Sequence[Row], least_width: float = 0.0) -> Iterator[Lines]:
    """The paragraphs of rows that are read one after another. A row of cells is one of its own; in a line of text,
    wide gaps (blanks to be filled in) become a space. `least_width`: lines shorter than this were not wrapped."""
    left, pitch = min((row.x0 for row in rows), default=0.0), _pitch(rows)
    right = max((row.x1 for row in rows), default=0.0)
    right = max(right, left + least_width)
    sides, words = (left, right), _words(rows)
    gathered: list[Row] = []
    for at, row in enumerate(rows):
        ruled = row.cells[0].table
        table = ruled or any(_lined_up(row, other) for other in (*rows[max(at - 1, 0) : at], *rows[at + 1 : at + 2]))
        if table or _widest_gap(row) > BLANK:
            yield from _made(gathered, sides, words)
            gathered = []
            yield Lines(row.text, row.y0, row.y1, "table" if table else "text")
            continue
        if gathered and not _goes_on(gathered, row, sides, pitch):
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
    but where the word stands without it among the `words` (in lower case), and not with it.

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


def _words(rows: Sequence[Row]) -> frozenset[str]:
    """The words of the rows in lower case, if any row ends with a hyphen: else nobody asks for them."""
    if not any(row.text.endswith("-") for row in rows):
        return frozenset()
    return frozenset(word.lower() for row in rows for word in _WORD.findall(row.text))


def _made(rows: Sequence[Row], sides: tuple[float, float], words: frozenset[str]) -> Iterator[Lines]:
    if rows:
        first, last = rows[0], rows[-1]
        full = last.x1 > sides[1] - (1.5 if _NO_SPACE.match(last.text[-1]) else 8) * last.height
        flush = first.x0 <= sides[0] + 0.8 * first.height
        text = joined((row.text.replace("\t", " ") for row in rows), words)
        yield Lines(text, first.y0, last.y1, full=full, flush=flush)


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


def _goes_on(before: Sequence[Row], row: Row, sides: tuple[float, float], pitch: _Pitch) -> bool:
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
