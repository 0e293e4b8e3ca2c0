"""How clauses are numbered: 第一条, 一、, （一）, 1.1, (a), (ii), Article II, Section 3, 附件一, Exhibit A."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Literal

from ollama_kit.text.figures.numerals import read_numeral

Kind = Literal["chapter", "article", "han", "han_paren", "decimal", "number_paren", "alpha", "roman", "letter"]
"""chapter: 第一章, Chapter 1 · article: 第一条, Article II, Section 3 · han: 一、 · han_paren: （一） · decimal: 1.1 ·
number_paren: (1), 1), ① · alpha: (a) · roman: (ii) · letter: A."""

HAN = "一二三四五六七八九十百零〇"
NUMBER_WORDS = (
    *("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"


@dataclass(frozen=True, slots=True)
class Mark:
    """A number at `[start:end]` of the text. `numbers` has one figure, of decimals one a level (1.2.5).

    `also` is its other reading: (i) is the ninth letter, or one."""

    start: int
    end: int
    kind: Kind
    numbers: tuple[int, ...]
    also: Mark | None = None
    inline: bool = False


def roman_value(text: str) -> int | None:
    """What a Roman numeral up to 399 means; None where it is none.

    >>> roman_value("XIV"), roman_value("iv"), roman_value("abc")
    (14, 4, None)
    """
    letters = text.lower()
    if not re.fullmatch(r"(?=[ivxlc])c{0,3}(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})", letters):
        return None
    values = [_ROMAN[letter] for letter in letters]
    return sum(-one if one < two else one for one, two in zip(values, [*values[1:], 0], strict=True))


def ordinal(text: str) -> int | None:
    """The number that folded `text` writes in figures, Chinese, Roman or English; None for anything else.

    >>> ordinal("12"), ordinal("十二"), ordinal("XII"), ordinal("Twelve")
    (12, 12, 12, 12)
    """
    if text.isascii() and text.isdigit():
        return int(text)
    if text.lower() in NUMBER_WORDS:
        return NUMBER_WORDS.index(text.lower()) + 1
    if text.isascii():
        return roman_value(text)
    value = read_numeral(text)
    return int(value) if value is not None and value.denominator == 1 else None


def marks_in(folded: str) -> list[Mark]:
    """Every number that may begin a clause, in order: at the beginning of a line, or within one behind a full stop.

    >>> [(mark.kind, mark.numbers) for mark in marks_in("第十二条 违约责任\\n12.1 乙方逾期")]
    [('article', (12,)), ('decimal', (12, 1))]
    """
    found = {match.start("mark"): _mark(match) for match in tried(_at_line(), folded, _line_starts(folded))}
    for match in tried(_inside(), folded, (one.end() for one in _where_inside().finditer(folded))):
        found.setdefault(match.start("mark"), _mark(match, inline=True))
    for match in _behind_heading().finditer(folded):
        found.setdefault(match.start("mark"), _mark(match, inline=True))
    return [mark for _, mark in sorted(found.items()) if mark is not None]


def _line_starts(folded: str) -> Iterator[int]:
    start = 0
    while start >= 0:
        yield start
        start = folded.find("\n", start) + 1 or -1


def tried(pattern: re.Pattern[str], folded: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """The matches that begin at `places`, without overlap."""
    end = 0
    for at in places:
        match = pattern.match(folded, at) if at >= end else None
        if match is not None:
            end = match.end()
            yield match


@cache
def _where_inside() -> re.Pattern[str]:
    """What stands before a number within a line, where one of their first characters follows."""
    return re.compile(rf"[.;:\"”)\]A-Z]\s(?=[\d(第A-Z{HAN}{_CIRCLED}])")


_ENGLISH = "ARTICLE|Article|CHAPTER|Chapter|SECTION|Section|CLAUSE|Clause|PART|Part"
_ANY_WORD = "|".join(NUMBER_WORDS)
# What makes a number with its word a reference, not a heading: 第三条的约定, Section 3.2 of.
_REFERS = (
    rf"(?!\s?(?:[的中所之至和或与及、,;)。第]|约定|规定|项下|(?:[(]?[{HAN}\d]+[)]?)?[款项])|\s?(?:[,;)]|of|above|below|hereof|and|"
    r"or|shall|is|to|through|are|will|may|hereunder|herein)(?![a-z]))"
)


def _pattern(before: str, after: str) -> re.Pattern[str]:
    return re.compile(
        rf"{before}(?P<mark>第(?P<cn>[{HAN}\d]{{1,6}})\s?(?P<unit>[编章节条]){_REFERS}"
        rf"|(?P<word>{_ENGLISH})\s(?P<no>\d{{1,3}}(?:\.\d{{1,3}}){{0,3}}|[IVXLC]{{1,7}}(?![a-z])"
        rf"|(?i:{_ANY_WORD})(?![a-z]))[.:]?(?=[\s\-])(?![^\S\n]?\n?\Z){_REFERS}"
        rf"|(?P<han>[{HAN}]{{1,4}})[、.](?!\d)"
        rf"|\((?P<han_paren>[{HAN}]{{1,4}})\)"
        r"|(?P<decimal>\d{1,2}(?:\.\d{1,3}){1,4})[.)]?(?=\s|[^\W\d_a-z]|[^\x00-\x7f])(?!\s?[%万亿元年月日个])"
        rf"|(?P<single>\d{{1,2}})[.、](?![\d%])"
        r"|\(?(?P<number_paren>\d{1,2})\)"
        rf"|(?P<circled>[{_CIRCLED}])"
        r"|\((?P<alpha>[a-zA-Z]{1,2}|[ivxIVX]{3,5})\)"
        rf"|(?P<letter>[A-Z])\.(?=\s))\s?{after}",
        re.MULTILINE,
    )


@cache
def _at_line() -> re.Pattern[str]:
    return _pattern(r"^(?:#{1,6}\s|\*{1,2}|>\s|[-•·]\s){0,2}", "")


@cache
def _inside() -> re.Pattern[str]:
    """Within a line: contracts out of a filing system often are one line a page."""
    return _pattern(r"(?<=[.;:\"”)\]A-Z]\s)", r"(?=[A-Z\"“\u4e00-\u9fff])")


@cache
def _behind_heading() -> re.Pattern[str]:
    """The first number below a heading on the heading's own line: 1. Grant of Franchise 1.1 Rights granted."""
    return re.compile(
        r"(?P<mark>(?P<decimal>\d(?<=[a-z]\s\d)(?<!ection\s\d)(?<!rticle\s\d)(?<!lause\s\d)\d?\.1)\.?)\s(?=[A-Z])"
    )


