"""Numbers in Chinese characters: 二〇二六, 三千二, 三点五亿, 三分之二, 叁佰贰拾; figures among them too (12万)."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache, lru_cache

from ollama_kit.text.folding import fold

DIGITS = {
    **{
        character: value
        for value, group in enumerate(["〇", "一", "二", "三", "四", "五", "六", "七", "八", "九"])
        for character in group
    },
    **{character: value for value, character in enumerate("零壹贰叁肆伍陆柒捌玖")},
    "○": 0,
    "两": 2,
    "俩": 2,
    "幺": 1,
    "兩": 2,
    "貳": 2,
    "參": 3,
    "陸": 6,
}
UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
MYRIADS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}

DIGIT_CLASS = "".join(DIGITS)
"""The characters of single digits, for a class in a pattern."""
TENS_CLASS = DIGIT_CLASS + "十拾廿卅"
"""The characters of a number below a hundred, for a class in a pattern."""
NUMERAL_CLASS = TENS_CLASS + "百佰千仟" + "".join(MYRIADS)
"""The characters of any whole number, for a class in a pattern."""

_SHORT = {"廿": "二十", "卅": "三十"}
_DENOMINATORS = {"百": 100, "千": 1000, "万": 10**4}


def chinese_numeral(text: str) -> int | Fraction:
    """The number that `text`, all of it, writes in Chinese; a fraction where it is not whole.

    A last digit without its unit counts one place below the unit before, as people say it: 两万五 is 25000. A row of
    digits is read place by place: 二〇二六 is 2026. Raises ValueError where the text is no number.

    >>> chinese_numeral("一千零三十"), chinese_numeral("两万五"), chinese_numeral("三分之二")
    (1030, 25000, Fraction(2, 3))
    """
    value = read_numeral(fold(text).strip())
    if value is None:
        raise ValueError(f"not a number in Chinese: {text!r}")
    return value.numerator if value.denominator == 1 else value


@lru_cache(maxsize=4096)
def read_numeral(text: str, *, formal: bool = False) -> Fraction | None:
    """The number that folded `text` writes, or None. In `formal` text, a last digit never lacks its unit."""
    if text == "半":
        return Fraction(1, 2)
    if "分之" in text:
        return _fraction(*text.split("分之", 1))
    last = MYRIADS.get(text[-1:], 0)
    if last and ("点" in text or "." in text):
        small = read_numeral(text[:-1], formal=formal)
        return None if small is None else small * last
    if "点" in text:
        return _decimal(*text.split("点", 1))
    for short, long in _SHORT.items():
        text = text.replace(short, long)
    return _positional(text) if all(c in DIGITS for c in text) else _structured(text, formal)


def small_number(text: str) -> int | None:
    """The whole number that folded `text` writes, in figures or in Chinese, or None."""
    if text.isascii() and text.isdigit():
        return int(text)
    value = read_numeral(text)
    return None if value is None or value.denominator != 1 else value.numerator


def _positional(text: str) -> Fraction | None:
    return Fraction(int("".join(str(DIGITS[c]) for c in text))) if text else None


def _fraction(below: str, above: str) -> Fraction | None:
    numerator = read_numeral(above)
    denominator = Fraction(_DENOMINATORS.get(below, 0)) or read_numeral(below)
    return numerator / denominator if numerator is not None and denominator else None


def _decimal(whole: str, places: str) -> Fraction | None:
    before, after = read_numeral(whole), "".join(str(DIGITS.get(c, "x")) for c in places)
    if before is None or before.denominator != 1 or not after.isdigit():
        return None
    return before + Fraction(int(after), 10 ** len(after))


@cache
def _tokens() -> re.Pattern[str]:
    return re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,9})?|.", re.DOTALL)


class _Sum:
    """A number being read from left to right: whole sections of 亿 and 万, the section at hand, a digit waiting."""

    def __init__(self) -> None:
        self.total = self.section = Fraction(0)
        self.digit: Fraction | None = None
        self.unit = 10**16  # the unit or myriad that came last: the next one must be smaller
        self.ceiling = 10**17  # the myriad that came last
        self.bare = True  # nothing has come yet
        self.zero = False

    def take_digit(self, value: Fraction) -> bool:
        if self.digit is not None:
            return False
        self.digit, self.zero = (value, self.zero) if value else (None, True)
        return True

    def take_unit(self, unit: int) -> bool:
        digit = self.digit
        if digit is None and (self.bare or unit == 10):
            digit = Fraction(1)
        if digit is None or (self.section and unit >= self.unit):
            return False
        self.section += digit * unit
        self.digit, self.unit, self.zero = None, unit, False
        return True

    def take_myriad(self, myriad: int) -> bool:
        section = self.section + (self.digit or 0)
        if self.bare:
            section = Fraction(1)
        if myriad >= self.ceiling and not (myriad == 10**8 and self.ceiling == 10**4):
            return False
        if myriad == 10**8:
            section, self.total = self.total + section, Fraction(0)
        if not section:
            return False
        self.total += section * myriad
        self.section, self.digit, self.zero = Fraction(0), None, False
        self.unit = self.ceiling = myriad
        return True


def _structured(text: str, formal: bool) -> Fraction | None:
    sum_, token = _Sum(), ""
    for token in _tokens().findall(text):
        if token in UNITS:
            taken = sum_.take_unit(UNITS[token])
        elif token in MYRIADS:
            taken = sum_.take_myriad(MYRIADS[token])
        elif token in DIGITS or token[0].isdecimal():
            taken = sum_.take_digit(Fraction(DIGITS[token]) if token in DIGITS else Fraction(token))
        else:
            taken = False
        if not taken:
            return None
        sum_.bare = False
    if sum_.bare:
        return None
    if sum_.digit is None:
        return sum_.total + sum_.section
    dangling = token in DIGITS and not sum_.zero and 100 <= sum_.unit <= 10**8
    if dangling and formal:
        return None
    return sum_.total + sum_.section + sum_.digit * (sum_.unit // 10 if dangling else 1)
