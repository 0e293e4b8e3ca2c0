"""JSON as RFC 8259 has it, and nothing that Python's reader lets through besides."""

from __future__ import annotations

import functools
import json
import math
from typing import Any

_MAX_DIGITS = 4300  # Python's own limit since 3.10.7; beyond it int() raises, or takes quadratic time


class Refused(ValueError):
    """Text that Python would read and JSON forbids, or that would not survive: the message says what."""


@functools.cache
def decoder() -> json.JSONDecoder:
    """Refuses double keys, NaN and Infinity, numbers that become infinite or are longer than 4,300 digits."""
    return json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int)


def refuse_half_characters(value: Any, text: str) -> None:
    r"""Raises Refused where a string holds half a surrogate pair (`"\ud83d"`): it cannot be written as UTF-8."""
    if "\\u" not in text and text.isascii():
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Refused("a string holds half of a surrogate pair") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        double = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise Refused(f"the key {double!r} stands twice in one object")
    return found


def _constant(text: str) -> Any:
    raise Refused(f"{text} is not JSON")


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise Refused(f"the number {text[:40]} is too large")
    return number


def _int(text: str) -> int:
    if len(text) > _MAX_DIGITS:
        raise Refused(f"a number of {len(text)} digits")
    return int(text)
