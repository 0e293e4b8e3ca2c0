"""The values a derivation works with: what was lost, what was added, the node for anything, and the work under way."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from ollama_kit.structured.dialect import join
from ollama_kit.structured.linked import Linked, Node

Grammar = dict[str, Any] | Literal["json"]


ALL_TYPES = ("object", "array", "string", "number", "boolean", "null")
_MAX_NUMBER = 1e300


@dataclass(frozen=True)
class Loss:
    """A keyword of the schema that the grammar does not hold. It is enforced on the answer unless `why` says
    otherwise."""

    path: str
    keyword: str
    why: str


@dataclass(frozen=True)
class Addition:
    """A limit that the grammar has and the schema has not."""

    path: str
    keyword: str
    why: str


@dataclass(frozen=True)
class Limits:
    """`max_items` ends arrays that say no end; `max_length` does it for strings, where given."""

    max_items: int = 256
    max_length: int | None = None


@dataclass(frozen=True)
class Derived:
    grammar: Grammar
    lost: tuple[Loss, ...]
    added: tuple[Addition, ...]


class TooBig(Exception):
    """The derived schema outgrew what the server takes; a shallower one is tried."""


@dataclass
class Work:
    """One derivation under way: what it reads, and what it has noted so far."""

    linked: Linked
    limits: Limits
    max_depth: int
    lost: dict[Loss, None] = field(default_factory=dict)
    added: dict[Addition, None] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    opened: list[str] = field(default_factory=list)
    nodes: int = 0

    def lose(self, path: str, keyword: str, why: str) -> None:
        self.lost[Loss(path, keyword, why)] = None

    def add(self, path: str, keyword: str, why: str) -> None:
        self.added[Addition(path, keyword, why)] = None


def anything() -> dict[str, Any]:
    """A node for any value. `{}` would not do: the server reads it as any object."""
    return {"type": list(ALL_TYPES)}


def is_anything(node: Node) -> bool:
    return node is True or node == anything()


def child(path: str, *parts: str) -> str:
    return path + join(parts)


def is_sendable(value: Any) -> bool:
    """Whether the server reads a literal as intended: plain texts, no number beyond a double, no `$ref`."""
    if isinstance(value, str):
        return is_text(value)
    if isinstance(value, dict):
        return "$ref" not in value and all(is_text(key) and is_sendable(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(is_sendable, value))
    return value is None or abs(value) < _MAX_NUMBER


def is_text(text: str) -> bool:
    """Whether the server writes a literal text as it is.

    0.9.3 forgets to escape the backslashes of JSON in its grammar: a quote or a backslash gives a broken grammar, a
    line break a broken answer. Lone surrogates do not reach it.
    """
    return not any(char < " " or char in '"\\' or "\ud800" <= char <= "\udfff" for char in text)
