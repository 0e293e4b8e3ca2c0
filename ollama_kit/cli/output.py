"""What commands print: results on stdout, the rest on stderr, the same for a person, a pipe and a narrow console."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

import click

from ollama_kit.text.visible import visible, visible_json, visible_line

if TYPE_CHECKING:
    from ollama_kit.errors import OllamaKitError
    from ollama_kit.jobs.runner import Progress as Batch
    from ollama_kit.records.report import Report
    from ollama_kit.server.blobs import Progress


# -- what reaches a terminal: here alone, so that nothing from outside steers it


def echo(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """A text on stdout or stderr, with what would steer a terminal written out."""
    click.echo(visible(text), err=err, nl=nl)


def styled(text: str, *, err: bool = False, nl: bool = True, **style: Any) -> None:
    """The same in a style of click's."""
    click.secho(visible(text), err=err, nl=nl, **style)


# -- results, on stdout


def print_result(value: Any, *, version: int = 1, indent: int | None = 2) -> None:
    """What a program reads: the keys of `value` (a dataclass or a mapping) after `format`, the version of these keys.

    The keys are those of `templates/schemas/<command>.schema.json`: whoever changes them there raises `version`."""
    keys = value if isinstance(value, Mapping) else vars(value)
    print_json({"format": version, **keys}, indent=indent)


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """JSON on stdout as it is, for an answer or a schema that the user described; what a program reads of ours goes
    through `print_result`. Escaped where the console cannot show every character, so that nothing is lost."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    click.echo(visible_json(json.dumps(value, ensure_ascii=not utf8, indent=indent, default=_plain)))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on stdout; columns fit their widest cell, and Chinese characters count as two."""
    from rich.cells import cell_len

    lines = [list(headings), *(list(map(visible_line, row)) for row in rows)]
    widths = [max(cell_len(line[at]) for line in lines) for at in range(len(headings))]
    for number, line in enumerate(lines):
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)]
        styled("  ".join(cells).rstrip(), bold=number == 0)


def error_as_dict(error: OllamaKitError) -> dict[str, Any]:
    """An error as a program reads it."""
    hidden = ("message", "problem")
    fields = {name: value for name, value in vars(error).items() if not name.startswith("_") and name not in hidden}
    return {"code": error.code, "message": error.message, "hint": error.hint, **fields}


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return list(value)
    return str(value)


# -- the rest, on stderr


def warn(message: str) -> None:
    """One line on stderr."""
    styled("note: ", fg="yellow", err=True, nl=False)
    echo(message, err=True)


def print_report(report: Report) -> None:
    """The report of a guarded call in a few lines on stderr."""
    counted = "not counted" if report.counted_tokens is None else f"{report.counted_tokens:,} counted by the server"
    lines = [
        f"model      {report.model} on {report.host}",
        f"context    {report.context_tokens:,} tokens, from {report.context_from}",
        f"prompt     {report.predicted_tokens:,} tokens predicted ({report.predicted_as}), {counted}",
        f"policy     {report.policy}, from {report.policy_file or 'the call itself'}",
        f"answer     {report.answer_tokens if report.answer_tokens is not None else '?'} tokens",
    ]
    if report.dropped:
        left_out = ", ".join(f"{count:,} {what}" for what, count in report.dropped.items())
        lines.append(f"left out   {left_out}")
    for attempt in report.attempts:
        reason = f": {attempt.reason}" if attempt.reason else ""
        lines.append(f"attempt {attempt.number}  {attempt.outcome} after {attempt.seconds:.1f} s{reason}")
    lines += [f"found      {found.rule} in {found.source}, {found.action}: {found.detail}" for found in report.findings]
    lines += [f"note       {note}" for note in report.notes]
    for line in lines:
        echo(line, err=True)


def attempts_of(error: OllamaKitError) -> Iterator[str]:
    """A paragraph for each attempt of a call that gave no valid answer."""
    for attempt in getattr(error, "attempts", ()):
        yield f"  attempt {attempt.number}: {attempt.outcome} after {attempt.seconds:.1f} s: {attempt.reason}"
        shown = " ".join(attempt.reply.split())
        yield f"    {shown[:160]}{'…' if len(shown) > 160 else ''}" if shown else "    (nothing)"


# -- progress: on a terminal's stderr, and nothing anywhere else


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A callback that draws one bar for each thing that is being done."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, object] = {}

        def draw(what: str, done: int, total: int) -> None:
            task = tasks.get(what)
            if task is None:
                task = tasks[what] = bars.add_task(visible_line(what), total=total or None)
            bars.update(task, completed=done, total=total or None)  # type: ignore[arg-type]

        yield draw


@contextmanager
def batch_progress(what: str) -> Iterator[Callable[[Batch], None]]:
    """A callback that draws how far a batch is: done, failed, tokens a second, and what is left."""
    if not sys.stderr.isatty():
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(what, total=None, rate="")

        def draw(progress: Batch) -> None:
            left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
            rate = f"{progress.tokens_done / progress.seconds:.0f} tokens/s" if progress.seconds > 0 else ""
            failed = f", {progress.failed} failed" if progress.failed else ""
            ended = progress.done + progress.failed
            bars.update(task, completed=ended, total=progress.total, rate=f"{rate}{left}{failed}")

        yield draw
