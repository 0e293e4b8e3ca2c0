"""One spelling for characters that look alike. Every character becomes exactly one, so that offsets stay."""

from __future__ import annotations

import re
from functools import cache

from ollama_kit.guard.injection.tables import word_lists

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_STYLED = range(0x1D400, 0x1D6A4, 52)
"""Where each styled alphabet of 26 capitals and 26 small letters starts (Mathematical Alphanumeric Symbols)."""
_ENCLOSED = (0x24B6, 0x24D0, 0x1F130, 0x1F150, 0x1F170, 0x249C)
"""Where each alphabet in circles, squares or brackets starts."""


def fold(text: str) -> str:
    """`text` in small letters, with look-alikes, full-width, styled and traditional characters replaced by the plain
    one. The result has the length of `text`, and each character keeps its place.

    >>> fold("Ｉgnоre 視")
    'ignore 视'
    """
    if text.isascii():
        return text.lower()
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(low if len(low := character.lower()) == 1 else character for character in text)
    return _foldable().sub(lambda run: run.group().translate(_table()), lowered)


@cache
def _table() -> dict[int, str]:
    table = {ord(pair[0]): pair[1] for pairs in word_lists("characters").values() for pair in pairs}
    for start in _STYLED:
        table.update({start + at: _LETTERS[at % 26] for at in range(52)})
    for start in (*_ENCLOSED, 0xFF21, 0xFF41):
        table.update({start + at: _LETTERS[at] for at in range(26)})
    return table | {0xFF10 + at: chr(0x30 + at) for at in range(10)}


@cache
def _foldable() -> re.Pattern[str]:
    """One range for all that lies beyond the basic plane: `re` looks such characters up one by one."""
    plain = "".join(re.escape(chr(code)) for code in sorted(_table()) if code < 0x10000)
    return re.compile(f"[{plain}\U0001d400-\U0001f18f]+")
