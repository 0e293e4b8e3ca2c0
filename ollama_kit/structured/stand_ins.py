"""Lets a grammar take the placeholder of a hidden value wherever the value itself would have to fit.

A model that sees `[PHONE_1]` cannot write the eleven digits that `^1[0-9]{10}$` asks for: held to them, it would have
to invent a number. So each string of the grammar with a pattern, a format or a list of words takes a placeholder as
well, and lengths get room for some. What it stands for is checked against the whole schema, once it is back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ollama_kit.structured.derivation import Grammar
from ollama_kit.structured.grammar_subset import fits_the_server
from ollama_kit.structured.scalars import safe_pattern

MOST_TRIED = 40
"""Values of one kind that are tried against a pattern."""
MOST_NUMBERED = 6
"""Digits of a placeholder's number."""
ROOM = 32
"""Characters by which a text with placeholders may be longer than with what they stand for."""


def admit_stand_ins(grammar: Grammar, values: Mapping[str, str]) -> Grammar:
    """The grammar with `values`, placeholder → what it stands for, allowed where the latter would have to fit. As it
    is where there are none, and where the server would not take the larger one.

    >>> admit_stand_ins({"type": "string", "pattern": "^1[0-9]{10}$"}, {"[PHONE_1]": "13800138000"})["anyOf"][1]
    {'type': 'string', 'pattern': '^[\\\\x5B]PHONE_[0-9]{1,6}[\\\\x5D]$'}
    """
    if not values or not isinstance(grammar, dict):
        return grammar
    admitted = _StandIns(values).admit(grammar)
    return admitted if fits_the_server(admitted) else grammar


class _StandIns:
    """The placeholders of one call, by kind."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.kinds: dict[str, list[str]] = {}
        for placeholder, value in values.items():
            self.kinds.setdefault(placeholder[1:].rpartition("_")[0], []).append(value)

    def admit(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.admit(item) for item in node]
        if not isinstance(node, dict):
            return node
        if "enum" in node or "const" in node:
            return self._listed(node)
        if node.get("type") == "string":
            return self._string(node)
        containers = ("properties", "$defs")
        return {
            key: {name: self.admit(inner) for name, inner in value.items()} if key in containers else self.admit(value)
            for key, value in node.items()
        }

    def _string(self, node: dict[str, Any]) -> dict[str, Any]:
        if "pattern" in node or "format" in node:
            return {"anyOf": [node, self._pattern(self._fitting(node.get("pattern")))]}
        sized = dict(node)
        if "maxLength" in sized:
            sized["maxLength"] += ROOM
        if "minLength" in sized:
            sized["minLength"] = min(sized["minLength"], min(map(len, self.values)))
        return sized

    def _listed(self, node: dict[str, Any]) -> dict[str, Any]:
        """Among words the placeholders of those that are hidden; a literal by itself becomes a list."""
        words = node["enum"] if "enum" in node else [node["const"]]
        also = [placeholder for placeholder, value in self.values.items() if value in words]
        rest = {key: value for key, value in node.items() if key not in ("enum", "const")}
        return {**rest, "enum": [*words, *also]} if also else node

    def _fitting(self, pattern: str | None) -> Iterable[str]:
        """The kinds that have a value which the pattern takes; all where none has, since nothing else can be said."""
        if pattern is None:
            return self.kinds
        try:
            compiled = re.compile(pattern)
        except re.error:
            return self.kinds
        fitting = [kind for kind, some in self.kinds.items() if any(map(compiled.search, some[:MOST_TRIED]))]
        return fitting or self.kinds

    def _pattern(self, kinds: Iterable[str]) -> dict[str, Any]:
        names = sorted(kinds)
        named = names[0] if len(names) == 1 else f"({'|'.join(names)})"
        return {"type": "string", "pattern": safe_pattern(rf"^\[{named}_[0-9]{{1,{MOST_NUMBERED}}}\]$").text}
