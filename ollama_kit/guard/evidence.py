"""Quotes that must stand in the documents: a property marked `x-evidence` holds words of its source, or the answer is
not taken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ollama_kit.guard.conversation import Document
from ollama_kit.records.report import Evidence
from ollama_kit.structured.dialect import join
from ollama_kit.structured.schema import Schema
from ollama_kit.structured.validation import Problem
from ollama_kit.text.locate import FoldedText

KEYWORD = "x-evidence"
MOST_JUMPS = 64  # a reference to itself ends here


class Sources:
    """The documents of a call, folded once, when the first quote is sought."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._folded: list[FoldedText] | None = None

    def locate(self, path: str, quote: str) -> Evidence:
        """Where a quote stands first, after folding white space and width; an empty one stands nowhere."""
        if self._folded is None:
            self._folded = [FoldedText.of(document.text) for document in self._documents]
        for at, folded in enumerate(self._folded):
            span = folded.find(quote)
            if span is not None:
                return Evidence(path, quote, at, span)
        return Evidence(path, quote)


def locate_evidence(schema: Schema, value: Any, sources: Sources) -> tuple[Evidence, ...]:
    """Every quote that the schema asks for in a valid answer, located."""
    found = dict(_Quotes(schema).of(schema.document, value, "", 0))
    return tuple(sources.locate(path, quote) for path, quote in found.items())


def missing_evidence(evidence: Sequence[Evidence]) -> tuple[Problem, ...]:
    """The quotes that stand nowhere, as problems that a model can be told of."""
    return tuple(
        Problem(found.path, "a quote copied word for word from the documents", repr(found.quote[:120]), KEYWORD)
        for found in evidence
        if not found.found
    )


def asks_for_evidence(schema: Schema) -> bool:
    """Whether the keyword stands anywhere in a schema."""
    return KEYWORD in schema.keys


@dataclass(frozen=True)
class _Quotes:
    """Walks a valid answer beside its schema."""

    schema: Schema

    def of(self, schema: Any, value: Any, path: str, jumps: int) -> Iterator[tuple[str, str]]:
        """(path, quote) of each text that a marked subschema describes. `jumps` counts references followed since the
        last step into the value."""
        if not isinstance(schema, Mapping) or jumps > MOST_JUMPS:
            return
        if schema.get(KEYWORD) and isinstance(value, str):
            yield path, value
        if schema.get(KEYWORD) and isinstance(value, list):
            yield from ((f"{path}/{at}", item) for at, item in enumerate(value) if isinstance(item, str))
        for branch in self._applied(schema, value):
            yield from self.of(branch, value, path, jumps + 1)
        if isinstance(value, Mapping):
            for name, inner in value.items():
                for subschema in _properties(schema, name):
                    yield from self.of(subschema, inner, path + join([name]), 0)
        if isinstance(value, list):
            first = schema.get("prefixItems") or ()
            for at, item in enumerate(value):
                subschema = first[at] if at < len(first) else schema.get("items")
                yield from self.of(subschema, item, f"{path}/{at}", 0)

    def _applied(self, schema: Mapping[str, Any], value: Any) -> Iterator[Any]:
        """The subschemas that hold for the same value: of alternatives only those that it fits."""
        if isinstance(reference := schema.get("$ref"), str):
            yield _resolved(self.schema.document, reference)
        yield from schema.get("allOf") or ()
        for keyword in ("anyOf", "oneOf"):
            yield from (branch for branch in schema.get(keyword) or () if self._fits(branch, value))
        if "if" in schema:
            yield schema.get("then" if self._fits(schema["if"], value) else "else")
        for name, branch in (schema.get("dependentSchemas") or {}).items():
            if isinstance(value, Mapping) and name in value:
                yield branch

    def _fits(self, branch: Any, value: Any) -> bool:
        return bool(self.schema.validator.evolve(schema=branch).is_valid(value))


def _properties(schema: Mapping[str, Any], name: str) -> Iterator[Any]:
    """The subschemas for the value of one key."""
    properties, patterns = schema.get("properties") or {}, schema.get("patternProperties") or {}
    matching = [subschema for pattern, subschema in patterns.items() if re.search(pattern, name)]
    if name in properties:
        matching.append(properties[name])
    yield from matching or (schema.get("additionalProperties"),)


def _resolved(root: Any, reference: str) -> Any:
    """What a local `$ref` points to; nothing for any other."""
    if reference == "#":
        return root
    found = root
    for part in reference.removeprefix("#/").split("/") if reference.startswith("#/") else ():
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, list) and part.isdigit() and int(part) < len(found):
            found = found[int(part)]
        else:
            found = found.get(part) if isinstance(found, Mapping) else None
    return found if reference.startswith("#/") else None