def _mark(match: re.Match[str], *, inline: bool = False) -> Mark | None:
    named = {name: value for name, value in match.groupdict().items() if value is not None and name != "mark"}
    start, end = match.span("mark")
    kind, value = next(((name, value) for name, value in named.items() if name not in ("unit", "word")), ("", ""))
    if kind in ("decimal", "no") and "." in value:
        return Mark(start, end, "decimal", tuple(map(int, value.split("."))), inline=inline)
    if kind == "circled":
        return Mark(start, end, "number_paren", (_CIRCLED.index(value) + 1,), inline=inline)
    if kind == "alpha":
        return _lettered(start, end, value, inline)
    if kind == "letter":
        return Mark(start, end, "letter", (ord(value) - 64,), inline=inline)
    number = ordinal(value)
    if number is None or not number:
        return None
    return Mark(start, end, _kind(kind, named), (number,), inline=inline)


def _kind(group: str, named: dict[str, str]) -> Kind:
    if group in ("cn", "no"):
        high = named.get("unit", "条") in "编章" or named.get("word", "").upper() in ("CHAPTER", "PART")
        return "chapter" if high else "article"
    kinds: dict[str, Kind] = {"han": "han", "han_paren": "han_paren", "number_paren": "number_paren"}
    return kinds.get(group, "decimal")


def _lettered(start: int, end: int, value: str, inline: bool) -> Mark | None:
    roman = roman_value(value)
    letters = Mark(start, end, "alpha", (_place(value),), inline=inline) if _place(value) else None
    if roman is None:
        return letters
    return Mark(start, end, "roman", (roman,), also=letters, inline=inline)


def _place(letters: str) -> int:
    """1 for a, 27 for aa, as lists go on; 0 for two different letters."""
    lower = letters.lower()
    return 0 if len(set(lower)) != 1 or len(lower) > 2 else ord(lower[0]) - 96 + 26 * (len(lower) - 1)
