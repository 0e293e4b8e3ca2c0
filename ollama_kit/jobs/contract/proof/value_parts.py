"""The parts of a value that its quotes must hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True, slots=True)
class Part:
    """A text or number of a value. `verbatim`: the contract's own words."""

    text: str
    verbatim: bool
    number: Fraction | None = None


def parts_of(value: Any, schema: Mapping[str, Any]) -> Iterator[Part]:
    """The texts and numbers of a value, each with what its schema says of it. What is chosen from a list is no text of
    the contract, and what is empty says nothing.

    >>> schema = {"properties": {"kind": {"enum": ["sale"]}}}
    >>> [part.text for part in parts_of({"name": "江州公司", "kind": "sale"}, schema)]
    ['江州公司']
    """
    if _is_chosen(schema):
        return
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from parts_of(inner, _below(schema, "properties", name))
    elif isinstance(value, list):
        for inner in value:
            yield from parts_of(inner, _below(schema, "items"))
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | float):
        yield Part(str(value), verbatim=False, number=Fraction(str(value)))
    elif value.strip():
        form = _keyword(schema, "format")
        text = value.partition("T")[0] if form == "date-time" else value
        yield Part(text, verbatim=bool(_keyword(schema, "x-verbatim")) or form in ("date", "date-time"))


def _is_chosen(schema: Any) -> bool:
    """Whether a schema lets a value only be chosen: enum or const, by itself or in any of its branches."""
    if not isinstance(schema, Mapping):
        return False
    if "enum" in schema or "const" in schema:
        return True
    return any(_is_chosen(branch) for branch in _branches(schema))


def _keyword(schema: Mapping[str, Any], name: str) -> Any:
    """What a schema says of a value, by itself or in any of its branches."""
    if name in schema:
        return schema[name]
    found = (_keyword(branch, name) for branch in _branches(schema))
    return next((one for one in found if one is not None), None)


def _below(schema: Mapping[str, Any], keyword: str, name: str = "") -> Mapping[str, Any]:
    """The schema of a property or of the items, by itself or in any of the branches."""
    inner = schema.get(keyword)
    inner = inner.get(name) if name and isinstance(inner, Mapping) else inner
    if isinstance(inner, Mapping):
        return inner
    found = (_below(branch, keyword, name) for branch in _branches(schema))
    return next((one for one in found if one), {})


def _branches(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        yield from (one for one in (branches if isinstance(branches, list) else ()) if isinstance(one, Mapping))
