"""The audit's file: rows go in one by one, and come out by a filter.

The rule for failures is closed: a call whose row cannot be written ends in AuditError, and its answer is not given.
What can be known before (no such folder, no write access, a newer file) is said when the log is opened.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from ollama_kit.audit.row import AuditRow, row_of, utc
from ollama_kit.audit.storage import (
    Limits,
    delete_oldest,
    give_pages_back,
    open_for_reading,
    open_for_writing,
    transaction,
    translated,
)
from ollama_kit.errors import AuditError, UsageError

if TYPE_CHECKING:
    from types import TracebackType

    from ollama_kit.guard.exchange import Event

BUSY_S = 30.0  # how long to wait for other writers, each of which takes milliseconds
PAGE = 500  # rows read at a time, so that a slow reader never holds up the writers' log

COLUMNS = (
    *("time", "model", "digest", "host", "policy", "input_sha256", "output_sha256"),
    *("predicted_tokens", "counted_tokens", "answer_tokens", "findings", "attempts", "seconds", "verdict"),
    *("input", "output"),
)
_INSERT = f"INSERT INTO calls ({', '.join(COLUMNS)}, size_bytes) VALUES ({', '.join('?' * (len(COLUMNS) + 1))})"

RESPELLED = {
    "neutralised": "neutralized",
    "normalise": "normalize",
    "colours": "colors",
    **{f"labelled_{what}": f"labeled_{what}" for what in ("name", "password", "secret")},
}
"""Names of stages, rules and actions that earlier versions stored in British spelling, and those of today."""

_inherited: list[sqlite3.Connection] = []
"""Connections that a fork brought along: never used here, nor closed, since that would drop the parent's locks."""


@dataclass(frozen=True)
class Wanted:
    """Which rows: from `since` to before `until` (UTC, as in a row), of a model (`m` means `m:latest` too), of a
    verdict (`server` means `server.refused` too); of these the newest `limit`. Empty or None: all."""

    since: str = ""
    until: str = ""
    model: str = ""
    verdict: str = ""
    limit: int | None = None

    def where(self) -> tuple[str, tuple[str | int, ...]]:
        """The condition, and the values of its question marks."""
        conditions: list[str] = ["1"]
        values: list[str | int] = []
        for condition, value in (("time >= ?", self.since), ("time < ?", self.until)):
            if value:
                conditions.append(condition)
                values.append(value)
        for column, value, joint in (("model", self.model, ":"), ("verdict", self.verdict, ".")):
            if value:
                conditions.append(f"({column} = ? OR substr({column}, 1, ?) = ?)")
                values += [value, len(value) + 1, value + joint]
        return " AND ".join(conditions), tuple(values)


def _now() -> datetime:
    return datetime.now(timezone.utc)


