"""Where a text may be cut without cutting a character in two, as a reader sees characters.

A subset of the grapheme cluster rules of Unicode (UAX #29) that never allows a cut that they forbid: it keeps a
little more together, for it does not look at the tables of every script.
"""

from __future__ import annotations

import unicodedata

_JOINERS = frozenset("\u200c\u200d\u2060\u200b")
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
    if unicodedata.category(after) in ("Mn", "Mc", "Me") or 0x1F3FB <= ord(after) <= 0x1F3FF or _is_tag(after):
        return False
    if _is_regional(before) and _is_regional(after):
        return False
    return not (_is_jamo(after) and (_is_jamo(before) or _is_hangul(before)))


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


def _is_tag(character: str) -> bool:
    return 0xE0020 <= ord(character) <= 0xE007F or 0xFE00 <= ord(character) <= 0xFE0F


def _is_regional(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _is_hangul(character: str) -> bool:
    return 0xAC00 <= ord(character) <= 0xD7A3


def _is_jamo(character: str) -> bool:
    return (
        0x1100 <= ord(character) <= 0x11FF or 0xA960 <= ord(character) <= 0xA97C or 0xD7B0 <= ord(character) <= 0xD7FB
    )
