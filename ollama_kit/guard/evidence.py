"""Quotes that must stand in the documents: a property marked `x-evidence` holds words of its source, or the answer is
not taken."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ollama_kit.guard.conversation import Document
from ollama_kit.guard.locate import FoldedText
from ollama_kit.structured.validate import Problem

KEYWORD = "x-evidence"
DEEPEST = 64


@dataclass(frozen=True)
class Evidence:
    """One quote of an answer. `path` is a JSON Pointer to it; `document` counts from 0 and `span` is in characters of
    the caller's own text; both None where it was not found."""

    path: str
    quote: str
    document: int | None = None
    span: tuple[int, int] | None = None

    @property
    def found(self) -> bool:
        return self.span is not None


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


def locate_evidence(schema: Any, value: Any, sources: Sources) -> tuple[Evidence, ...]:
    """Every quote that the schema asks for in a valid answer, located."""
    return tuple(sources.locate(path, quote) for path, quote in dict(_quotes(schema, value)).items())


def missing_evidence(evidence: Sequence[Evidence]) -> tuple[Problem, ...]:
    """The quotes that stand nowhere, as problems that a model can be told of."""
    return tuple(
        Problem(found.path, "a quote copied word for word from the documents", repr(found.quote[:120]), KEYWORD)
        for found in evidence
        if not found.found
    )


def asks_for_evidence(schema: Any) -> bool:
    """Whether the keyword stands anywhere in a schema."""
    if isinstance(schema, Mapping):
        return bool(schema.get(KEYWORD)) or any(map(asks_for_evidence, schema.values()))
    return isinstance(schema, list) and any(map(asks_for_evidence, schema))


def _quotes(schema: Any, value: Any) -> Iterator[tuple[str, str]]:
    yield from _walk(schema, value, "", schema, 0)


def _walk(schema: Any, value: Any, path: str, root: Any, depth: int) -> Iterator[tuple[str, str]]:
    """(path, quote) of each text that a marked subschema describes."""
    if not isinstance(schema, Mapping) or depth > DEEPEST:
        return
    if schema.get(KEYWORD) and isinstance(value, str):
        yield path, value
    if schema.get(KEYWORD) and isinstance(value, list):
        yield from ((f"{path}/{at}", item) for at, item in enumerate(value) if isinstance(item, str))
    if isinstance(reference := schema.get("$ref"), str):
        yield from _walk(_resolved(root, reference), value, path, root, depth + 1)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for branch in schema.get(keyword) or ():
            yield from _walk(branch, value, path, root, depth + 1)
    if isinstance(value, Mapping):
        for name, inner in (schema.get("properties") or {}).items():
            if name in value:
                step = name.replace("~", "~0").replace("/", "~1")
                yield from _walk(inner, value[name], f"{path}/{step}", root, depth + 1)
    if isinstance(value, list):
        first = schema.get("prefixItems") or ()
        for at, item in enumerate(value):
            inner = first[at] if at < len(first) else schema.get("items")
            yield from _walk(inner, item, f"{path}/{at}", root, depth + 1)


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
