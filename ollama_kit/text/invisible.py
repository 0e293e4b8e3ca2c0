"""The characters that a person does not see, by what they are used for, and the text that hides in them."""

from __future__ import annotations

from collections import Counter

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
    """What `characters`, all of one rule, spell out; empty where that is no text.

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
    """The text of UTF-8 bytes; empty where they are none, or hold what cannot be printed. A cut end is left out."""
    text = data.decode("utf-8", "replace").rstrip("\ufffd")
    printable = all(character.isprintable() or character in "\n\t" for character in text)
    return text if printable and "\ufffd" not in text else ""
