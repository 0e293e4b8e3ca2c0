"""The labeled lines of tests/data/private: texts in which nothing is real, and what is to be found in each.

A line is `{"text": …, "finds": [[kind, start, end], …]}`. A broken bar stands inside each key, so that the tools that
watch over what is pushed do not take it for a real one; it is taken out here, and offsets count without it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "data" / "private"
BROKEN = "¦"


@dataclass(frozen=True)
class Line:
    """One labeled text: `finds` are (kind, start, end), in order."""

    language: str
    text: str
    finds: tuple[tuple[str, int, int], ...]

    @property
    def covered(self) -> frozenset[int]:
        """Offsets of every character that belongs to a find."""
        return frozenset(at for _, start, end in self.finds for at in range(start, end))


def lines() -> tuple[Line, ...]:
    """Every line of the corpus."""
    return tuple(
        Line(
            path.stem,
            read["text"].replace(BROKEN, ""),
            tuple((kind, start, end) for kind, start, end in read["finds"]),
        )
        for path in sorted(FOLDER.glob("*.jsonl"))
        for read in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    )
