"""The clauses of a contract as a tree, from their numbers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.structure.clause_numbers import Kind, Mark, marks_in

LARGEST_GAP = 3
"""How far a number may be ahead of the one before: a deleted clause leaves a gap, a quantity a larger one."""
LONGEST_TITLE = 80


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause at `[start:end]` of the document, its subclauses within. `path` has the numbers from the top down,
    `parent` is the place of its parent in the outline, or -1. `number` is as written, without the title."""

    number: str
    title: str
    kind: Kind
    path: tuple[str, ...]
    start: int
    end: int
    depth: int
    parent: int


@dataclass(frozen=True)
class Outline:
    """All clauses in the order of the text."""

    clauses: tuple[Clause, ...] = ()

    @cached_property
    def starts(self) -> list[int]:
        """Where each clause begins."""
        return [clause.start for clause in self.clauses]

    def at(self, offset: int) -> Clause | None:
        """The innermost clause that holds a character of the document; None before the first and after the last."""
        at = bisect_right(self.starts, offset) - 1
        while at >= 0 and self.clauses[at].end <= offset:
            at = self.clauses[at].parent
        return self.clauses[at] if at >= 0 else None


def read_outline(text: ContractText, end: int | None = None) -> Outline:
    """The outline of `text` up to `end` (in `plain`; where the attachments or signatures begin).

    A number counts only where it goes on from one before, or begins a list: what stands in a table does not."""
    end = len(text.plain) if end is None else end
    kept: list[Mark] = []
    levels: list[list[Mark]] = []
    stack: list[Mark] = []
    for mark in _outside_contents(text.folded, marks_in(text.folded)):
        placed = _placed(mark, stack) if mark.start < end else None
        if placed is not None:
            chosen, depth = placed
            stack = [*stack[:depth], chosen]
            kept.append(chosen)
            levels.append(stack)
    return Outline(_clauses(text, kept, levels, end))


def _outside_contents(folded: str, marks: Sequence[Mark]) -> list[Mark]:
    """The marks without those of a table of contents: it ends where the first number comes for the second time."""
    heading = _contents().search(folded, 0, 20_000)
    if heading is None:
        return list(marks)
    after = [mark for mark in marks if mark.start > heading.end()]
    again = next((m for m in after[1:] if (m.kind, m.numbers) == (after[0].kind, after[0].numbers)), None)
    if again is None or again.start - heading.end() > len(folded) // 3:
        return list(marks)
    return [mark for mark in marks if mark.start < heading.start() or mark.start >= again.start]


@cache
def _contents() -> re.Pattern[str]:
    return re.compile(r"^\W{0,4}(?:目\s?录|(?i:table of contents))\b", re.MULTILINE)


def _placed(mark: Mark, stack: Sequence[Mark]) -> tuple[Mark, int] | None:
    """The mark in the reading that fits, and how deep it stands; None where it continues nothing."""
    readings = [mark] if mark.also is None else [mark, mark.also]
    for reading in readings:
        depth = _continues(reading, stack)
        if depth is not None:
            return reading, depth
    for reading in readings:
        depth = _begins(reading, stack)
        if depth is not None:
            return reading, depth
    return None


def _continues(mark: Mark, stack: Sequence[Mark]) -> int | None:
    for depth in range(len(stack) - 1, -1, -1):
        before = stack[depth]
        if before.kind != mark.kind or len(before.numbers) != len(mark.numbers):
            continue
        step = mark.numbers[-1] - before.numbers[-1]
        reach = 1 if mark.inline else LARGEST_GAP
        if before.numbers[:-1] == mark.numbers[:-1] and 0 < step <= reach:
            return depth
        if mark.kind in ("chapter", "article") and not mark.inline:
            return depth
    return None


