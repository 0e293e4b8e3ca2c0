"""Rows of the audit as lines of text: JSON lines, or CSV for a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any, Literal

from ollama_kit.audit.row import AuditRow

Form = Literal["jsonl", "csv"]
FORMAT = 1
"""The version of the keys of a JSON line: templates/schemas/audit_call.schema.json."""


def lines(rows: Iterable[AuditRow], form: Form) -> Iterator[str]:
    """Each row as text, without its line end; of CSV the headings first."""
    return json_lines(rows) if form == "jsonl" else csv_lines(rows)


def json_lines(rows: Iterable[AuditRow]) -> Iterator[str]:
    """A JSON object per row, not escaped; `format` is the version of its keys."""
    for row in rows:
        yield json.dumps({"format": FORMAT, **row.as_dict()}, ensure_ascii=False)


def csv_lines(rows: Iterable[AuditRow]) -> Iterator[str]:
    """CSV (RFC 4180) with headings; findings and attempts as JSON in one cell. A text that a spreadsheet would take
    for a formula has an apostrophe before it."""
    names = [item.name for item in fields(AuditRow)]
    yield _line(names)
    for row in rows:
        yield _line([_cell(getattr(row, name)) for name in names])


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, tuple):
        return json.dumps(value, ensure_ascii=False)
    return f"'{value}" if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")) else value


def _line(cells: list[Any]) -> str:
    written = io.StringIO()
    csv.writer(written, lineterminator="").writerow(cells)
    return written.getvalue()
