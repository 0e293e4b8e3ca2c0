"""Text as the rules see it: full-width characters, odd dashes and odd spaces made plain, each in its own place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212"
_COMMON = tuple(zip("，：；！？（）", ",:;!?()", strict=True))
_SPACES = "\u00a0\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"


@dataclass(frozen=True)
class FoldedViews:
    """One text three times, character for character at the same offsets: as given, folded, and folded in lower
    case. Patterns run on the last two; a finding quotes the first."""

    text: str
    folded: str
    lower: str

    @staticmethod
    def of(text: str) -> FoldedViews:
        """The three views of `text`."""
        folded = fold(text)
        return FoldedViews(text, folded, folded.lower())


def fold(text: str) -> str:
    """`text` with the same length, in which full-width and mathematical letters and digits are ASCII.

    >>> fold("１３８－１２３４")
    '138-1234'
    """
    if text.isascii():
        return text
    for mark, plain in _COMMON:  # looked at one by one, they would take most of the time on Chinese text
        text = text.replace(mark, plain)
    return _odd().sub(lambda run: "".join(map(_plain, run[0])), text)


def places(text: str, words: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Where each of `words` is in `text`. A pattern tried only there costs less than one that looks everywhere."""
    for word in words:
        at = text.find(word)
        while at >= 0:
            yield at, word
            at = text.find(word, at + len(word))


@cache
def _odd() -> re.Pattern[str]:
    # U+0130 is the one character whose lower case is two.
    # A pattern that begins with a set, and not with a repeat, is found faster.
    odd = f"[\uff01-\uff5e\U0001d400-\U0001d7ff\u0130{_DASHES}{_SPACES}]"
    return re.compile(f"{odd}{odd}*")


@cache
def _plain(character: str) -> str:
    if character in _DASHES:
        return "-"
    if character in _SPACES:
        return " "
    if character == "\u0130":
        return "I"
    plain = unicodedata.normalize("NFKC", character)
    return plain if len(plain) == 1 else character
