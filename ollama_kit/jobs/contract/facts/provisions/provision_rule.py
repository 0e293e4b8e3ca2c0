"""A rule: by which words a sentence provides something, and where its particulars stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Literal

from ollama_kit.jobs.contract.facts.numbers import Row
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.topics import stems_of
from ollama_kit.text.dates.written import FoundDate, Term
from ollama_kit.text.figures.amounts import Amount
from ollama_kit.text.figures.percentages import Percentage

SIDE = (
    r"(?:[甲乙丙丁]方|双方|各方|任[何意]?一方|一方|守约方|违约方|买方|卖方|出卖人|买受人|出租[方人]|承租[方人]"
    r"|委托[方人]|受托[方人]|供方|需方|"
    r"发包[方人]|承包[方人]|许可方|被许可方|披露方|接收方|服务方|客户|供应商|保密方)"
)
"""A party in Chinese."""
PARTY = (
    r"(?:(?<![\w-])(?:(?i:either|neither|each|the other|any|other|(?:the\s)?(?<!non- )(?:non-?)?(?:breaching|defaulting"
    r"|performing|affected|unaffected|violating|disclosing|receiving|indemnifying|indemnified|terminating|injured"
    r"|innocent))\s(?i:party)|(?i:both|the)\s(?i:parties)|(?i:party)\s[ABab]|(?:(?i:the)\s)?(?:[a-z]-"
    r"|\d)?[A-Z][\w&'’-]*(?:\.[\w&'’-]+)*(?:\s[A-Z][\w&'’-]*(?:\.[\w&'’-]+)*){0,2}))"
)
"""A party in English, by its capitals; for folded text."""
NEAR = 48
"""Characters beside a figure that say what it is."""

Kind = Literal["terms", "percentages", "amounts", "dates"]
Placed = Term | Percentage | Amount | FoundDate
Read = tuple[str, str, int, int]
"""Name, value and the span of the words in `plain`."""


@dataclass(frozen=True, slots=True)
class Said:
    """A particular that words give. Its value is `value`, else what the group v holds; the pattern is for folded text,
    with (?i:) where the case does not matter. `unless`: what the sentence must not have, in lower case."""

    name: str
    pattern: str
    value: str = ""
    unless: str = ""
    every: bool = False

    def read(self, text: ContractText, start: int, end: int) -> Iterator[Read]:
        """It, once, if the sentence has it; `every` time where there may be more."""
        pattern = _compiled(self.pattern)
        match = pattern.search(text.folded, start, end)
        if match is None or (self.unless and _compiled(self.unless).search(text.lower, start, end)):
            return
        while match is not None:
            first, last = match.span() if self.value else match.span("v")
            yield self.name, self.value or text.plain[first:last].strip(), first, last
            match = pattern.search(text.folded, match.end(), end) if self.every else None


@dataclass(frozen=True, slots=True)
class Figure:
    """A particular that is a figure: its kind, and the words right before it (their end) or behind it (their start)
    that make it this one, in folded lower case. Both empty: any. `given`: what the sentence must have."""

    name: str
    kind: Kind
    before: str = ""
    behind: str = ""
    given: str = ""

    def read(self, text: ContractText, start: int, end: int) -> Iterator[Read]:
        """Every such figure of the sentence."""
        found: Row[Placed] = getattr(text.numbers, self.kind)
        inside = found.within(start, end)
        if not inside or (self.given and not _compiled(self.given).search(text.lower, start, end)):
            return
        for one in inside:
            if self._fits(text.lower, one, start, end):
                yield self.name, written(one), one.start, one.end

    def _fits(self, lower: str, one: Placed, start: int, end: int) -> bool:
        if not self.before and not self.behind:
            return True
        if self.before and _compiled(rf"(?:{self.before})\Z").search(lower, max(start, one.start - NEAR), one.start):
            return True
        return (
            bool(self.behind) and _compiled(self.behind).match(lower, one.end, min(end, one.end + 2 * NEAR)) is not None
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """Sentences of `topic` that have one of its words (`touched`, where they are others). `says` is what makes the
    sentence provide something, `unless` what makes it about something else, both for lower case. In a clause whose
    title names the topic `titled` is enough; in one whose title is one of `elsewhere` the words mean something else."""

    topic: str
    says: str
    particulars: tuple[Said | Figure, ...]
    unless: str = ""
    titled: str = ""
    elsewhere: str = ""
    touched: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """Of which one must stand in the sentence, in lower case."""
        return self.touched or stems_of(self.topic)

    def elsewhere_titled(self, title: str) -> bool:
        """Whether a clause of this title (in lower case) is about another matter."""
        return bool(self.elsewhere) and _compiled(self.elsewhere).search(title) is not None

    def applies(self, lower: str, start: int, end: int) -> bool:
        """Whether the sentence says it by itself."""
        return _compiled(self.says).search(lower, start, end) is not None and not self.is_other(lower, start, end)

    def applies_titled(self, lower: str, start: int, end: int) -> bool:
        """Whether it says it in a clause of the topic."""
        found = bool(self.titled) and _compiled(self.titled).search(lower, start, end) is not None
        return found and not self.is_other(lower, start, end)

    def is_other(self, lower: str, start: int, end: int) -> bool:
        """Whether it is about something else."""
        return bool(self.unless) and _compiled(self.unless).search(lower, start, end) is not None

    def read(self, text: ContractText, start: int, end: int) -> Iterator[Read]:
        """Its particulars, each value once. A figure is only one of them, the first that it may be."""
        seen = set()
        taken: list[tuple[int, int]] = []
        latin = _latin().search(text.lower, start, end) is not None
        for particular in self.particulars if latin else _without_english(self.particulars):
            for name, value, first, last in particular.read(text, start, end):
                figure = isinstance(particular, Figure)
                if figure and any(begin <= first and last <= stop for begin, stop in taken):
                    continue
                if figure or name in ("cap", "penalty"):
                    taken.append((first, last))
                if (name, value) not in seen:
                    seen.add((name, value))
                    yield name, value, first, last


@cache
def _without_english(particulars: tuple[Said | Figure, ...]) -> tuple[Said | Figure, ...]:
    """Those that a sentence without English words may have."""
    return tuple(one for one in particulars if isinstance(one, Figure) or PARTY not in one.pattern)


@cache
def _latin() -> re.Pattern[str]:
    return re.compile("[a-z][a-z]")


def written(one: Placed) -> str:
    """A figure as a particular's value."""
    if isinstance(one, Term):
        return f"{one.count} {one.unit}"
    if isinstance(one, Amount):
        return f"{one.currency} {one.value:f}"
    if isinstance(one, Percentage):
        low, high = (percent(share) for share in (one.low, one.high))
        span = low if low == high else f"{low}-{high}"
        return f"{span} per {one.per}" if one.per else span
    return one.day.isoformat()


def percent(share: Fraction) -> str:
    """A share as a percentage, exactly.

    >>> percent(Fraction(1, 2000)), percent(Fraction(1, 3))
    ('0.05%', '100/3%')
    """
    hundredths = share * 100
    places = 0
    while places < 12 and (hundredths * 10**places).denominator != 1:
        places += 1
    exact = (hundredths * 10**places).denominator == 1
    return f"{float(hundredths):.{places}f}%" if exact else f"{hundredths}%"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
