"""A contract cut where its clauses begin: every character is in exactly one segment."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

from ollama_kit.jobs.contract.contract_facts import Structure
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.structure.outline import Clause
from ollama_kit.text.characters import cut_before

LONGEST_LABEL = 40
SHORT_HEADING = 200
"""Characters of a heading that is shown above a part of a clause although nothing else of the clause is."""
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Segment:
    """`plain[start:end]` of a contract: a clause up to its first subclause, or what stands before, between and behind.

    `label` is what people call it (第八条 违约责任); `titles` are the titles of it and of the clauses around it, folded
    and in lower case; `above` are the segments with the headings of those, by their places."""

    start: int
    end: int
    label: str
    titles: str
    above: tuple[int, ...] = ()


def segments_of(text: ContractText, structure: Structure) -> tuple[Segment, ...]:
    """The segments in the order of the text, without gaps."""
    starts = _Starts(text)
    named: dict[int, tuple[str, str, int]] = {}  # start: label, titles, place of the parent clause
    clauses = structure.outline.clauses
    places = [starts.at(clause.start) for clause in clauses]
    titles: list[str] = []
    for place, clause in zip(places, clauses, strict=True):
        around = titles[clause.parent] if clause.parent >= 0 else ""
        titles.append(f"{around}\n{clause.title.lower()}".strip())
        named[place] = (_label(clause, clauses), titles[-1], clause.parent)
    for attachment in structure.attachments:
        label = f"{attachment.number} {attachment.title}".strip()
        named[starts.at(attachment.start)] = (label, label.lower(), -1)
    if structure.signatures:
        named.setdefault(starts.at(structure.signatures.start), ("", "signature 签署 盖章", -1))
    named.setdefault(0, ("", "", -1))
    return _linked(text, named, places, [clause.parent for clause in clauses])


def _linked(
    text: ContractText, named: dict[int, tuple[str, str, int]], places: Sequence[int], parents: Sequence[int]
) -> tuple[Segment, ...]:
    begins = sorted(named)
    order = {start: at for at, start in enumerate(begins)}
    segments = []
    for start, end in zip(begins, [*begins[1:], len(text.plain)], strict=True):
        label, titles, parent = named[start]
        above = []
        while parent >= 0:
            above.append(order[places[parent]])
            parent = parents[parent]
        words = label[:LONGEST_LABEL] or _first_words(text.plain, start)
        segments.append(Segment(start, end, words, titles, tuple(reversed(above))))
    return tuple(segments)


def _first_words(plain: str, start: int) -> str:
    return " ".join(plain[start : start + LONGEST_LABEL].split())


def _label(clause: Clause, clauses: Sequence[Clause]) -> str:
    """What people call a clause; a subclause by the clause that it is part of as well: 第五条 违约责任 1."""
    first = clause
    while first.parent >= 0:
        first = clauses[first.parent]
    own = f"{clause.number} {clause.title}".strip()
    return own if first is clause else f"{first.number} {first.title}".strip()[: LONGEST_LABEL // 2] + f" {own}"


class _Starts:
    """Where in `plain` a character of the document stands."""

    def __init__(self, text: ContractText) -> None:
        self._text, self._all = text, range(len(text.plain))

    def at(self, offset: int) -> int:
        return bisect_left(self._all, offset, key=self._text.original)


def cut_long(plain: str, segments: Sequence[Segment], count: Count, longest: int, most: int) -> tuple[Segment, ...]:
    """The segments, those of more than `longest` tokens cut into pieces of at most `most`. The pieces of a clause keep
    its label and titles, and stand under its heading; those of other text are called by their own first words."""
    cut = [list(_parts(plain, segment, count, longest, most)) for segment in segments]
    firsts = [0, *accumulate(map(len, cut))]
    found = []
    for at, (segment, spans) in enumerate(zip(segments, cut, strict=True)):
        above = tuple(firsts[place] for place in segment.above)
        for number, (start, end) in enumerate(spans):
            under = (*above, firsts[at]) if number and segment.titles else above
            label = segment.label if segment.titles or not number else _first_words(plain, start)
            found.append(Segment(start, end, label, segment.titles, under))
    return tuple(found)


def _parts(plain: str, segment: Segment, count: Count, longest: int, most: int) -> Iterator[tuple[int, int]]:
    """The spans of a segment: its heading, where it has one on a line of its own, and the pieces of the rest."""
    start, end = segment.start, segment.end
    if count(plain[start:end]) <= longest:
        yield start, end
        return
    line = plain.find("\n", start, end) + 1
    if segment.titles and 0 < line - start <= SHORT_HEADING and line < end:
        yield from pieces_of(plain, (start, line), count, most)
        start = line
    yield from pieces_of(plain, (start, end), count, most)


def pieces_of(plain: str, span: tuple[int, int], count: Count, limit_tokens: int) -> Iterator[tuple[int, int]]:
    """The span cut into pieces of at most `limit_tokens` as `count` counts them: between paragraphs if it can be, else
    between sentences, else anywhere but inside a character."""
    start, end = span
    if count(plain[start:end]) <= limit_tokens or end - start <= 1:
        yield span
        return
    middle = (start + end) // 2
    for boundary in (_paragraph(), _sentence()):
        cuts = [match.end() for match in boundary.finditer(plain, start, end) if start < match.end() < end]
        if cuts:
            cut = min(cuts, key=lambda place: abs(place - middle))
            break
    else:
        cut = start + cut_before(plain[start:end], middle - start) or middle
    yield from pieces_of(plain, (start, cut), count, limit_tokens)
    yield from pieces_of(plain, (cut, end), count, limit_tokens)


@cache
def _paragraph() -> re.Pattern[str]:
    return re.compile(r"\n+")


@cache
def _sentence() -> re.Pattern[str]:
    return re.compile(r"[。；;]|\.\s")
