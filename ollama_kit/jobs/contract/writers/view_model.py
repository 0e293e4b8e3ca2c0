"""What a reader sees of a contract: sections of rows, each row a label and its answers with what proves them.

Texts here are not yet escaped: each writer's environment escapes whatever a template prints.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from ollama_kit.documents.pages.escaping import one_line
from ollama_kit.jobs.contract.passages import Evidence
from ollama_kit.text.characters import cut_before

SHORT_QUOTE = 160
"""Characters of a quote that are shown beside a fact; the contract's text and the JSON have all of it."""

Level = Literal["bad", "warn", "good", "quiet"]


@dataclass(frozen=True, slots=True)
class Mark:
    """What must be said of an answer or a row. `name` is stable: conflict, unproven, differ, …"""

    name: str
    text: str
    level: Level


@dataclass(frozen=True, slots=True)
class Proof:
    """Words of the contract that prove something, and where they stand. `number` is theirs in the order of the text,
    `use` counts from 1 how often they have been cited before and here."""

    evidence: Evidence
    place: str
    number: int = 0
    use: int = 1

    @property
    def quote(self) -> str:
        """The quote on one line, a long one cut at a sentence or between characters."""
        return shortened(one_line(self.evidence.quote), SHORT_QUOTE)

    def is_the_same_as(self, text: str) -> bool:
        """Whether the quote says just what the answer says, which need not stand there twice."""
        return one_line(self.evidence.quote) == one_line(text)

    @property
    def id(self) -> str:
        """The name of the place that cites it, on a page."""
        return f"f{self.number}" if self.use == 1 else f"f{self.number}-{self.use}"


@dataclass(frozen=True, slots=True)
class Item:
    """One answer. `label` says what it is among others of its row; `parts` are its particulars, `invented` quotes that
    stand nowhere in the contract, `doubts` what its quotes do not hold."""

    text: str
    label: str = ""
    marks: tuple[Mark, ...] = ()
    proofs: tuple[Proof, ...] = ()
    parts: tuple[Item, ...] = ()
    invented: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()

    def each(self) -> Iterator[Item]:
        """It and its parts."""
        yield self
        for part in self.parts:
            yield from part.each()

    def marked(self, name: str) -> bool:
        return any(mark.name == name for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Row:
    """A question and its answers. `name` is stable. `searched` says what was looked for and what was read;
    `notes` are sentences on the whole of it: what differs, what failed. `nothing` is what is said where there is no
    answer: absent, or not_read."""

    name: str
    label: str
    items: tuple[Item, ...] = ()
    marks: tuple[Mark, ...] = ()
    searched: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    nothing: str = "absent"

    @property
    def absent(self) -> bool:
        return not self.items

    def marked(self, name: str) -> bool:
        return any(mark.name == name for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a heading. `notes` stand before them."""

    name: str
    title: str
    rows: tuple[Row, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clause:
    """A line of the outline; `start` is where it begins in the text, `depth` counts from 0."""

    text: str
    depth: int
    start: int


@dataclass(frozen=True, slots=True)
class Hidden:
    """Text that nobody sees: how it is hidden, where, and whether it gives orders to a model."""

    text: str
    how: str
    place: str
    offset: int
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class View:
    """One contract as it is shown: see `view.view_of`. `counts` are (name, label, how many), none of them 0;
    `is_page`: it is a summary, and shows no more than that."""

    title: str
    document: str
    language: str
    words: Mapping[str, str]
    counts: tuple[tuple[str, str, int], ...]
    sections: tuple[Section, ...]
    clauses: tuple[Clause, ...]
    hidden: tuple[Hidden, ...]
    notices: tuple[Item, ...]
    warnings: tuple[str, ...]
    made: tuple[str, ...]
    incomplete: str = ""
    is_page: bool = False
    uses: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """The labels of what each proof proves, by its number."""

    def rows(self, section: str) -> tuple[Row, ...]:
        """The rows of a section; none where it is not shown."""
        return next((one.rows for one in self.sections if one.name == section), ())

    def row(self, name: str) -> Row | None:
        """The row of that name, in whichever section."""
        return next((row for one in self.sections for row in one.rows if row.name == name), None)


def shortened(text: str, most: int, more: str = "…") -> str:
    """`text` with at most so many characters before `more`."""
    if len(text) <= most:
        return text
    return text[: cut_before(text, most) or most] + more


class Numbering:
    """Gives every proof its number, by the order of the text, and counts its uses in the order they are shown."""

    def __init__(self, proofs: Iterator[Proof]) -> None:
        spans = sorted({(proof.evidence.start, proof.evidence.end) for proof in proofs})
        self._numbers = {span: number for number, span in enumerate(spans, 1)}
        self.uses: dict[int, list[str]] = {}

    def item(self, item: Item, label: str) -> Item:
        """The item with numbered proofs; `label` is what they prove, in words."""
        label = item.label or label
        proofs = tuple(self._proof(proof, label) for proof in item.proofs)
        return replace(item, proofs=proofs, parts=tuple(self.item(part, label) for part in item.parts))

    def row(self, row: Row) -> Row:
        label = one_line(row.label) or "—"
        return replace(row, label=label, items=tuple(self.item(item, label) for item in row.items))

    def _proof(self, proof: Proof, label: str) -> Proof:
        number = self._numbers[proof.evidence.start, proof.evidence.end]
        used = self.uses.setdefault(number, [])
        used.append(label)
        return replace(proof, number=number, use=len(used))
