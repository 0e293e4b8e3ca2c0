"""Characters as a reader sees them: where a text may be cut without cutting one in two, and which are not seen at all.

Cuts follow a subset of the grapheme cluster rules of Unicode (UAX #29) that never allows a cut that they forbid: it
keeps a little more together, for it does not look at the tables of every script. Unseen characters are grouped by their
use, and the text that hides in them is decoded.
"""

from __future__ import annotations

import unicodedata
from collections import Counter

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
    """Whether a virama among the marks before `at` ties what is there to what is before them. Where there are
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


# Each is the inside of a character class of `re`. What is not assigned but ignored by every renderer counts too.
CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
SURROGATES = "\ud800-\udfff"
BIDI = "\u202a-\u202e\u2066-\u2069"
VARIATION = "\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef"
TAGS = "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
DIRECTION_MARKS = "\u200e\u200f\u061c"
ZERO_WIDTH = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
)
UNSEEN = ZERO_WIDTH + BIDI + VARIATION + TAGS

LOOKED_AT = 4096  # hidden characters decoded at most: a finding names what is hidden, it need not print a book
SHOWN = 200

_MONGOLIAN_SELECTORS = (0x180B, 0x180C, 0x180D, 0x180F)


def rule_of(character: str) -> str:
    """The rule that a character of the classes above falls under.

    >>> rule_of("\\u200b"), rule_of("\\x00"), rule_of("\\U000e0041")
    ('zero_width', 'control_character', 'tag_character')
    """
    code = ord(character)
    if code < 0x20 or 0x7F <= code < 0xA0:
        return "control_character"
    if 0xD800 <= code <= 0xDFFF:
        return "lone_surrogate"
    if 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069:
        return "bidi_control"
    if 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or code in _MONGOLIAN_SELECTORS:
        return "variation_selector"
    return "tag_character" if code >= 0xE0000 else "zero_width"


def hidden_text(rule: str, characters: str) -> str:
    """What `characters`, all of one rule, spell out; empty where that is not text.

    Tag characters are ASCII moved up; variation selectors are the bytes 0 to 255 in order; zero-width characters are
    bits, eight a byte, the two commonest of them 0 and 1. Any of them can be written as two surrogates each.

    >>> hidden_text("tag_character", "\\U000e0068\\U000e0069")
    'hi'
    """
    characters = characters[:LOOKED_AT]
    if rule == "lone_surrogate":
        characters = characters.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
        rule = rule_of(characters[0]) if characters else rule
    if rule == "tag_character":
        text = "".join(chr(ord(tag) - 0xE0000) for tag in characters if "\U000e0020" <= tag <= "\U000e007e")
    elif rule == "variation_selector":
        text = _as_text(bytes(map(_selector_byte, characters))) if len(characters) > 1 else ""
    elif rule == "zero_width":
        text = _from_bits(characters)
    else:
        text = ""
    return text[:SHOWN]


def _selector_byte(selector: str) -> int:
    code = ord(selector)
    return code - 0xE0100 + 16 if code >= 0xE0100 else code & 0xF


def _from_bits(characters: str) -> str:
    common = [character for character, _ in Counter(characters).most_common(2)]
    if len(characters) < 16 or len(common) < 2:
        return ""
    bits = [character for character in characters if character in common]
    for one in common:
        digits = "".join("1" if bit == one else "0" for bit in bits)
        whole = range(0, len(digits) - 7, 8)
        if text := _as_text(bytes(int(digits[at : at + 8], 2) for at in whole)):
            return text
    return ""


def _as_text(data: bytes) -> str:
    """The text of UTF-8 bytes; empty where they are not, or hold what cannot be printed. A cut end is left out."""
    text = data.decode("utf-8", "replace").rstrip("\ufffd")
    printable = all(character.isprintable() or character in "\n\t" for character in text)
    return text if printable and "\ufffd" not in text else ""
