"""A schema of questions with its references followed: what stands behind a `$ref`, or in an `allOf`, stands where it is
used, so that whoever reads a question's schema sees `enum`, `format` and `x-verbatim` in their places.

Nodes are those of draft 2020-12, whatever dialect they were written in.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ollama_kit.jobs.contract.questions.keywords import OURS, SPOKEN, check_keywords, in_language
from ollama_kit.structured.dialect import LEGACY, dialect_of
from ollama_kit.structured.linked import (
    ANNOTATIONS,
    LISTS,
    MAPS,
    ONE,
    Linked,
    Node,
    constraints,
    link,
    merge,
    subschemas,
)

MOST_NODES = 20_000
"""Nodes in all; beyond, references stay references: ten definitions can name each other a billion times."""
_REFERENCES = ("$ref", "$dynamicRef")
_BESIDE = ANNOTATIONS | OURS | {"$defs", "definitions"}


@dataclass(frozen=True)
class Resolved:
    """The root node, and `{"$defs": …}` with what the references that are left lead to; empty where none is."""

    root: Node
    definitions: Mapping[str, Any]


def resolve(document: Mapping[str, Any], source: str, language: str) -> Resolved:
    """The document with its references followed and our texts in one language.

    A reference to what is being followed already, that of a tree, stays one, to `#/$defs/…`. `x-verbatim` holds for
    all below it that does not say otherwise. SchemaError, with `source` and the place, where a keyword of ours is
    wrong, or a reference leads out of the document."""
    dialect = dialect_of(document, source)
    kept = _with_neighbors(document) if dialect in LEGACY else document
    resolver = _Resolver(link(kept, dialect, source), source, language)
    root = resolver.expand(resolver.linked.root, frozenset(), "", verbatim=False)
    return Resolved(root, {"$defs": resolver.definitions} if resolver.definitions else {})


def changed_within(node: Mapping[str, Any], change: Callable[[str, Any], Any]) -> dict[str, Any]:
    """The node with each schema directly under it put through `change`, which is given the place below the node and
    the schema; what only looks like a schema, in an `enum` or a `default`, stays as it is."""
    out: dict[str, Any] = {}
    for keyword, value in node.items():
        if (keyword in MAPS or keyword == "$defs") and isinstance(value, Mapping):
            out[keyword] = {name: change(f"/{keyword}/{name}", inner) for name, inner in value.items()}
        elif keyword in LISTS and isinstance(value, list):
            out[keyword] = [change(f"/{keyword}/{at}", inner) for at, inner in enumerate(value)]
        else:
            out[keyword] = change(f"/{keyword}", value) if keyword in ONE else value
    return out


def without_null(node: Mapping[str, Any]) -> Node:
    """The node without the choice of null: a question that has no answer has none.

    >>> without_null({"anyOf": [{"enum": [1, 2]}, {"type": "null"}], "title": "Kind"})
    {'title': 'Kind', 'enum': [1, 2]}
    """
    out = dict(node)
    if isinstance(out.get("type"), list) and len(out["type"]) > 1:
        kinds = [kind for kind in out["type"] if kind != "null"]
        out["type"] = kinds[0] if len(kinds) == 1 else kinds
    if isinstance(out.get("enum"), list) and len(out["enum"]) > 1:
        out["enum"] = [value for value in out["enum"] if value is not None]
    for keyword in ("anyOf", "oneOf"):
        branches = out.get(keyword) or []
        choices = [branch for branch in branches if not _is_null(branch)]
        if len(choices) == 1:
            joined, apart = _both({name: value for name, value in out.items() if name != keyword}, choices[0])
            if isinstance(joined, bool) or apart:
                continue
            out = joined
        elif choices:
            out[keyword] = choices
    return out


def _is_null(branch: Any) -> bool:
    return isinstance(branch, Mapping) and constraints(dict(branch)) in (
        {"type": "null"},
        {"const": None},
        {"enum": [None]},
    )


def _both(own: Node, branch: Node) -> tuple[Node, list[Node]]:
    """(the two as one node, what has to hold besides because one node cannot say it)."""
    if isinstance(own, bool) or isinstance(branch, bool):
        return merge(own, branch)[0], []
    below = {name: value for name, value in branch.items() if name not in OURS or name not in own}
    joined, lost = merge(own, below)
    return joined, [constraints(own), constraints(below)] if lost else []


@dataclass
class _Resolver:
    """Follows the references of one document. `definitions` are what those lead to that stay references."""

    linked: Linked
    source: str
    language: str
    definitions: dict[str, Any] = field(default_factory=dict)
    _names: dict[str, str] = field(default_factory=dict)
    _nodes: int = 0

    def expand(self, node: Node, seen: frozenset[str], place: str, *, verbatim: bool) -> Node:
        """The node and all below it; `seen` are the references that led here."""
        self._nodes += 1
        joined, seen = self._joined(node, seen)
        if isinstance(joined, bool):
            return joined
        check_keywords(joined, self.source, place)
        exact = bool(joined.pop("x-verbatim", verbatim))
        dependencies = joined.pop("dependencies", {})
        required = {name: names for name, names in dependencies.items() if isinstance(names, list)}
        out = changed_within(joined, lambda below, inner: self.expand(inner, seen, place + below, verbatim=exact))
        for name in SPOKEN & out.keys():
            out[name] = in_language(out[name], self.language)
        if "$ref" in out:
            out["$ref"] = self._reference(out["$ref"])
        return {
            **out,
            **({"dependentRequired": required} if required else {}),
            **({"x-verbatim": True} if exact else {}),
        }

    def _joined(self, node: Node, seen: frozenset[str]) -> tuple[Node, frozenset[str]]:
        """The node with what its references and its `allOf` say in it, and the references that led there."""
        if isinstance(node, bool):
            return node, seen
        own: Node = {name: value for name, value in node.items() if name not in (*_REFERENCES, "allOf")}
        followed, kept = seen, []
        references: list[Node] = [{"$ref": node[name]} for name in _REFERENCES if name in node]
        for branch in (*references, *node.get("allOf", ())):
            found, led = self._followed(branch, seen)
            own, apart = _both(own, found)
            followed |= led
            kept += apart
        if kept and not isinstance(own, bool):
            own = {**own, "allOf": [*own.get("allOf", ()), *kept]}
        return own, followed

    def _followed(self, branch: Node, seen: frozenset[str]) -> tuple[Node, frozenset[str]]:
        if isinstance(branch, bool) or branch.keys() != {"$ref"}:
            return self._joined(branch, seen)
        key = branch["$ref"]
        if key in seen or self._nodes > MOST_NODES:
            return branch, seen
        return self._joined(self.linked.targets[key], seen | {key})

    def _reference(self, key: str) -> str:
        """The reference to a target; defines it the first time."""
        if key not in self._names:
            name = self._names[key] = f"r{len(self._names)}"
            self.definitions[name] = self.expand(self.linked.targets[key], frozenset({key}), "", verbatim=False)
        return f"#/$defs/{self._names[key]}"


def _with_neighbors(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """A document of an older dialect in which what is said beside a `$ref` for a reader is not lost; rules beside it
    mean nothing there."""
    copied = copy.deepcopy(dict(document))
    waiting: list[Any] = [copied]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, dict):
            continue
        waiting += [inner for _, inner in subschemas(node)]
        beside = {name: value for name, value in node.items() if name in _BESIDE}
        if isinstance(node.get("$ref"), str) and beside:
            reference = node["$ref"]
            node.clear()
            node.update(beside, allOf=[{"$ref": reference}])
    return copied