class AuditLog:
    """One audit file. Threads may share it, and processes may each open it; a process that forks may continue to use it
    on both sides. Without `texts` no word of a text is written, whatever a row holds. Rows older than `max_age_days`
    go, and the oldest ones beyond `max_bytes` (the log beside the file, a few megabytes, comes on top).
    """

    def __init__(
        self,
        path: Path | str,
        texts: bool = False,
        max_age_days: float = 365.0,
        max_bytes: int = 512 * 1024 * 1024,
        *,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self.path, self.texts = Path(path).expanduser().absolute(), texts
        self._limits, self._clock = Limits(max_age_days, max_bytes), clock
        self._connection: sqlite3.Connection | None = None
        self._open()

    def record(self, row: AuditRow) -> int:
        """Writes a row and returns its id. When this returns, the row is on disk; AuditError where it is not."""
        if os.getpid() != self._process:
            self._open()
        kept = row if self.texts else row.without_texts()
        values = _values(kept)
        oldest = utc(self._clock() - timedelta(days=self._limits.max_age_days))
        with self._lock, translated(self.path):
            connection = self._there()
            with transaction(connection):
                newest = int(connection.execute(_INSERT, values).lastrowid or 0)
                delete_oldest(connection, newest, oldest, self._limits.max_bytes)
            try:
                give_pages_back(connection)
            except sqlite3.OperationalError:  # others were busy for too long: the next call will do it
                pass
        return newest

    def hear(self, event: Event) -> None:
        """Writes a row for a call that has ended; a hook for a client."""
        from ollama_kit.guard.exchange import Finished

        if isinstance(event, Finished):
            self.record(row_of(event, texts=self.texts, at=self._clock()))

    def rows(self, wanted: Wanted | None = None) -> Iterator[AuditRow]:
        """The rows that are wanted, oldest first."""
        return read_rows(self.path, wanted)

    def close(self) -> None:
        """Closes the file. A row that comes afterwards is an AuditError."""
        if os.getpid() == self._process:
            with self._lock:
                if self._connection is not None:
                    self._connection.close()
                    self._connection = None

    def __enter__(self) -> AuditLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _open(self) -> None:
        """Opens the file for this process. SQLite's connections do not survive a fork, nor does a lock that another
        thread held."""
        if self._connection is not None:
            _inherited.append(self._connection)
        self._lock, self._process = Lock(), os.getpid()
        self._connection = open_for_writing(self.path, BUSY_S)

    def _there(self) -> sqlite3.Connection:
        if self._connection is None:
            raise AuditError("the audit is closed", path=self.path)
        return self._connection


def read_rows(path: Path | str, wanted: Wanted | None = None) -> Iterator[AuditRow]:
    """The rows of an audit file that are wanted, oldest first; AuditError where it cannot be read. Rows that are
    written or deleted meanwhile may be among them or not; none comes twice."""
    wanted, whole = wanted or Wanted(), Path(path).expanduser().absolute()
    connection = open_for_reading(whole, BUSY_S)
    try:
        condition, values = wanted.where()
        with translated(whole):
            first = _first(connection, wanted, condition, values)
        query = f"SELECT id, {', '.join(COLUMNS)} FROM calls WHERE id >= ? AND {condition} ORDER BY id LIMIT {PAGE}"
        while first is not None:
            with translated(whole):
                page = connection.execute(query, (first, *values)).fetchall()
            yield from map(_row, page)
            first = page[-1][0] + 1 if len(page) == PAGE else None
    finally:
        connection.close()


def _first(connection: sqlite3.Connection, wanted: Wanted, condition: str, values: tuple[str | int, ...]) -> int | None:
    """The id of the oldest row wanted, None if there is none."""
    newest = f"SELECT id FROM calls WHERE {condition} ORDER BY id DESC LIMIT ?"
    most = -1 if wanted.limit is None else wanted.limit
    found: int | None = connection.execute(f"SELECT min(id) FROM ({newest})", (*values, most)).fetchone()[0]
    return found


def _values(row: AuditRow) -> tuple[Any, ...]:
    """The row as SQLite keeps it, with its size in bytes as the last value."""
    values = [getattr(row, name) for name in COLUMNS]
    for at, name in enumerate(COLUMNS):
        if name in ("findings", "attempts"):
            values[at] = json.dumps(values[at], ensure_ascii=False, separators=(",", ":"))
    return (*values, sum(len(value.encode()) if isinstance(value, str) else 8 for value in values))


def _row(values: tuple[Any, ...]) -> AuditRow:
    named = dict(zip(("id", *COLUMNS), values, strict=True))
    findings = tuple(_as_spelled_now(finding) for finding in json.loads(named["findings"]))
    return AuditRow(**{**named, "findings": findings, "attempts": tuple(json.loads(named["attempts"]))})


def _as_spelled_now(finding: dict[str, Any]) -> dict[str, Any]:
    """A finding as it was stored, under the names of this version, so that an export has one name for one kind.

    >>> _as_spelled_now({"stage": "markup", "action": "neutralised", "count": 2})
    {'stage': 'markup', 'action': 'neutralized', 'count': 2}
    """
    return {
        name: RESPELLED.get(value, value) if name in ("stage", "rule", "action") else value
        for name, value in finding.items()
    }


def moment(text: str, *, end: bool = False) -> str:
    """A date or a time that somebody typed, as rows have it: local time unless it says otherwise. A bare date is its
    beginning, with `end` the beginning of the next day. UsageError where it is neither."""
    try:
        read = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)
    except ValueError as problem:
        raise UsageError(f"{text!r} is not a date or a time: expected 2026-01-31 or 2026-01-31T08:05") from problem
    if end and len(text) == len("2026-01-31"):
        read += timedelta(days=1)
    try:
        return utc(read)
    except (OverflowError, OSError, ValueError) as problem:
        raise UsageError(f"{text!r} is out of range") from problem
