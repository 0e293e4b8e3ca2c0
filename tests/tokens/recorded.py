"""Recorded prompts: what a real Ollama 0.32.15 made of the cases of tests/data/wire, and how many tokens it counted.

The prompts of its built-in renderers hold other people's sentences and are not in the repository: a test that reads
them is skipped where OLLAMA_KIT_WIRE_RENDERERS (or tests/data/wire/0.32.15) holds no `rendered_renderers.jsonl`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ollama_kit.tokens.chat_template import ToolCall, Turn

WIRE = Path(__file__).parent.parent / "data" / "wire"
RECORDED = WIRE / "0.32.15"
RENDERERS = Path(os.environ.get("OLLAMA_KIT_WIRE_RENDERERS", ""), "rendered_renderers.jsonl")


@dataclass(frozen=True)
class Row:
    """One recorded case: how it was sent, and the prompt with its count, or the error."""

    template: str
    case: str
    think: bool | str | None
    tools: bool
    rendered: str | None = None
    counted: int = 0
    error: str = ""

    @property
    def name(self) -> str:
        return f"{self.template}-{self.case}-{self.think}{'-tools' if self.tools else ''}"

    @property
    def lacks_tools(self) -> bool:
        """Whether the server refused it because the model cannot use tools."""
        return "does not support tools" in self.error


@cache
def cases() -> dict[str, Any]:
    """`cases.json`: the conversations, the tools, BOS and EOS."""
    return dict(json.loads((RECORDED / "cases.json").read_text(encoding="utf-8")))


def turns(case: str) -> tuple[Turn, ...]:
    """A case's messages."""
    return tuple(map(_turn, cases()["cases"][case]))


def _turn(message: dict[str, Any]) -> Turn:
    calls = (call["function"] for call in message.get("tool_calls", ()))
    named = tuple(ToolCall(call["name"], call["arguments"]) for call in calls)
    return Turn(message["role"], message["content"], message.get("thinking", ""), named, message.get("tool_name", ""))


def template(name: str) -> str:
    """One of the five templates."""
    return (WIRE / "jinja" / f"{name}.jinja").read_text(encoding="utf-8")


TEMPLATES = tuple(sorted(path.stem for path in (WIRE / "jinja").glob("*.jinja")))


@cache
def jinja_rows() -> tuple[Row, ...]:
    """What was made of the cases with the five templates."""
    return _rows(RECORDED / "rendered_jinja.jsonl")


@cache
def renderer_rows() -> tuple[Row, ...]:
    """What the built-in renderers made of the cases; empty where the file is not at hand."""
    places: Sequence[Path] = (RENDERERS, RECORDED / RENDERERS.name)
    return next((_rows(place) for place in places if place.is_file()), ())


@cache
def capabilities(name: str) -> frozenset[str]:
    """What `/api/show` listed for the model with that template or renderer."""
    for path in (RECORDED / "rendered_jinja.jsonl", RENDERERS, RECORDED / RENDERERS.name):
        for line in path.read_text(encoding="utf-8").splitlines() if path.is_file() else ():
            row = json.loads(line)
            if row["template"] == name and row["case"] == "show":
                return frozenset(row["capabilities"])
    raise LookupError(name)


def _rows(path: Path) -> tuple[Row, ...]:
    read = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return tuple(
        Row(
            row["template"], row["case"], row["think"], row["tools"],
            row.get("rendered"), row.get("counted", 0), row.get("error", ""),
        )
        for row in read
        if row["case"] != "show"
    )  # fmt: skip
