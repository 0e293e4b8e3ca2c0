"""What commands print: results on stdout, the rest on stderr, the same for a person, a pipe and a narrow console."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, is_dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ollama_kit.errors import OllamaKitError
    from ollama_kit.records.report import Report


def print_json(value: Any, *, indent: int | None = 2) -> None:
    """JSON on stdout; escaped where the console cannot show every character, so that nothing is lost."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "").startswith("utf")
    click.echo(json.dumps(value, ensure_ascii=not utf8, indent=indent, default=_plain))


def print_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on stdout; columns fit their widest cell, and Chinese characters count as two."""
    from rich.cells import cell_len

    lines = [list(headings), *(list(row) for row in rows)]
    widths = [max(cell_len(line[at]) for line in lines) for at in range(len(headings))]
    for number, line in enumerate(lines):
        cells = [cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)]
        click.secho("  ".join(cells).rstrip(), bold=number == 0)


def warn(message: str) -> None:
    """One line on stderr."""
    click.secho("note: ", fg="yellow", err=True, nl=False)
    click.echo(message, err=True)


def print_report(report: Report) -> None:
    """The report of a guarded call in a few lines on stderr."""
    counted = "not counted" if report.counted_tokens is None else f"{report.counted_tokens:,} counted by the server"
    lines = [
        f"model      {report.model} on {report.host}",
        f"context    {report.context_tokens:,} tokens, from {report.context_from}",
        f"prompt     {report.predicted_tokens:,} tokens predicted ({report.predicted_as}), {counted}",
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
        click.echo(line, err=True)


def attempts_of(error: OllamaKitError) -> Iterator[str]:
    """A paragraph for each attempt of a call that gave no valid answer."""
    for attempt in getattr(error, "attempts", ()):
        yield f"  attempt {attempt.number}: {attempt.outcome} after {attempt.seconds:.1f} s: {attempt.reason}"
        shown = " ".join(attempt.reply.split())
        yield f"    {shown[:160]}{'…' if len(shown) > 160 else ''}" if shown else "    (nothing)"


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
