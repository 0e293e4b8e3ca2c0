"""Rows of a CSV file of any size, where one bad row costs that row alone."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from ollama_kit.jobs.wechat.readers.record import ROW_PROBLEMS, Broken, Event, Note, Options, Record, problem_of
from ollama_kit.jobs.wechat.readers.stream import Source

Make = Callable[[list[str], int], Record]
"""Makes a message of the cells of a row and its line."""


class _Feed:
    """Hands lines to the csv module and keeps those of the row being read, so that they can be read again."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._again: deque[str] = deque()
        self.taken: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else next(self._lines)
        self.taken.append(line)
        return line

    def keep_first_only(self) -> None:
        """Puts all lines of this row but the first back before those to come."""
        self._again.extendleft(reversed(self.taken[1:]))
        del self.taken[1:]


def read_rows(lines: Iterable[str], delimiter: str = ",") -> Iterator[tuple[int, list[str]] | Broken]:
    """(line, cells) of each row, the line being its first, from 1; empty lines are passed over.

    Quoting is read strictly: a quote that is never closed would else swallow the rows behind it without a word. Of a
    row that breaks, the first line is given as `Broken` and the rest is read anew.
    """
    feed = _Feed(lines)
    reader = csv.reader(feed, delimiter=delimiter, strict=True)
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as problem:
            feed.keep_first_only()
            yield Broken(line, f"not CSV: {problem}")
            reader = csv.reader(feed, delimiter=delimiter, strict=True)
            cells = []
        if cells:
            yield line, cells
        line += len(feed.taken)
        feed.taken.clear()


def header_of(head: str) -> tuple[list[str], str]:
    """The cells of the first line and the delimiter: a comma, or a tab (what spreadsheets call Unicode text)."""
    first = head.partition("\n")[0].rstrip("\r").removeprefix("\ufeff")
    delimiter = "\t" if "\t" in first and "," not in first else ","
    try:
        return [cell.strip() for cell in next(csv.reader([first], delimiter=delimiter), [])], delimiter
    except csv.Error:
        return [], delimiter


def read_csv(source: Source, options: Options, make: Make) -> Iterator[Event]:
    """The messages of a CSV file whose first row is its header."""
    _, delimiter = header_of(source.head)
    rows = read_rows(source.lines(), delimiter)
    first = next(rows, None)
    if isinstance(first, Broken):
        rows = chain([first], rows)
    any_row = False
    for row in rows:
        any_row = True
        if isinstance(row, Broken):
            yield row
            continue
        line, cells = row
        try:
            yield make(cells, line)
        except ROW_PROBLEMS as problem:
            yield Broken(line, problem_of(problem))
    if not any_row:
        yield Note("nothing but the header: no messages")
