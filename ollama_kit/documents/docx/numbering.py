"""The numbers that Word puts before paragraphs and keeps nowhere in the text: computed as it shows them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from ollama_kit.documents.docx.numerals import numeral
from ollama_kit.documents.docx.package import W, attribute, switched_on
from ollama_kit.documents.docx.styles import Styles

_BULLET_FONTS = range(0xF000, 0xF100)
_PLACE = re.compile(r"%([1-9])")
LEVELS = 9


@dataclass(frozen=True, slots=True)
class Level:
    """One level of a list. `text` holds %1 to %9 for the numbers of the levels; `restart`: the level (from 1) after
    which it begins anew, 0 for never, None for any above."""

    start: int = 1
    form: str = "decimal"
    text: str = ""
    gap: str = " "
    legal: bool = False
    restart: int | None = None
    style: str = ""


@dataclass(frozen=True, slots=True)
class ListOfNumbers:
    """A list (w:num): which definition it counts in, its levels, and where it begins anew at its first use."""

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
