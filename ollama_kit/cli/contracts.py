"""What `contract extract` and `contract summarize` do around the job: read, ask for passwords, write, say what came."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ollama_kit.cli.output import error_as_dict, print_json, print_table, warn
from ollama_kit.documents.document import ReadDocument
from ollama_kit.documents.pages.outputs import make_folder
from ollama_kit.errors import DocumentError, UsageError
from ollama_kit.jobs.contract.contract_report import ContractReport

if TYPE_CHECKING:
    from ollama_kit.jobs.contract.job import ContractJob
    from ollama_kit.jobs.contract.planning import Purpose

MOST_TRIES = 3
WIDEST_CELL = 36


@dataclass
class ContractRun:
    """One run of a command over `files`; `flags` are its options by name. What was read so far is in `read`, in the
    order of the reports, what could not be is in `refused`.

    UsageError for flags that could not be obeyed in the end: it is told before anything is read or asked."""

    files: Sequence[Path]
    flags: Mapping[str, Any]
    read: list[Path] = field(default_factory=list)
    refused: list[DocumentError] = field(default_factory=list)
    _password: str | None = None

    def __post_init__(self) -> None:
        if self.flags["out"]:
            make_folder(self.flags["out"])
        elif self.flags["formats"]:
            raise UsageError(
                "--format is for files",
                hint=("Name a folder with --out.", "请用 --out 指定输出文件夹。"),
            )
        if "xlsx" in self.flags["formats"]:
            from ollama_kit.jobs.contract.writers.workbook import require_openpyxl

            require_openpyxl()

    def documents(self) -> Iterator[ReadDocument]:
        """Each file that can be read; one that cannot is told at once, and does not stop the others."""
        named = self.flags["password_file"]
        self._password = _first_line(named) if named else None
        for path in self.files:
            try:
                document = self._read(path)
            except DocumentError as error:
                self.refused.append(error)
                warn(str(error))
            else:
                self.read.append(path)
                yield document

    def by_rules(self) -> tuple[ContractReport, ...]:
        """The reports of rules alone."""
        from ollama_kit.jobs.contract.extraction import extract_facts

        return tuple(ContractReport(document, extract_facts(document)) for document in self.documents())

    def by_model(self, purpose: Purpose) -> tuple[ContractReport, ...]:
        """The reports of a model beside the rules; with `--estimate` none, and the estimate is printed."""
        with self._job() as job:
            if self.flags["estimate"]:
                self._print_estimate(job, purpose)
                return ()
            return job.extract(self.documents()) if purpose == "facts" else job.summarize(self.documents())

    def deliver(self, reports: Sequence[ContractReport], formats: Sequence[str]) -> int:
        """Writes the files, in `formats` where none is named, or prints the Markdown where no folder is; returns the
        exit code."""
        from ollama_kit.jobs.contract.writers import report_as_dict, write_files, write_markdown

        out: Path | None = self.flags["out"]
        for path in write_files(reports, out, self.flags["formats"] or _writable(formats)) if out else ():
            click.echo(f"wrote {path}", err=True)
        names = told_apart([*self.read, *(Path(error.path) for error in self.refused)])
        for name, report in zip(names, reports, strict=False):
            if not report.is_complete:
                warn(f"{name}: the model did not answer everything; the report says what")
            if report.unread:
                warn(f"{name}: {len(report.unread)} clauses had no room in the model's windows")
        if self.flags["as_json"]:
            print_json(
                {
                    "contracts": [report_as_dict(report) for report in reports],
                    "refused": [error_as_dict(error) for error in self.refused],
                    "counts": self._counts(reports),
                }
            )
        elif out:
            _print_summary(reports, names)
        else:
            click.echo("\n".join(map(write_markdown, reports)), nl=False)
        return 1 if self.refused or not all(report.is_complete for report in reports) else 0

    # -- reading

    def _read(self, path: Path) -> ReadDocument:
        """The document; for one that is locked the password is asked for, where somebody sits at a terminal."""
        from ollama_kit.documents.reading import read_document

        tries = MOST_TRIES if sys.stdin.isatty() and not self.flags["password_file"] else 0
        while True:
            try:
                return read_document(path, password=self._password)
            except DocumentError as error:
                if not error.locked or not tries:
                    raise
                tries -= 1
                self._password = click.prompt(f"Password of {path.name}", hide_input=True, err=True)

    # -- the model

    @contextmanager
    def _job(self) -> Iterator[ContractJob]:
        from ollama_kit.cli.batches import open_batch
        from ollama_kit.jobs.contract.job import JOB, ContractJob

        with open_batch(self.flags, JOB) as batch:
            yield ContractJob(
                batch.client,
                self.flags["model"],
                batch.ledger,
                batch.slots,
                self.flags["policy"],
                self.flags.get("schema"),
                tell=batch.tell,
            )

    def _print_estimate(self, job: ContractJob, purpose: Purpose) -> None:
        from ollama_kit.cli.batches import minutes, speed_said

        speed = speed_said(job.ledger)
        found = job.estimate(self.documents(), purpose)
        if self.flags["as_json"]:
            print_json(found)
            return
        done = f"{found.requests_done:,} of them done"
        click.echo(f"{found.contracts:,} contracts in {found.requests:,} requests, {done}")
        click.echo(f"{found.tokens:,} tokens to read, about {minutes(found.seconds)} {speed}")

    def _counts(self, reports: Sequence[ContractReport]) -> dict[str, int]:
        complete = sum(report.is_complete for report in reports)
        return {
            "contracts": len(self.files),
            "complete": complete,
            "incomplete": len(reports) - complete,
            "refused": len(self.refused),
        }


def _writable(formats: Sequence[str]) -> list[str]:
    """The formats without the sheet where the package for it is not installed: nobody asked for it by name."""
    from ollama_kit.jobs.contract.writers.workbook import require_openpyxl

    try:
        require_openpyxl()
    except UsageError as error:
        if "xlsx" in formats:
            warn(f"no sheet is written. {error}")
        return [name for name in formats if name != "xlsx"]
    return list(formats)


def _first_line(path: Path) -> str:
    """A password: the first line of a file, without its line end."""
    from ollama_kit.text.encodings import decode

    try:
        text, _ = decode(path.read_bytes())
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"the password file {path} cannot be read: {problem}") from problem
    return text.splitlines()[0] if text else ""


def told_apart(paths: Sequence[Path]) -> list[str]:
    """Each file by its name, and by as much of its folder as tells it from others of that name.

    >>> [name.replace("\\\\", "/") for name in told_apart([Path("a/lease.txt"), Path("b/lease.txt"), Path("sale.txt")])]
    ['a/lease.txt', 'b/lease.txt', 'sale.txt']
    """
    whole = [path.absolute().parts for path in paths]
    names: dict[tuple[str, ...], str] = {}
    alike, length = set(whole), 1
    while alike:
        ends = Counter(parts[-length:] for parts in alike)
        told = {parts for parts in alike if ends[parts[-length:]] == 1 or length >= len(parts)}
        names |= {parts: str(Path(*parts[-length:])) for parts in told}
        alike, length = alike - told, length + 1
    return [names[parts] for parts in whole]


def _print_summary(reports: Sequence[ContractReport], names: Sequence[str]) -> None:
    """A line a contract: what it is, with whom, until when, for how much, what of the model's is not proven, and how
    it went. `names` are those of the contracts, then those of the files that could not be read."""
    short = [_cut(name) for name in names]
    shown = [cut if short.count(cut) == 1 else name for cut, name in zip(short, names, strict=True)]
    rows = []
    for name, report in zip(shown, reports, strict=False):
        facts = report.facts
        largest = max(facts.amounts, key=lambda amount: amount.value, default=None)
        rows.append(
            (
                name,
                _cut(" / ".join(party.name for party in facts.parties)),
                _cut(facts.end_date.first),
                _cut(f"{largest.currency} {largest.value:,f}" if largest else ""),
                str(len(facts.risks)),
                _unproven(report),
                "done" if report.is_complete else "incomplete",
            )
        )
    rows += [(name, "", "", "", "", "", "not read") for name in shown[len(reports) :]]
    print_table(("contract", "parties", "ends", "largest amount", "risks", "unproven", "state"), rows)


def _unproven(report: ContractReport) -> str:
    """How many of the model's answers or sentences are not proven; nothing where no model was asked."""
    asked = report.answers or report.summary
    proven = [answer.is_proven for question in (report.answers.questions if report.answers else ())
              for answer in question.answers]  # fmt: skip
    proven += [sentence.is_proven for sentence in (report.summary.sentences if report.summary else ())]
    return str(proven.count(False)) if asked else ""


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDEST_CELL else f"{line[: WIDEST_CELL - 1]}…"
