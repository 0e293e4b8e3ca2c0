"""`audit`: the recorded calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from ollama_kit.cli.output import echo
from ollama_kit.cli.shared_options import json_option

if TYPE_CHECKING:
    from ollama_kit.audit.log import Wanted
    from ollama_kit.audit.row import AuditRow

SHOWN = 20  # rows of a table, unless --limit says otherwise
_HEADINGS = ("time", "model", "verdict", "tries", "prompt", "answer", "seconds", "found")


@click.command("audit")
@click.option("--since", metavar="DATE", help="Start of the time range: a date or time (local, unless it has a zone).")
@click.option("--until", metavar="DATE", help="End of the time range: a date (inclusive) or a time.")
@click.option("--model", default="", metavar="NAME", help="Only calls of this model.")
@click.option("--verdict", default="", metavar="CODE", help="valid, length, abandoned, or an error code.")
@click.option("--limit", type=click.IntRange(1), help=f"Only the newest N (default for a table: {SHOWN}).")
@click.option("--export", type=click.Choice(("jsonl", "csv")), help="Output format for full rows.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Write the export to this file.")
@click.option("--path", type=click.Path(path_type=Path, dir_okay=False), help="The audit file (default: the one set).")
@json_option
def audit_command(  # one parameter an option
    since: str | None,
    until: str | None,
    model: str,
    verdict: str,
    limit: int | None,
    export: Literal["jsonl", "csv"] | None,
    out: Path | None,
    path: Path | None,
    as_json: bool,
) -> None:
    """List the recorded calls: filter them, or export them as JSON lines or CSV. Calls are recorded where the setting
    `audit` is on; the oldest come first."""
    from ollama_kit.audit.log import Wanted, moment
    from ollama_kit.audit.row import FORMAT, lines
    from ollama_kit.cli.output import print_result, print_table
    from ollama_kit.errors import UsageError

    if out is not None and export is None:
        raise UsageError("--out needs --export")
    whole = limit or (None if export or as_json else SHOWN)
    since, until = moment(since) if since else "", moment(until, end=True) if until else ""
    rows = _rows(path, Wanted(since, until, model, verdict, whole))
    if out is not None and export is not None:
        _write(out, lines(rows, export), bom=export == "csv")
    elif export == "jsonl":
        for row in rows:
            print_result(row.as_dict(), version=FORMAT, indent=None)
    elif export:
        for line in lines(rows, export):
            echo(line)
    elif as_json:
        print_result({"calls": [row.as_dict() for row in rows]})
    else:
        print_table(_HEADINGS, map(_cells, rows))


def _rows(path: Path | None, wanted: Wanted) -> Iterator[AuditRow]:
    """The rows; where the audit was never turned on there are none, and a note says so."""
    from ollama_kit.audit.location import audit_path, default_path
    from ollama_kit.audit.log import read_rows
    from ollama_kit.cli.output import warn
    from ollama_kit.errors import in_users_language
    from ollama_kit.settings import load_settings

    file = path or audit_path(load_settings())
    if file is None:
        off = (
            "the audit is off; `audit: on` in ollama-kit.yaml turns it on",
            "审计未开启；在 ollama-kit.yaml 中设置 `audit: on` 即可开启",
        )
        warn(in_users_language(off))
        file = default_path()
    if path is None and not file.is_file():
        return iter(())
    return read_rows(file, wanted)


def _cells(row: AuditRow) -> tuple[str, ...]:
    from datetime import datetime

    local = datetime.fromisoformat(row.time[:-1] + "+00:00").astimezone()
    prompt = row.counted_tokens if row.counted_tokens is not None else row.predicted_tokens
    tokens = ["" if count is None else f"{count:,}" for count in (prompt, row.answer_tokens)]
    found = ", ".join(f"{item['stage']}/{item['rule']} ×{item['count']}" for item in row.findings)
    return (
        local.strftime("%Y-%m-%d %H:%M:%S"),
        row.model,
        row.verdict,
        str(len(row.attempts)),
        *tokens,
        f"{row.seconds:.1f}",
        found,
    )


def _write(path: Path, lines: Iterator[str], *, bom: bool) -> None:
    """Writes beside, then renames. A CSV gets a byte order mark: without it Excel reads the local code page."""
    from ollama_kit.errors import UsageError
    from ollama_kit.text.private_files import replacing

    try:
        with replacing(path) as file:
            file.write(b"\xef\xbb\xbf" if bom else b"")
            for line in lines:
                file.write(f"{line}\n".encode())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error