def _begins(mark: Mark, stack: Sequence[Mark]) -> int | None:
    if mark.kind == "decimal" and len(mark.numbers) > 1:
        return _below_prefix(mark, stack)
    if mark.kind in ("chapter", "article"):
        chapters = sum(1 for one in stack if one.kind == "chapter")
        fits = not mark.inline or not stack or mark.numbers == (1,)
        return (chapters if mark.kind == "article" else 0) if fits else None
    if mark.numbers[-1] != 1:
        return None
    if mark.kind == "decimal" and len(stack) == 1 and stack[0].kind == "letter":
        return 0  # recitals are lettered, and the clauses behind them are not below the last one
    same = [depth for depth, one in enumerate(stack) if one.kind == mark.kind]
    if same and not mark.inline:
        return same[0] if mark.kind == "decimal" and same[0] == 0 and len(stack) == 1 else same[-1]
    return None if same else len(stack)


def _below_prefix(mark: Mark, stack: Sequence[Mark]) -> int | None:
    """Below the number that it begins with: 3.1 below 3., Article 3 or 第三条."""
    for depth in range(len(stack) - 1, -1, -1):
        before = stack[depth]
        if before.kind in ("decimal", "article", "chapter") and before.numbers == mark.numbers[: len(before.numbers)]:
            return depth + 1
    if mark.inline:
        return None
    # The heading above it may be without a number, or lost with a page break.
    return next((at for at, one in enumerate(stack) if one.kind == "decimal"), len(stack) if not stack else 0)


def _clauses(
    text: ContractText, marks: Sequence[Mark], levels: Sequence[Sequence[Mark]], end: int
) -> tuple[Clause, ...]:
    ends = _ends(levels, [mark.start for mark in marks], end)
    made: list[Clause] = []
    latest: dict[int, int] = {}
    for at, (mark, level) in enumerate(zip(marks, levels, strict=True)):
        depth = len(level) - 1
        parent = latest.get(depth - 1, -1) if depth else -1
        latest[depth] = at
        number = text.plain[mark.start : mark.end].strip()
        path = tuple(text.folded[one.start : one.end].strip() for one in level)
        start, stop = text.map.span(mark.start, ends[at])
        made.append(Clause(number, title_behind(text.plain, mark.end), mark.kind, path, start, stop, depth, parent))
    return tuple(made)


def _ends(levels: Sequence[Sequence[Mark]], starts: Sequence[int], end: int) -> list[int]:
    """Where each clause ends: before the next one that is no deeper. Each is opened and closed once."""
    ends = [end] * len(levels)
    opened: list[int] = []
    for at, level in enumerate(levels):
        while opened and len(levels[opened[-1]]) >= len(level):
            ends[opened.pop()] = starts[at]
        opened.append(at)
    return ends


def title_behind(plain: str, at: int) -> str:
    """The title that stands behind a number; empty where the clause has none and its text begins at once.

    >>> title_behind("1. Governing Law. This Agreement is", 2), title_behind("1. 乙方应于签约之日起十日内交货。", 2)
    ('Governing Law', '')
    """
    line = plain[at : at + 2 * LONGEST_TITLE].partition("\n")[0]
    whole = len(line) < 2 * LONGEST_TITLE
    line = line.strip(" \t:：.、-—*")
    found = _title().match(line)
    if found is None:
        return line if whole and 0 < len(line) <= 30 and not _sentence().search(line) else ""
    title = (found[1] or found[2]).strip(" *_:：—-/")
    return "" if _sentence().search(title) or title[:1].islower() else title


@cache
def _title() -> re.Pattern[str]:
    return re.compile(
        rf"((?:[^\W\d_a-z]|[\"“])[^.:。：;；\n]{{0,{LONGEST_TITLE}}}?)(?:[.:：](?=\s|\Z|[\u4e00-\u9fff])|\s{{2,}}|$)|"
        r"([\u4e00-\u9fff、/]{2,20})(?=\s)"
    )


@cache
def _sentence() -> re.Pattern[str]:
    """What stands in sentences and not in titles."""
    return re.compile(
        r"[。，；,;]\S|[。；]\Z|\b(?:shall|will|is|are|may|must|has|do|does|did|can|means?|agrees?|keeps|grants|owns|retains|warrants|represents|"
        r"acknowledges|undertakes|continues?|survives?|applies|apply|remains?|pays|bears)\b|应当?[^收付]|不得|[^法]为"
        r"|如下|下列|下述|按照?以下|[”\"](?:是?指|means)"
    )
