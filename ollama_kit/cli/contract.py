"""`ollama-kit contract`: what contracts say that must not leave the building. Around the job: files are read,
passwords asked for, reports written, and what came of each is printed."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ollama_kit.cli.batches import BatchOptions, batch_options, minutes, open_batch, speed_said
from ollama_kit.cli.output import echo, error_as_dict, print_result, print_table, warn
from ollama_kit.documents.document import ReadDocument
from ollama_kit.documents.pages.output_files import make_folder
from ollama_kit.errors import DocumentError, UsageError
from ollama_kit.jobs.contract.contract_report import ContractReport

if TYPE_CHECKING:
    from ollama_kit.jobs.contract.job import ContractJob
    from ollama_kit.jobs.contract.planning import Purpose

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("json", "md", "html")
TABLES = ("xlsx", "csv")
MOST_TRIES = 3
WIDEST_CELL = 36


@click.group("contract")
def contract_command() -> None:
    """Read contracts: parties, dates, amounts and clauses, each with the words that prove it."""


def _file_options(command: F) -> F:
    """FILES, and how locked ones are opened."""
    command = click.option(
        "--password-file",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="File whose first line is the PDF password (default: prompt).",
    )(command)
    return click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))(command)


@contract_command.command("extract")
@_file_options
@click.option("--model", default="", help="A spec's name, such as contract-zh, or a model on the server.")
@click.option("--no-model", is_flag=True, help="Extract by rules alone: nothing is sent anywhere.")
@click.option(
    "--schema",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A JSON Schema of your own: its properties are the questions.",
)
@batch_options((*FORMATS, *TABLES))
@click.pass_context
def extract_command(
    ctx: click.Context,
    /,
    files: tuple[Path, ...],
    password_file: Path | None,
    no_model: bool,
    schema: Path | None,
    **batch: Any,
) -> None:
    """Extract the facts of the contracts in FILES (PDF, DOCX, HTML, Markdown, text): by rules, and by a model whose
    every answer has its quote. With --out each is written into that folder, and an interrupted run resumes where it
    stopped; else Markdown is printed. Exit code 1 if any could not be read or answered."""
    options = BatchOptions(**batch)
    if bool(options.model) == no_model:
        hint = (
            "--no-model extracts by rules alone, and sends nothing anywhere.",
            "--no-model 只用规则提取，不会发送任何内容。",
        )
        raise UsageError("pass either --model NAME or --no-model", hint=hint)
    if no_model and (schema or options.estimate):
        raise UsageError("--schema and --estimate need a model")
    run = ContractRun(files, options, password_file, schema)
    reports = run.by_rules() if no_model else run.by_model("facts")
    ctx.exit(int(bool(run.refused)) if options.estimate else run.deliver(reports, (*FORMATS, *TABLES)))


@contract_command.command("summarize")
@_file_options
@click.option("--model", required=True, help="A spec's name, such as contract-zh, or a model on the server.")
@batch_options(FORMATS)
@click.pass_context
def summarize_command(ctx: click.Context, /, files: tuple[Path, ...], password_file: Path | None, **batch: Any) -> None:
    """Summarize each contract on one page in plain words for whoever must sign it, each sentence with the words that
    prove it. Exit code 1 if any could not be read or answered."""
    options = BatchOptions(**batch)
    run = ContractRun(files, options, password_file)
    reports = run.by_model("summary")
    ctx.exit(int(bool(run.refused)) if options.estimate else run.deliver(reports, FORMATS))


@dataclass
class ContractRun:
    """One run of a command over `files`; `schema` has the user's own questions. What was read so far is in `read`, in
    the order of the reports, what could not be is in `refused`.

    UsageError for options that could not be obeyed in the end: it is raised before anything is read or asked."""

    files: Sequence[Path]
    options: BatchOptions
    password_file: Path | None = None
    schema: Path | None = None
    read: list[Path] = field(default_factory=list)
    refused: list[DocumentError] = field(default_factory=list)
    _password: str | None = None

    def __post_init__(self) -> None:
        if self.options.out:
            make_folder(self.options.out)
        elif self.options.formats:
            raise UsageError(
                "--format needs --out",
                hint=("Name a folder with --out.", "请用 --out 指定输出文件夹。"),
            )
        if "xlsx" in self.options.formats:
            from ollama_kit.jobs.contract.writers.workbook import require_openpyxl

            require_openpyxl()

    def documents(self) -> Iterator[ReadDocument]:
        """Each file that can be read; one that cannot is reported at once, and does not stop the others."""
        named = self.password_file
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
            if self.options.estimate:
                self._print_estimate(job, purpose)
                return ()
            return job.extract(self.documents()) if purpose == "facts" else job.summarize(self.documents())

    def deliver(self, reports: Sequence[ContractReport], formats: Sequence[str]) -> int:
        """Writes the files, in `formats` where none is named, or prints the Markdown where no folder is; returns the
        exit code."""
        from ollama_kit.jobs.contract.writers import report_as_dict, write_files, write_markdown

        out = self.options.out
        for path in write_files(reports, out, self.options.formats or _writable(formats)) if out else ():
            echo(f"wrote {path}", err=True)
        names = told_apart([*self.read, *(Path(error.path) for error in self.refused)])
        for name, report in zip(names, reports, strict=False):
            if not report.is_complete:
                warn(f"{name}: the model did not answer everything; the report says what")
            if report.unread:
                warn(f"{name}: {len(report.unread)} clauses did not fit in the model's windows")
        if self.options.as_json:
            print_result(
                {
                    "contracts": [report_as_dict(report) for report in reports],
                    "refused": [error_as_dict(error) for error in self.refused],
                    "counts": self._counts(reports),
                }
            )
        elif out:
            _print_summary(reports, names)
        else:
            echo("\n".join(map(write_markdown, reports)), nl=False)
        return 1 if self.refused or not all(report.is_complete for report in reports) else 0

    # -- reading

    def _read(self, path: Path) -> ReadDocument:
        """The document; for one that is locked the password is asked for, where there is a terminal."""
        from ollama_kit.documents.reading import read_document

        tries = MOST_TRIES if sys.stdin.isatty() and not self.password_file else 0
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
        from ollama_kit.jobs.contract.job import JOB, ContractJob

        with open_batch(self.options, JOB) as context:
            yield ContractJob(
                context.client,
                self.options.model,
                context.ledger,
                context.slots,
                self.options.policy,
                self.schema,
                tell=context.tell,
            )

    def _print_estimate(self, job: ContractJob, purpose: Purpose) -> None:
        speed = speed_said(job.ledger)
        found = job.estimate(self.documents(), purpose)
        if self.options.as_json:
            print_result(found)
            return
        done = f"{found.requests_done:,} of them done"
        echo(f"{found.contracts:,} contracts in {found.requests:,} requests, {done}")
        echo(f"{found.tokens:,} tokens to read, about {minutes(found.seconds)} {speed}")

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
            warn(f"no XLSX is written. {error}")
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
    """Each file by its name, and by as much of its folder as distinguishes it from others of that name.

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
    """A line per contract: what it is, with whom, until when, for how much, what of the model's is not proven, and how
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
