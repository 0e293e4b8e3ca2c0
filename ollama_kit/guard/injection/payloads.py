"""Text that a sentence carries in code: base64, hexadecimal, percent signs, escapes, tag characters."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from urllib.parse import unquote_to_bytes

_SHORTEST = 6
_LEGIBLE = 0.85
_REMEMBERED = 80
_FIRST = 10
"""Characters before the first separator of digits in pairs that may belong to them."""


@dataclass(frozen=True)
class Payload:
    """What `text[start:end]` says once decoded from `code`."""

    code: str
    start: int
    end: int
    text: str


def payloads(text: str) -> Iterator[Payload]:
    """Each run in `text` that decodes to legible text, by place. Linear: each code decodes a run once."""
    done = 0
    for dense in _dense("\n" + text):
        start, end = max(done, dense.start() - _FIRST), dense.end() - 1
        done = end
        if _plain_word().fullmatch(text, dense.start(), end):
            continue
        before = max(0, start - 1)
        read = _read_before if end - before <= _REMEMBERED else _read
        for found in read(text[before:end], start - before):
            yield replace(found, start=before + found.start, end=before + found.end)


def _read(piece: str, begin: int) -> tuple[Payload, ...]:
    """The payloads in `piece[begin:]`."""
    return tuple(
        Payload(code, match.start(), match.end(), plain)
        for code, pattern, decode in _codes()
        for match in pattern.finditer(piece, begin)
        if len(plain := decode(match.group())) >= _SHORTEST and _legible(plain)
    )


_read_before = lru_cache(maxsize=1 << 12)(_read)
"""The same, remembered: a chat names its senders over and over."""


def _legible(text: str) -> bool:
    sample = text[:400]
    return sum(character.isprintable() or character in "\n\t" for character in sample) >= _LEGIBLE * len(sample)


def _utf8(raw: bytes) -> str:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return ""


def _base64(run: str) -> str:
    """The text of a base64 run, standard or URL-safe; what does not fill a group of four at its end is left out."""
    compact = "".join(run.split()).rstrip("=").translate({ord("-"): "+", ord("_"): "/"})
    compact = compact[: len(compact) - (len(compact) % 4 == 1)]
    try:
        return _utf8(base64.b64decode(compact + "=" * (-len(compact) % 4)))
    except (binascii.Error, ValueError):
        return ""


def _base32(run: str) -> str:
    try:
        return _utf8(base64.b32decode(run.rstrip("=") + "=" * (-len(run.rstrip("=")) % 8)))
    except (binascii.Error, ValueError):
        return ""


def _hex(run: str) -> str:
    digits = re.sub(r"\\x|0x|[^0-9a-fA-F]", "", run)
    return _utf8(bytes.fromhex(digits[: len(digits) // 2 * 2]))


def _percent(run: str) -> str:
    return _utf8(unquote_to_bytes(run))


def _escapes(run: str) -> str:
    codes = re.findall(r"[0-9a-fA-F]{4,6}", run)
    text = "".join(chr(code) for digits in codes if (code := int(digits, 16)) < 0x110000)
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "ignore")


def _entities(run: str) -> str:
    codes = (int(digits[1:], 16) if digits[0] in "xX" else int(digits) for digits in re.findall(r"&#(\w{2,8});", run))
    return "".join(chr(code) for code in codes if code < 0xD800 or 0xE000 <= code < 0x110000)


def _bits(run: str) -> str:
    return _utf8(bytes(int(bits, 2) for bits in re.findall(r"[01]{8}", run)))


def _tags(run: str) -> str:
    return "".join(chr(ord(character) - 0xE0000) for character in run if 0xE0020 <= ord(character) < 0xE007F)


def _dense(text: str) -> Iterator[re.Match[str]]:
    """Where a payload may be, with the character before it. Most texts show one kind of place at most, and a pattern
    for one kind alone is searched for faster than one for all."""
    kinds, every = _places()
    shown = [kind for kind in kinds if kind.search(text)]
    return (shown[0] if len(shown) == 1 else every).finditer(text) if shown else iter(())


@cache
def _places() -> tuple[tuple[re.Pattern[str], ...], re.Pattern[str]]:
    """Printable ASCII without spaces for long, pairs of digits (all but the first), tag characters: each kind alone,
    and all of them. Each begins with a set of characters, that are not printable or are separators, so that most
    places are dismissed at once."""
    lines = r"[^!-~][!-~]{12,}(?:\r?\n[!-~]{12,})*"
    tags = "[\U000e0020-\U000e007e][\U000e0020-\U000e007e]{3,}"
    parted = r"[ ,:][ ,:]?(?:\\x|0x)?[0-9A-Fa-f]{2,8}(?:[ ,:]{1,2}(?:\\x|0x)?[0-9A-Fa-f]{2,8}){4,}"
    kinds = (lines, parted, tags)
    return tuple(map(re.compile, kinds)), re.compile("|".join(kinds))


@cache
def _plain_word() -> re.Pattern[str]:
    """A word as it is written, with a capital at most at its start: no code looks like that."""
    return re.compile(r"[\s\"'(\[{<*_-]*[A-Za-z]?[a-z'’.,;:!?()\"-]*")


@cache
def _codes() -> tuple[tuple[str, re.Pattern[str], Callable[[str], str]], ...]:
    table = (
        ("base64", r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{12,}(?:\r?\n[A-Za-z0-9+/_-]{12,})*={0,2}", _base64),
        ("base32", r"(?<![A-Z2-7])[A-Z2-7]{16,}={0,6}(?![A-Za-z0-9])", _base32),
        ("hex", r"(?<![0-9A-Fa-f])(?:(?:\\x|0x)?[0-9A-Fa-f]{2}[ ,:]?){8,}(?![0-9A-Fa-f])", _hex),
        ("percent", r"%[0-9A-Fa-f]{2}(?:[\w.+~:/-]{0,8}%[0-9A-Fa-f]{2}){2,}[\w.+~:/-]{0,40}", _percent),
        ("escapes", r"(?:\\?[uU]\+?\{?[0-9A-Fa-f]{4,6}\}?[ ,]?){4,}", _escapes),
        ("entities", r"(?:&#(?:[0-9]{2,7}|[xX][0-9A-Fa-f]{2,6});[ ]?){4,}", _entities),
        ("bits", r"(?<![01])(?:[01]{8}[ ,]?){6,}(?![01])", _bits),
        ("tags", "[\U000e0020-\U000e007e]{4,}", _tags),
    )
    return tuple((code, re.compile(pattern), decode) for code, pattern, decode in table)
