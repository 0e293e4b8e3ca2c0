"""Text from outside as a document for people can hold it: on one line, and without what acts instead of being read."""

from __future__ import annotations

import re
from functools import cache

_SURROGATES = re.compile("[\ud800-\udfff]")


@cache
def _acting() -> re.Pattern[str]:
    """Control characters but tab and line ends, and those that turn the direction of what follows (UAX #9): with them
    a name could show the rest of its line backwards."""
    return re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def whole_characters(text: str) -> str:
    """`text` with U+FFFD for each half of a surrogate pair, so that it can be written as UTF-8."""
    return _SURROGATES.sub("\ufffd", text)


def plain_text(text: str) -> str:
    """`text` without acting characters; line ends are LF.

    >>> plain_text("a\\x00b\\r\\nc\\u202e")
    'ab\\nc'
    """
    return whole_characters(_acting().sub("", "\n".join(text.splitlines())))


def one_line(text: str) -> str:
    """The words of `text` with one blank between them.

    >>> one_line(" 第一行\\n\\n  第二行\\u2028x ")
    '第一行 第二行 x'
    """
    return " ".join(plain_text(text).split())
