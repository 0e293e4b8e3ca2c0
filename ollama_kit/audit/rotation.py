"""Keeps the audit within its age and size: the oldest rows go, the newest never does.

Work per call is bounded. At most `ROWS_A_CALL` rows go for each of the two reasons, so that a limit that was lowered
is reached over some calls. The pages they leave are used again; where more than `SPARE_PAGES` are free, at most
`PAGES_A_CALL` a call go back to the disk. The file is never rewritten as a whole (VACUUM).
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from ollama_kit.audit.database import pragma

ROWS_A_CALL = 1000
SPARE_PAGES = 64
PAGES_A_CALL = 256


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
        (oldest_time, newest, ROWS_A_CALL),
    )
    left = ROWS_A_CALL
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
        connection.executescript(f"PRAGMA incremental_vacuum({min(free - SPARE_PAGES, PAGES_A_CALL)})")


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
