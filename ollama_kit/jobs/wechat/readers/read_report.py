"""What reading a file found out about the file itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BrokenRow:
    """A row that was left out: where it is (counted in the report's `unit`) and why."""

    line: int
    reason: str


@dataclass(frozen=True)
class ReadReport:
    """One file, read to its end.

    format     the name of the format recognized, `chatlog-json`
    encoding   what the bytes were read as; empty for a database
    unit       what `line` counts: "line" of the file, or "item" of its list or table
    messages   how many were read
    broken     the rows that were left out, at most as many as the limit
    limit      how many may be broken before the file is refused
    warnings   what is worth knowing: times without a year, names that are missing, nothing but a header
    """

    path: str
    format: str
    encoding: str
    unit: str
    messages: int
    broken: tuple[BrokenRow, ...]
    limit: int
    warnings: tuple[str, ...]

    def summary(self) -> str:
        """One line for a person.

        >>> broken = (BrokenRow(7, "no time"),)
        >>> ReadReport("a.csv", "memotrace-v2-csv", "utf-8", "line", 49, broken, 100, ()).summary()
        'a.csv: memotrace-v2-csv, utf-8, 49 messages, 1 broken of at most 100 (line 7)'
        """
        parts = [self.format, *([self.encoding] if self.encoding else []), f"{self.messages} messages"]
        if self.broken:
            shown = ", ".join(str(row.line) for row in self.broken[:5]) + (" …" if len(self.broken) > 5 else "")
            parts.append(f"{len(self.broken)} broken of at most {self.limit} ({self.unit} {shown})")
        return f"{self.path}: {', '.join(parts)}"
