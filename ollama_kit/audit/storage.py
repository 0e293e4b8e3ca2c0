"""The audit's SQLite file: created if absent, refused if it is not ours or newer than we know, kept within its limits.

The oldest rows go, the newest never does. Work per call is bounded: at most `ROWS_PER_CALL` rows go for each of the two
reasons, age and size, so that a limit that was lowered is reached over some calls. The pages they leave are used again;
where more than `SPARE_PAGES` are free, at most `PAGES_PER_CALL` per call go back to the disk. The file is never
rewritten as a whole (VACUUM).
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ollama_kit.errors import AuditError
from ollama_kit.text.private_files import create_private, make_own_folder

SCHEMA_VERSION = 1  # SQLite's user_version
APPLICATION_ID = 0x6F6B6175  # "okau": tells our file from another program's

_SCHEMA = (
    # AUTOINCREMENT: the id of a row that rotation took is never given again, so that a gap can be seen.
    """CREATE TABLE calls (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        time TEXT NOT NULL, model TEXT NOT NULL, digest TEXT NOT NULL, host TEXT NOT NULL, policy TEXT NOT NULL,
        input_sha256 TEXT NOT NULL, output_sha256 TEXT NOT NULL,
        predicted_tokens INTEGER, counted_tokens INTEGER, answer_tokens INTEGER,
        findings TEXT NOT NULL, attempts TEXT NOT NULL,
        seconds REAL NOT NULL, verdict TEXT NOT NULL,
        input TEXT, output TEXT,
        size_bytes INTEGER NOT NULL
    )""",
    "CREATE INDEX calls_by_time ON calls (time)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {SCHEMA_VERSION}",
)

ROWS_PER_CALL = 1000
SPARE_PAGES = 64
PAGES_PER_CALL = 256


def open_for_writing(path: Path, timeout_s: float) -> sqlite3.Connection:
    """A connection to the file at `path`, made where there is none, readable by its owner only. Threads may share it
    if they take turns. AuditError where it cannot be used."""
    with translated(path):
        make_own_folder(path.parent)
        create_private(path)
        connection = _connect(path, timeout_s)
        try:
            if _is_empty(connection):
                _create(connection)
            check_ours(connection, path)
            _turn_on_wal(connection, path, timeout_s)
            connection.execute("PRAGMA synchronous = FULL")  # a finished call survives a power cut too
        except BaseException:
            connection.close()
            raise
        return connection


def open_for_reading(path: Path, timeout_s: float) -> sqlite3.Connection:
    """A connection to the file at `path` for reading; AuditError where there is none, or it cannot be read."""
    if not path.is_file():
        raise AuditError("there is no audit file", path=path)
    with translated(path):
        connection = _connect(path, timeout_s)
        try:
            check_ours(connection, path)
            connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Whatever SQLite or the file system says comes out as an AuditError that names the file."""
    try:
        yield
    except sqlite3.Error as problem:
        raise AuditError(f"the audit cannot be used: {problem}", path=path) from problem
    except OSError as problem:
        raise AuditError(f"the audit cannot be opened: {problem.strerror or problem}", path=path) from problem


def check_ours(connection: sqlite3.Connection, path: Path) -> None:
    """Returns if the file is an audit that this version can read; AuditError otherwise."""
    if pragma(connection, "application_id") != APPLICATION_ID:
        raise AuditError("is another program's database, not an audit", path=path)
    version = pragma(connection, "user_version")
    if version > SCHEMA_VERSION:
        raise AuditError(
            f"was written by a newer ollama-kit: its schema is {version}, and this one knows {SCHEMA_VERSION}",
            path=path,
            hint=(
                "Upgrade ollama-kit, or name another file with `audit` in ollama-kit.yaml.",
                "请升级 ollama-kit，或在 ollama-kit.yaml 的 `audit` 中指定另一个文件。",
            ),
        )


def pragma(connection: sqlite3.Connection, name: str) -> int:
    """The value of a pragma that is a number."""
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _connect(path: Path, timeout_s: float) -> sqlite3.Connection:
    # Transactions are ours to begin, and several threads use one connection in turns.
    return sqlite3.connect(path, timeout=timeout_s, isolation_level=None, check_same_thread=False)


def _is_empty(connection: sqlite3.Connection) -> bool:
    return int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]) == 0


def _create(connection: sqlite3.Connection) -> None:
    """Makes the table, unless another process has just done so."""
    # Before the first table, and before WAL: afterwards it would take a VACUUM of the whole file.
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    with transaction(connection):
        if _is_empty(connection):
            for statement in _SCHEMA:
                connection.execute(statement)


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; waits for other writers first, so that nothing is refused half-way."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _turn_on_wal(connection: sqlite3.Connection, path: Path, timeout_s: float) -> None:
    """Switches to write-ahead logging. SQLite does not wait for others here as it does elsewhere, so we do."""
    until = time.monotonic() + timeout_s
    while True:
        try:
            mode = connection.execute("PRAGMA journal_mode = WAL").fetchone()[0]
            break
        except sqlite3.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
    if mode != "wal":
        raise AuditError(
            f"cannot keep a write-ahead log here (SQLite says {mode!r})",
            path=path,
            hint=("Put the audit on a local disk.", "请把审计文件放在本地磁盘上。"),
        )


@dataclass(frozen=True)
class Limits:
    """`max_age_days` of a row, and `max_bytes` of all pages that hold something."""

    max_age_days: float
    max_bytes: int


def delete_oldest(connection: sqlite3.Connection, newest: int, oldest_time: str, max_bytes: int) -> None:
    """Deletes rows from before `oldest_time`, then the oldest until the used pages are within `max_bytes`; never the
    row `newest`. To be called inside a transaction."""
    connection.execute(
        "DELETE FROM calls WHERE id IN (SELECT id FROM calls WHERE time < ? AND id <> ? ORDER BY time LIMIT ?)",
        (oldest_time, newest, ROWS_PER_CALL),
    )
    left = ROWS_PER_CALL
    while left > 0 and (excess := used_bytes(connection) - max_bytes) > 0:
        doomed = _oldest(connection, newest, excess, left)
        if not doomed:
            return
        connection.execute("DELETE FROM calls WHERE id <= ? AND id <> ?", (doomed[-1], newest))
        left -= len(doomed)


def give_pages_back(connection: sqlite3.Connection) -> None:
    """Shortens the file where many of its pages are free. Outside a transaction; other writers go first."""
    free = pragma(connection, "freelist_count")
    if free > SPARE_PAGES:
        # SQLite moves one page a step, and `execute` takes one step where there are no columns.
        connection.executescript(f"PRAGMA incremental_vacuum({min(free - SPARE_PAGES, PAGES_PER_CALL)})")


def used_bytes(connection: sqlite3.Connection) -> int:
    """The bytes of the pages that hold something."""
    pages = pragma(connection, "page_count") - pragma(connection, "freelist_count")
    return pages * pragma(connection, "page_size")


def _oldest(connection: sqlite3.Connection, newest: int, excess: int, most: int) -> list[int]:
    """The ids of the oldest rows, as few as hold `excess` bytes. What SQLite adds to a row is not counted, and a page
    goes only when its last row does: so this is asked again until it is enough."""
    doomed: list[int] = []
    rows = connection.execute("SELECT id, size_bytes FROM calls WHERE id <> ? ORDER BY id LIMIT ?", (newest, most))
    for row, size in rows:
        doomed.append(row)
        excess -= size
        if excess <= 0:
            break
    rows.close()
    return doomed
