"""Text from outside as a document for people can hold it: on one line, and without what acts instead of being read."""

from __future__ import annotations

import re
from functools import cache

_SURROGATES = re.compile("[\ud800-\udfff]")


@cache
def _acting() -> re.Pattern[str]:
    """Control characters but tab and line ends, and those that turn the direction of what follows (UAX #9): with them
    a name could show the rest of its line backwards. U+FFFE and U+FFFF are no characters."""
    control = "\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"
    return re.compile(f"[{control}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\ufffe\uffff]")


@cache
def _line_end() -> re.Pattern[str]:
    """What str.splitlines takes for one."""
    return re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def whole_characters(text: str) -> str:
    """`text` with U+FFFD for each half of a surrogate pair, so that it can be written as UTF-8."""
    return _SURROGATES.sub("\ufffd", text)


def piece_of_text(text: str) -> str:
    """A piece of a text without acting characters and halves of pairs; line ends are LF, the last one too.

    >>> piece_of_text("a\\x00b\\r\\nc\\u202e\\x0b")
    'ab\\nc\\n'
    """
    return whole_characters(_acting().sub("", _line_end().sub("\n", text)))


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
