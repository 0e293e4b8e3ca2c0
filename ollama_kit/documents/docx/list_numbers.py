"""The numbers that Word puts before paragraphs and keeps nowhere in the text: computed as it shows them.

The forms of a number are those of w:numFmt (ECMA-376 part 1, 17.18.59).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ollama_kit.documents.docx.opc import W, attribute, switched_on
from ollama_kit.documents.docx.styles import Styles

_BULLET_FONTS = range(0xF000, 0xF100)
_PLACE = re.compile(r"%([1-9])")
LEVELS = 9


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list. `text` holds %1 to %9 for the numbers of the levels; `restart`: the level (from 1) after
    which it restarts, 0 for never, None for any above."""

    start: int = 1
    form: str = "decimal"
    text: str = ""
    gap: str = " "
    legal: bool = False
    restart: int | None = None
    style: str = ""


@dataclass(frozen=True, slots=True)
class ListOfNumbers:
    """A list (w:num): which definition it counts in, its levels, and where it restarts at its first use."""

    definition: str
    levels: dict[int, Level]
    starts: dict[int, int]


@dataclass(slots=True)
class Numbering:
    """The lists by id, and how far each has counted."""

    lists: dict[str, ListOfNumbers] = field(default_factory=dict)
    _counters: dict[str, dict[int, int]] = field(default_factory=dict)
    _begun: set[tuple[str, int]] = field(default_factory=set)

    def label(self, list_id: str, level: int) -> str:
        """The number of the next paragraph of that list and level, with what parts it from the text; "" for none."""
        numbers = self.lists.get(list_id)
        if numbers is None or level not in numbers.levels:
            return ""
        counters = self._counters.setdefault(numbers.definition, {})
        fresh = (list_id, level) not in self._begun and level in numbers.starts
        self._begun.add((list_id, level))
        if fresh:
            counters[level] = numbers.starts[level]
        else:
            counters[level] = counters.get(level, numbers.levels[level].start - 1) + 1
        for deeper in range(level + 1, LEVELS):
            restart = numbers.levels[deeper].restart if deeper in numbers.levels else None
            if restart is None or 0 < level + 1 <= restart:
                counters.pop(deeper, None)
        return _shown(numbers, level, counters)

    def level_of_style(self, list_id: str, style_id: str) -> int:
        """The level that a style is tied to in a list; 0 where it is to none."""
        numbers = self.lists.get(list_id)
        levels = numbers.levels if numbers else {}
        return next((at for at, level in levels.items() if style_id and level.style == style_id), 0)


def numbering_of(root: Any | None, styles: Styles) -> Numbering:
    """The lists of word/numbering.xml; none where the part is missing."""
    if root is None:
        return Numbering()
    definitions = {attribute(one, "abstractNumId") or "": one for one in root.iter(W + "abstractNum")}
    tied = {attribute(one.find(W + "styleLink")): key for key, one in definitions.items()}
    lists = {}
    for number in root.iter(W + "num"):
        key = attribute(number.find(W + "abstractNumId")) or ""
        if key not in definitions:
            continue
        link = attribute(definitions[key].find(W + "numStyleLink"))
        key = tied.get(link, key) if link else key
        levels = {_index(one): _level(one) for one in definitions[key].findall(W + "lvl")}
        starts = {}
        for change in number.findall(W + "lvlOverride"):
            at = _index(change)
            if (own := change.find(W + "lvl")) is not None:
                levels[at] = _level(own)
            start = attribute(change.find(W + "startOverride"))
            if start is not None and start.isdigit():
                starts[at] = int(start)
        lists[attribute(number, "numId") or ""] = ListOfNumbers(key, levels, starts)
    return Numbering(lists)


def _index(element: Any) -> int:
    value = attribute(element, "ilvl") or "0"
    return int(value) if value.isdigit() else 0


def _level(element: Any) -> Level:
    def value(name: str) -> str | None:
        return attribute(element.find(W + name))

    start, restart = value("start") or "1", value("lvlRestart")
    return Level(
        start=int(start) if start.isdigit() else 1,
        form=value("numFmt") or "decimal",
        text=value("lvlText") or "",
        gap="" if value("suff") == "nothing" else " ",
        legal=bool(switched_on(element.find(W + "isLgl"))),
        restart=int(restart) if restart and restart.isdigit() else None,
        style=value("pStyle") or "",
    )


def _shown(numbers: ListOfNumbers, level: int, counters: dict[int, int]) -> str:
    own = numbers.levels[level]
    if own.form == "bullet":
        mark = own.text[:1]
        return f"{mark if mark and ord(mark) not in _BULLET_FONTS and mark.isprintable() else '•'} "

    def number(match: re.Match[str]) -> str:
        at = int(match[1]) - 1
        there = numbers.levels.get(at, Level())
        form = "decimal" if own.legal and there.form != "decimalZero" else there.form
        return numeral(counters.get(at, there.start), form)

    text = _PLACE.sub(number, own.text)
    return text + own.gap if text.strip() else ""


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
