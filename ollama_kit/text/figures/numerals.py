"""Numbers in words.

Chinese: 二〇二六, 三千二, 三点五亿, 三分之二, 叁佰贰拾; figures among them too (12万). Amounts in Chinese capitals
(人民币大写), written and read by the rules of the People's Bank of China for bills (正确填写票据和结算凭证的基本规定,
appendix to 支付结算办法, 1997): 整 after 元, none after 分 (after 角 it is free, and left out here as in the bank's own
example), 零 where zeros are between digits, once however many there are. English: thirty, thirty-six, one million two
hundred thousand. And what is written twice, in words and in figures.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import cache, lru_cache

from ollama_kit.text.folding import fold
from ollama_kit.text.pattern_search import Placed

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
    digits is read place by place: 二〇二六 is 2026. Raises ValueError where the text is not a number.

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
    """The amount that `text`, all of it, writes in Chinese; 人民币 may come before, 整 or 正 after.

    Everyday characters are read too (一百万元). Raises ValueError where the text is not an amount.

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


_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_VALUES = {
    **{word: value for value, word in enumerate(_ONES)},
    **{word: 10 * value for value, word in enumerate(_TENS, start=2)},
}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}

_NUMBER_WORD = "(?:" + "|".join(sorted((*_VALUES, *_SCALES, "hundred"), key=len, reverse=True)) + ")"
ENGLISH_NUMBER = rf"{_NUMBER_WORD}(?:(?:[\s-]|,\s|\s?-\s?|\sand\s){_NUMBER_WORD}\b){{0,14}}"
"""A pattern for a run of number words; to be matched in lower case."""


def english_number(text: str) -> int | None:
    """The number that lower-case English words write, or None where they write none.

    >>> english_number("one million two hundred thousand"), english_number("thirty-six"), english_number("two two")
    (1200000, 36, None)
    """
    total, section, last = 0, 0, 10**15
    for word in text.replace("-", " ").replace(",", " ").split():
        if word == "and":
            continue
        if word in _SCALES:
            if not section or _SCALES[word] >= last:
                return None
            total, section, last = total + section * _SCALES[word], 0, _SCALES[word]
        elif word == "hundred":
            if not 0 < section < 100:
                return None
            section *= 100
        elif word in _VALUES and _fits(section, _VALUES[word]):
            section += _VALUES[word]
        else:
            return None
    return total + section


def number_at_end(text: str) -> tuple[int, int] | None:
    """The longest number that a run of number words ends with, and the offset where it begins; None if none.

    >>> number_at_end("section one thirty-six")
    (36, 12)
    """
    for start in (found.start() for found in re.finditer(r"[a-z]+(?:-[a-z]+)*", text)):
        value = english_number(text[start:])
        if value is not None:
            return value, start
    return None


def _fits(section: int, value: int) -> bool:
    """Whether `value` can follow what the section holds: a one after a ten, either after a hundred."""
    return section % 100 == 0 or (value < 10 and section % 100 >= 20 and section % 10 == 0 and value > 0)


_LONGEST_GAP = 16
_CLOSING = ")）]】"


def end_of_pair(text: str, first: Placed, second: Placed) -> int:
    """Where a pair ends, if what is between its two in `text` says that the same follows once more (（大写：, 即);
    else 0. The bracket that opens between them is closed inside.

    >>> from ollama_kit.text.figures.amounts import parse_amounts
    >>> parse_amounts("计 9,800.00 元（大写：玖仟捌佰元整）")[0].text
    '9,800.00 元（大写：玖仟捌佰元整）'
    """
    if not 0 <= second.start - first.end <= _LONGEST_GAP:
        return 0
    gap = _gap().fullmatch(text, first.end, second.start)
    if gap is None:
        return 0
    closed = gap["open"] and text[second.end : second.end + 1] in tuple(_CLOSING)
    return second.end + bool(closed)


@cache
def _gap() -> re.Pattern[str]:
    label = r"(?:(?:人民币)?[(（\[【]?(?:大写|小写)[)）\]】]?(?:金额)?|即|in words|say)"
    return re.compile(rf"\s{{0,3}}(?:(?P<open>[(（\[【])\s?{label}?|[,，;；]?\s?{label})[:：]?\s{{0,2}}")
