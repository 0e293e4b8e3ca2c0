"""Where a text may be cut without cutting a character in two, as a reader sees characters.

A subset of the grapheme cluster rules of Unicode (UAX #29) that never allows a cut that they forbid: it keeps a
little more together, for it does not look at the tables of every script.
"""

from __future__ import annotations

import unicodedata

_JOINERS = frozenset("\u200c\u200d\u2060\u200b")
_ATTACHED = frozenset("\u0e33\u0eb3\uff9e\uff9f")  # letters by category that belong to the one before
_PREPENDED = frozenset(
    "\u1cf5\u1cf6\u0d4e\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a\U00011d46\U00011f02\U000113d1"
)
_LINKS = 9  # the combining class of a virama: it ties the next consonant to the one before
_FAR = 64  # characters looked back over, at most


def may_cut(text: str, at: int) -> bool:
    """Whether a cut before `text[at]` leaves every visible character whole.

    >>> [may_cut("a👨‍👩b", at) for at in (0, 1, 2, 3, 4, 5)]
    [True, True, False, False, True, True]
    """
    if at <= 0 or at >= len(text):
        return True
    before, after = text[at - 1], text[at]
    if before in _JOINERS or after in _JOINERS or before + after == "\r\n":
        return False
    if _extends(after) or _is_prepended(before):
        return False
    if _is_regional(before) and _is_regional(after):
        return False
    if (_is_jamo(before) or _is_hangul(before)) and (_is_jamo(after) or _is_hangul(after)):
        return not (_is_jamo(before) or _is_jamo(after))
    return not _is_linked(text, at)


def cut_before(text: str, at: int) -> int:
    """The last place not after `at` where a cut is allowed; a line end or a sentence's end close by is preferred."""
    at = max(0, min(at, len(text)))
    for near in range(at, max(0, at - _FAR), -1):
        if text[near - 1] in "\n。！？!?；;" and may_cut(text, near):
            return near
    while at > 0 and not may_cut(text, at):
        at -= 1
    return at


def cut_after(text: str, at: int) -> int:
    """The first place not before `at` where a cut is allowed; behind a line end or a sentence's end close by is
    preferred."""
    at = max(0, min(at, len(text)))
    for near in range(at, min(len(text), at + _FAR)):
        if near and text[near - 1] in "\n。！？!?；;" and may_cut(text, near):
            return near
    while at < len(text) and not may_cut(text, at):
        at += 1
    return at


def _extends(character: str) -> bool:
    """Whether a character belongs to the one before it. One that this Python's tables do not know yet may."""
    category = unicodedata.category(character)
    if category[0] == "M" or category == "Cn" or character in _ATTACHED:
        return True
    return 0x1F3FB <= ord(character) <= 0x1F3FF or 0xE0020 <= ord(character) <= 0xE007F


def _is_prepended(character: str) -> bool:
    """Whether a character belongs to the one after it, as the Arabic number signs do."""
    if unicodedata.category(character) in ("Cf", "Cn") or character in _PREPENDED:
        return True
    return 0x11A84 <= ord(character) <= 0x11A89


def _is_linked(text: str, at: int) -> bool:
    """Whether a virama among the marks before `at` ties what stands there to what stands before them. Where there are
    more marks than anybody writes, it is taken for granted."""
    for back in range(at - 1, max(-1, at - 1 - _FAR), -1):
        if unicodedata.combining(text[back]) == _LINKS:
            return True
        if unicodedata.category(text[back])[0] != "M" and text[back] not in _JOINERS:
            return False
    return at > _FAR


def _is_regional(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _is_hangul(character: str) -> bool:
    return 0xAC00 <= ord(character) <= 0xD7A3


def _is_jamo(character: str) -> bool:
    return (
        0x1100 <= ord(character) <= 0x11FF or 0xA960 <= ord(character) <= 0xA97C or 0xD7B0 <= ord(character) <= 0xD7FB
    )
