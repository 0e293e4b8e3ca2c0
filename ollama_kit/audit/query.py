"""Which rows of the audit are wanted, as SQL with its values apart."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from ollama_kit.audit.row import utc
from ollama_kit.errors import UsageError


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
