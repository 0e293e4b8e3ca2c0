"""Text in the cells of a table that a spreadsheet opens as it is meant."""

from __future__ import annotations

import re
from functools import cache

from ollama_kit.documents.pages.plain import one_line
from ollama_kit.text.graphemes import cut_before

LONGEST_CELL = 32_767
"""UTF-16 units that Excel takes in a cell. Source: Microsoft, Excel specifications and limits."""


def inert(cell: str) -> str:
    """A cell on one line that no spreadsheet takes for a formula: `'` is put before `= + - @`, full width too.

    Where the list separator is a semicolon, Excel begins a cell after each one, so the same holds behind it. Source:
    OWASP, CSV Injection.

    >>> inert("=1+1"), inert("a;@SUM(1)"), inert("1-2")
    ("'=1+1", "a;'@SUM(1)", '1-2')
    """
    return _formula().sub(r"\1'", one_line(cell))


def cut_cell(text: str, more: str, most: int = LONGEST_CELL) -> str:
    """`text` within `most` UTF-16 units, `more` at its end saying how many characters (`{count}`) were cut.

    >>> cut_cell("一二三四五六七八九十", "…{count}", 6)
    '一二三…7'
    """
    if _units(text) <= most:
        return text
    room = most - _units(more.format(count=len(text)))
    fits = len(text.encode("utf-16-le", "surrogatepass")[: 2 * max(0, room)].decode("utf-16-le", "ignore"))
    at = cut_before(text, fits) or fits
    return text[:at] + more.format(count=len(text) - at)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


@cache
def _formula() -> re.Pattern[str]:
    return re.compile(r"(^|;)(?=[\s\"']*[=+\-@＝＋－＠])")
