"""A number as Word's lists write it (w:numFmt, ECMA-376 part 1, 17.18.59)."""

from __future__ import annotations

_DIGITS = "零一二三四五六七八九"
_LEGAL = "零壹贰叁肆伍陆柒捌玖"
_STEMS, _BRANCHES = "甲乙丙丁戊己庚辛壬癸", "子丑寅卯辰巳午未申酉戌亥"
_ROMAN = (
    *((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC")),
    *((50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")),
)
_COUNTING = frozenset(
    {
        *("chineseCounting", "chineseCountingThousand", "taiwaneseCounting", "taiwaneseCountingThousand"),
        *("japaneseCounting", "koreanCounting", "ideographLegalTraditional"),
    }
)


def numeral(number: int, form: str) -> str:
    """The number in one of Word's forms; in Arabic digits where the form is not known, or has no sign for it.

    >>> numeral(12, "chineseCountingThousand"), numeral(28, "lowerLetter"), numeral(9, "upperRoman")
    ('十二', 'bb', 'IX')
    """
    if form in _COUNTING:
        return counted(number, _DIGITS, "十百千")
    if form == "chineseLegalSimplified":
        return counted(number, _LEGAL, "拾佰仟")
    if form in ("lowerLetter", "upperLetter") and 0 < number <= 780:
        letters = chr(ord("A") + (number - 1) % 26) * ((number - 1) // 26 + 1)
        return letters if form == "upperLetter" else letters.lower()
    if form in ("lowerRoman", "upperRoman") and 0 < number < 4000:
        return _roman(number) if form == "upperRoman" else _roman(number).lower()
    if form in ("ideographDigital", "japaneseDigitalTenThousand", "taiwaneseDigital"):
        return "".join("〇一二三四五六七八九"[int(digit)] for digit in str(number)) if number >= 0 else str(number)
    return _sign(number, form)


def _sign(number: int, form: str) -> str:
    if form.startswith("decimalEnclosedCircle") and 0 < number <= 20:
        return chr(0x245F + number)
    if form == "decimalEnclosedParen" and 0 < number <= 20:
        return chr(0x2473 + number)
    if form == "ideographEnclosedCircle" and 0 < number <= 10:
        return chr(0x327F + number)
    if form == "ideographTraditional" and 0 < number <= 10:
        return _STEMS[number - 1]
    if form == "ideographZodiac" and 0 < number <= 12:
        return _BRANCHES[number - 1]
    if form in ("decimalFullWidth", "decimalFullWidth2"):
        return "".join(chr(0xFF10 + int(digit)) for digit in str(number)) if number >= 0 else str(number)
    if form == "decimalZero":
        return f"{number:02}"
    if form == "ordinal":
        return f"{number}{_ordinal(number)}"
    return "" if form == "none" else str(number)


def counted(number: int, digits: str, units: str) -> str:
    """The number counted in Chinese, up to 9,999: 十二, 一百零三 (digits and units of the script wanted).

    >>> counted(103, "零一二三四五六七八九", "十百千")
    '一百零三'
    """
    if not 0 <= number <= 9_999:
        return str(number)
    text, pending = "", False
    for place, digit in zip(range(len(str(number)) - 1, -1, -1), map(int, str(number)), strict=True):
        if digit == 0:
            pending = bool(text)
            continue
        text += (digits[0] if pending else "") + digits[digit] + (units[place - 1] if place else "")
        pending = False
    ten = digits[1] + units[0]
    return (text[1:] if text.startswith(ten) and units[0] == "十" and number < 20 else text) or digits[0]


def _roman(number: int) -> str:
    text = ""
    for value, sign in _ROMAN:
        text += sign * (number // value)
        number %= value
    return text


def _ordinal(number: int) -> str:
    return "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
