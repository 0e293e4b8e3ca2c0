"""A batch as a table, one row a contract: the same cells for the sheet and for CSV."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO

from ollama_kit.documents.pages.escaping import cut_cell, inert, one_line
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.writers.view import view_of
from ollama_kit.jobs.contract.writers.view_model import Item, Level, Mark, Row, View
from ollama_kit.jobs.contract.writers.wording import words_of

BEFORE = ("title", "type", "number")
AFTER = ("signing_date", "effective_date", "end_date", "term", "amounts", "payments", "governing_law", "dispute_forum")
FEWEST_PARTIES = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """Lines of text, or a number. `level` is that of its gravest mark; `evidence` are the words that prove it, and
    what stands nowhere in the contract."""

    lines: tuple[str, ...] = ()
    number: int | None = None
    level: Level = "quiet"
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Table:
    """A heading and a cell of each row for every column."""

    name: str
    headings: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


def table_of(reports: Sequence[ContractReport]) -> Table:
    """The table of a batch. Its headings are in the language of most of the contracts, its cells each in their own.

    There is a column for every question of a user's own schema."""
    views = [view_of(report) for report in reports]
    languages = Counter(view.language for view in views)
    words = words_of(languages.most_common(1)[0][0] if languages else "en")
    parties = max([FEWEST_PARTIES, *(len(_items(view, "parties")) for view in views)])
    own = {row.name: row.label for view in views for row in view.rows("own")}
    headings = (
        words["column_document"],
        *(words[name] for name in BEFORE),
        *(words["column_party"].format(number) for number in range(1, parties + 1)),
        *(words[name] for name in AFTER),
        *own.values(),
        words["column_risks"],
        words["column_state"],
    )
    rows = tuple(tuple(_row(report, view, parties, list(own))) for report, view in zip(reports, views, strict=True))
    return Table(words["sheet"], headings, rows)


def write_csv(reports: Sequence[ContractReport]) -> str:
    """The table of a batch as spreadsheets open it: a byte-order mark first, or Excel on Windows reads Chinese as GBK;
    lines end with CR LF; no cell is a formula, and what is too long for one is cut visibly."""
    table = table_of(reports)
    out = StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(map(inert, table.headings))
    for report, row in zip(reports, table.rows, strict=True):
        more = words_of(report.facts.language)["cut"]
        # The guard against formulas may add a character before each line.
        writer.writerow(cut_cell(inert(text_of(cell, "; ")), more) for cell in row)
    return "\ufeff" + out.getvalue()


def text_of(cell: Cell, between: str) -> str:
    """What a cell says."""
    return str(cell.number) if cell.number is not None else between.join(cell.lines)


def _row(report: ContractReport, view: View, parties: int, own: Sequence[str]) -> Iterator[Cell]:
    yield Cell((view.document,))
    for name in BEFORE:
        yield _answers(view, view.row(name))
    row = view.row("parties")
    for at in range(parties):
        yield _answers(view, row, slice(at, at + 1), absent=at < FEWEST_PARTIES)
    for name in AFTER:
        yield _answers(view, view.row(name))
    asked = {row.name: row for row in view.rows("own")}
    for name in own:
        yield _answers(view, asked.get(name))
    yield _risks(view)
    yield _state(report, view)


def _items(view: View, name: str) -> tuple[Item, ...]:
    row = view.row(name)
    return row.items if row else ()


def _answers(view: View, row: Row | None, shown: slice = slice(None), *, absent: bool = True) -> Cell:
    """The answers to a question, one a line; that of a row that this contract does not have is empty."""
    items = row.items[shown] if row else ()
    if row is None or not (items or absent):
        return Cell()
    lines = [_line(item) or "—" for item in items] or [view.words[row.nothing if row else "absent"]]
    marks = _grave(row.marks)
    if marks:
        lines.insert(0, marks)
    graded = (*row.marks, *(mark for item in items for one in item.each() for mark in one.marks))
    evidence = [line for item in items for line in _evidence(view, item)] or (list(row.searched) if absent else [])
    return Cell(tuple(lines), level=_gravest(graded), evidence=(*evidence, *row.notes))


def _line(item: Item) -> str:
    """An answer with its particulars, and what must be said of it, on one line."""
    parts = "; ".join(filter(None, (_said(part) for part in item.parts if part.text)))
    return " ".join(filter(None, (_said(item), f"({parts})" if parts else "")))


def _said(item: Item) -> str:
    text = ": ".join(filter(None, (one_line(item.label), one_line(item.text))))
    return " ".join(filter(None, (text, _grave(item.marks))))


def _grave(marks: Iterable[Mark]) -> str:
    """The marks that a reader of the cell must not miss."""
    return " ".join(f"[{mark.text}]" for mark in marks if mark.level in ("bad", "warn"))


def _gravest(marks: Iterable[Mark]) -> Level:
    levels = {mark.level for mark in marks}
    order: tuple[Level, ...] = ("bad", "warn")
    return next((level for level in order if level in levels), "quiet")


def _evidence(view: View, item: Item) -> Iterator[str]:
    words = view.words
    for one in item.each():
        for proof in one.proofs:
            yield f"{words['quoted'].format(one_line(proof.evidence.quote))} ({proof.place})"
        yield from (f"{words['invented']}: {words['quoted'].format(quote)}" for quote in one.invented)
        yield from (f"{words['doubt']}: {doubt}" for doubt in one.doubts)


def _risks(view: View) -> Cell:
    rows = view.rows("risks")
    count = sum(len(row.items) for row in rows)
    evidence = []
    for row in rows:
        for item in row.items:
            evidence += [f"{row.label}: {_said(item)}", *_evidence(view, item)]
    return Cell(number=count, level="warn" if count else "quiet", evidence=tuple(evidence))


def _state(report: ContractReport, view: View) -> Cell:
    words = view.words
    if not report.is_complete:
        state = words["state_incomplete"]
    elif report.answers is None and report.summary is None:
        state = words["state_rules"]
    else:
        state = words["state_complete"]
    counts = tuple(f"{label} {count}" for name, label, count in view.counts if name != "risks")
    grave = any(name in ("conflicts", "unproven") for name, _, _ in view.counts) or not report.is_complete
    return Cell((state, *counts), level="bad" if grave else "quiet", evidence=view.made)
