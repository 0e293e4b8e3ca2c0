"""Text in the cells of a table that a spreadsheet opens as it is meant."""

from __future__ import annotations

import re
from functools import cache

from ollama_kit.jobs.pages.plain import one_line


def inert(cell: str) -> str:
    """A cell on one line that no spreadsheet takes for a formula: `'` is put before `= + - @`, full width too.

    Where the list separator is a semicolon, Excel begins a cell after each one, so the same holds behind it. Source:
    OWASP, CSV Injection.

    >>> inert("=1+1"), inert("a;@SUM(1)"), inert("1-2")
    ("'=1+1", "a;'@SUM(1)", '1-2')
    """
    return _formula().sub(r"\1'", one_line(cell))


@cache
def _formula() -> re.Pattern[str]:
    return re.compile(r"(^|;)(?=[\s\"']*[=+\-@＝＋－＠])")
