"""Quotes that must stand in the documents: a property marked `x-evidence` holds words of its source, or the answer is
not taken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ollama_kit.guard.conversation import Document
from ollama_kit.records.report import Evidence
from ollama_kit.structured.dialect import bounded_work, join
from ollama_kit.structured.schema import Schema
from ollama_kit.structured.validation import Problem
from ollama_kit.text.locate import FoldedText

KEYWORD = "x-evidence"
MOST_JUMPS = 64  # a reference to itself ends here


class Sources:
    """The documents of a call in the caller's words, folded once, when the first quote is sought; and what the model
    has `seen` of each, where that is known: a sentence that was cut proves nothing."""

    def __init__(self, documents: Sequence[Document], seen: Sequence[str] | None = None) -> None:
        self._documents, self._seen = documents, seen
        self._folded: list[FoldedText] | None = None
        self._folded_seen: list[FoldedText] = []

    def as_seen(self, texts: Sequence[str]) -> Sources:
        """The same documents, of which the model has seen these texts."""
        sources = Sources(self._documents, texts)
        sources._folded = self._folded
        return sources

    def locate(self, path: str, quote: str) -> Evidence:
        """Where a quote is first, after folding whitespace and width, and how often; an empty one is nowhere."""
        if self._folded is None:
            self._folded = [FoldedText.of(document.text) for document in self._documents]
        if self._seen is not None and not self._folded_seen:
            self._folded_seen = [FoldedText.of(text) for text in self._seen]
        found: tuple[int, tuple[int, int]] | None = None
        count = 0
        for at, folded in enumerate(self._folded):
            places = folded.find_all(quote)
            if not places or (self._folded_seen and self._folded_seen[at].find(quote) is None):
                continue
            found, count = found or (at, places[0]), count + len(places)
        return Evidence(path, quote) if found is None else Evidence(path, quote, *found, count)


def locate_evidence(schema: Schema, value: Any, sources: Sources) -> tuple[Evidence, ...]:
    """Every quote that the schema asks for in a valid answer, located."""
    with bounded_work():
        found = _quotes_of(schema, value)
    return tuple(
        sources.locate(path, quote) if rule.accepts(quote, _beside(value, path, rule.of)) else Evidence(path, quote)
        for path, (quote, rule) in found.items()
    )


def _quotes_of(schema: Schema, value: Any) -> dict[str, tuple[str, QuoteRule]]:
    return {path: (quote, rule) for path, quote, rule in _Quotes(schema).of(schema.document, value, "", 0)}


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


LEAST_WEIGHT = 3
"""What a quote has to hold where the schema does not say: three letters or digits, an ideograph counted as two."""


@dataclass(frozen=True)
class QuoteRule:
    """What a quote has to hold to prove anything. In a schema `x-evidence` is true, or an object: `min_length` in
    characters; `of` names the property beside it whose figures, or words, the quote has to repeat."""

    min_length: int = 0
    of: str = ""

    @classmethod
    def read(cls, keyword: Any) -> QuoteRule | None:
        """The rule that a schema's keyword states; None where it states none."""
        if isinstance(keyword, Mapping):
            least, of = keyword.get("min_length", 0), keyword.get("of", "")
            return cls(least if isinstance(least, int) else 0, of if isinstance(of, str) else "")
        return cls() if keyword else None

    def accepts(self, quote: str, proven: Any) -> bool:
        """Whether a quote says something; `proven` is the value that it is for, None where there is none."""
        folded = FoldedText.of(quote).folded.strip()
        if self.min_length:
            if len(folded) < self.min_length:
                return False
        elif sum(2 if _is_ideograph(one) else one.isalnum() for one in folded) < LEAST_WEIGHT:
            return False
        return _figures(str(proven)) <= _figures(folded) if proven not in (None, "") else True


def _is_ideograph(character: str) -> bool:
    return "\u3400" <= character <= "\u9fff"


def _figures(text: str) -> set[str]:
    """The figures of a text without separators of thousands; where it has none, the text itself, in small letters."""
    found = {figure.replace(",", "").lstrip("0") for figure in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}
    return found or set(re.findall(r"\w+", text.lower()))


def _beside(value: Any, path: str, name: str) -> Any:
    """The property `name` of the object that holds the quote at `path`."""
    if not name:
        return None
    for part in path.split("/")[1:-1]:
        key = part.replace("~1", "/").replace("~0", "~")
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value.get(name) if isinstance(value, Mapping) else None


@dataclass(frozen=True)
class _Quotes:
    """Walks a valid answer beside its schema."""

    schema: Schema

    def of(self, schema: Any, value: Any, path: str, jumps: int) -> Iterator[tuple[str, str, QuoteRule]]:
        """(path, quote, its rule) of each text that a marked subschema describes. `jumps` counts references followed
        since the last step into the value."""
        if not isinstance(schema, Mapping) or jumps > MOST_JUMPS:
            return
        rule = QuoteRule.read(schema.get(KEYWORD))
        if rule and isinstance(value, str):
            yield path, value, rule
        if rule and isinstance(value, list):
            yield from ((f"{path}/{at}", item, rule) for at, item in enumerate(value) if isinstance(item, str))
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
