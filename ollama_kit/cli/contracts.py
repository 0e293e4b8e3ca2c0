"""What `contract extract` and `contract summarize` do around the job: read, ask for passwords, write, say what came."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ollama_kit.cli.output import error_as_dict, print_json, print_table, warn
from ollama_kit.errors import DocumentError, UsageError
from ollama_kit.jobs.contract.report import ContractReport
from ollama_kit.jobs.documents.document import ReadDocument

if TYPE_CHECKING:
    from ollama_kit.jobs.contract.job import ContractJob
    from ollama_kit.jobs.contract.planning import Purpose

MOST_TRIES = 3
WIDEST_CELL = 36


@dataclass
class ContractRun:
    """One run of a command over `files`; `flags` are its options by name. What could not be read is in `refused`."""

    files: Sequence[Path]
    flags: Mapping[str, Any]
    refused: list[DocumentError] = field(default_factory=list)
    _password: str | None = None

    def documents(self) -> Iterator[ReadDocument]:
        """Each file that can be read; one that can not is told at once, and does not stop the others."""
        named = self.flags["password_file"]
        self._password = _first_line(named) if named else None
        for path in self.files:
            try:
                yield self._read(path)
            except DocumentError as error:
                self.refused.append(error)
                warn(str(error))

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
            return job.extract(self.documents()) if purpose == "facts" else job.summarise(self.documents())

    def deliver(self, reports: Sequence[ContractReport], formats: Sequence[str]) -> int:
        """Writes the files, in `formats` where none is named, or prints the Markdown where no folder is; returns the
        exit code."""
        from ollama_kit.jobs.contract.writers import report_as_dict, write_files, write_markdown

        out: Path | None = self.flags["out"]
        if not out and self.flags["formats"]:
            raise UsageError("--format is for files", hint="Name a folder with --out.")
        for path in write_files(reports, out, self.flags["formats"] or formats) if out else ():
            click.echo(f"wrote {path}", err=True)
        for report in reports:
            if not report.is_complete:
                warn(f"{report.document.name}: the model did not answer everything; the report says what")
            if report.unread:
                warn(f"{report.document.name}: {len(report.unread)} clauses had no room in the model's windows")
        if self.flags["as_json"]:
            print_json(
                {
                    "contracts": [report_as_dict(report) for report in reports],
                    "refused": [error_as_dict(error) for error in self.refused],
                    "counts": self._counts(reports),
                }
            )
        elif out:
            _print_summary(reports, self.refused)
        else:
            click.echo("\n".join(map(write_markdown, reports)), nl=False)
        return 1 if self.refused or not all(report.is_complete for report in reports) else 0

    # -- reading

    def _read(self, path: Path) -> ReadDocument:
        """The document; for one that is locked the password is asked for, where somebody sits at a terminal."""
        from ollama_kit.jobs.documents.reading import read_document

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
        from ollama_kit.cli.batches import minutes

        found = job.estimate(self.documents(), purpose)
        if self.flags["as_json"]:
            print_json(found)
            return
        done = f"{found.requests_done:,} of them done"
        click.echo(f"{found.contracts:,} contracts in {found.requests:,} requests, {done}")
        click.echo(f"{found.tokens:,} tokens to read, about {minutes(found.seconds)} at the speed just measured")

    def _counts(self, reports: Sequence[ContractReport]) -> dict[str, int]:
        complete = sum(report.is_complete for report in reports)
        return {
            "contracts": len(self.files),
            "complete": complete,
            "incomplete": len(reports) - complete,
            "refused": len(self.refused),
        }


def _first_line(path: Path) -> str:
    """A password: the first line of a file, without its line end."""
    from ollama_kit.encodings import decode

    try:
        text, _ = decode(path.read_bytes())
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"the password file {path} can not be read: {problem}") from problem
    return text.splitlines()[0] if text else ""


def _print_summary(reports: Sequence[ContractReport], refused: Sequence[DocumentError]) -> None:
    """A line a contract: what it is, with whom, until when, for how much, and how it went."""
    rows = []
    for report in reports:
        facts = report.facts
        largest = max(facts.amounts, key=lambda amount: amount.value, default=None)
        rows.append(
            (
                report.document.name,
                " / ".join(party.name for party in facts.parties),
                facts.end_date.first,
                f"{largest.currency} {largest.value:,f}" if largest else "",
                str(len(facts.risks)),
                "done" if report.is_complete else "incomplete",
            )
        )
    rows += [(Path(error.path).name, "", "", "", "", "not read") for error in refused]
    cut = [[_cut(cell) for cell in row] for row in rows]
    print_table(("contract", "parties", "ends", "largest amount", "risks", "state"), cut)


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDEST_CELL else f"{line[: WIDEST_CELL - 1]}…"
