"""The lines these tests read: vectors written for them, and the labeled lines of tests/data/injection."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "data" / "injection" / "lines.jsonl"
PARAPHRASES = DATA.with_name("paraphrases.jsonl")


@dataclass(frozen=True)
class Line:
    """`family` is what an attack does, or "" for a harmless line."""

    family: str
    text: str


@dataclass(frozen=True)
class Labeled:
    """One labeled line of the data."""

    id: str
    text: str
    attack: bool
    language: str


def attacks() -> list[Line]:
    return [Line(family, _plain(text)) for family, text in (line.split("\t", 1) for line in _lines("attacks.txt"))]


def harmless() -> list[Line]:
    return [Line("", _plain(line)) for line in _lines("benign.txt")]


def labeled(path: Path = DATA) -> list[Labeled]:
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return [Labeled(row["id"], row["text"], row["label"] == "attack", row["lang"]) for row in rows]


def _lines(name: str) -> list[str]:
    text = (HERE / "vectors" / name).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _plain(text: str) -> str:
    r"""`\n` and `\u200b` mean the character; `\\u` is a backslash and a u."""
    return text.replace("\\\\u", "\0").replace("\\n", "\n").replace("\\u200b", "\u200b").replace("\0", "\\u")
