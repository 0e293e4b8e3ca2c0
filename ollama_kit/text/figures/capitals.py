"""Amounts of money in Chinese capitals (人民币大写), written and read.

The rules are those of the People's Bank of China for bills (正确填写票据和结算凭证的基本规定, appendix to 支付结算办法,
1997): 整 after 元, none after 分 (after 角 it is free, and left out here as in the bank's own example), 零 where
zeros stand between digits, once however many there are.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache

from ollama_kit.text.figures.numerals import DIGITS, NUMERAL_CLASS, read_numeral
from ollama_kit.text.folding import fold

_CAPITALS = "零壹贰叁肆伍陆柒捌玖"
_PLACES = ((1000, "仟"), (100, "佰"), (10, "拾"), (1, ""))
_LIMIT = 10**16

WHOLE = f"[{NUMERAL_CLASS}]{{1,40}}"
"""A pattern for the whole part of an amount in words, before 元."""
CENTS = f"(?:零?(?P<jiao>[{''.join(DIGITS)}])角)?(?:零?(?P<fen>[{''.join(DIGITS)}])分)?"
"""A pattern for what follows 元: 角 and 分."""


def to_chinese_capital(amount: Decimal) -> str:
    """The amount of yuan as a bill writes it, without 人民币.

    Raises ValueError for a negative amount, more than two places, or ten quadrillion and above.

    >>> [to_chinese_capital(Decimal(amount)) for amount in ("1409.50", "325.04", "100000000")]
    ['壹仟肆佰零玖元伍角', '叁佰贰拾伍元零肆分', '壹亿元整']
    """
    if not amount.is_finite() or amount < 0 or amount >= _LIMIT or amount * 100 != int(amount * 100):
        raise ValueError(f"not an amount of yuan and whole fen from 0 up to {_LIMIT}: {amount}")
    whole, cents = divmod(int(amount * 100), 100)
    jiao, fen = divmod(cents, 10)
    yuan = f"{_whole(whole)}元" if whole or not cents else ""
    if not cents:
        return f"{yuan or '零元'}整"
    tail = f"{_CAPITALS[jiao]}角" if jiao else ("零" if whole else "")
    return yuan + tail + (f"{_CAPITALS[fen]}分" if fen else "")


def from_chinese_capital(text: str) -> Decimal:
    """The amount that `text`, all of it, writes in Chinese; 人民币 may stand before, 整 or 正 behind.

    Everyday characters are read too (一百万元). Raises ValueError where the text is no amount.

    >>> from_chinese_capital("人民币壹佰万元整")
    Decimal('1000000')
    """
    found = _amount().fullmatch(fold(text).strip())
    value = amount_in_words(found) if found else None
    if value is None:
        raise ValueError(f"not an amount in Chinese capitals: {text!r}")
    return value


def amount_in_words(found: re.Match[str]) -> Decimal | None:
    """The value of a match with the groups `whole`, `jiao` and `fen`, or None where they write no amount."""
    whole, jiao, fen = found["whole"], found["jiao"], found["fen"]
    if not (whole or jiao or fen):
        return None
    value = read_numeral(whole, formal=True) if whole else 0
    if value is None or (whole and len(whole) > 1 and all(c in DIGITS for c in whole)):
        return None
    cents = 10 * DIGITS[jiao or "零"] + DIGITS[fen or "零"]
    return Decimal(int(value)) + Decimal(cents).scaleb(-2) if cents else Decimal(int(value))


@cache
def _amount() -> re.Pattern[str]:
    return re.compile(rf"(?:人民币)?\s?(?:(?P<whole>{WHOLE})[元圆圓])?{CENTS}[整正]?")


def _whole(number: int) -> str:
    for size, unit in ((10**8, "亿"), (10**4, "万")):
        if number >= size:
            high, low = divmod(number, size)
            gap = "零" if 0 < low < size // 10 else ""
            return _whole(high) + unit + gap + (_whole(low) if low else "")
    text, pending = "", False
    for place, unit in _PLACES:
        digit = number // place % 10
        if digit:
            text += ("零" if pending and text else "") + _CAPITALS[digit] + unit
        pending = not digit
    return text or ("零" if number == 0 else "")
