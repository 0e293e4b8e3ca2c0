"""Two schemas that must both hold, as one; in the direction that never refuses what both allow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ollama_kit.structured.linked import Node

ANNOTATIONS = frozenset(
    [
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "$vocabulary",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
    ]
)
_LARGER = frozenset(["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains"])
_SMALLER = frozenset(["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains"])
_OBJECT_SHAPE = frozenset(("properties", "patternProperties", "additionalProperties"))
_ARRAY_SHAPE = frozenset(("prefixItems", "items"))


def constraints(node: dict[str, Any]) -> dict[str, Any]:
    """The part of a node that constrains: without titles, comments and keywords nobody knows (`x-…`)."""
    return {key: value for key, value in node.items() if key not in ANNOTATIONS and not key.startswith("x-")}


def merge(left: Node, right: Node) -> tuple[Node, tuple[str, ...]]:
    """(a node that allows what both allow, and maybe more; the keywords of `right` that it does not hold).

    >>> merge({"type": ["string", "null"]}, {"type": "string", "minLength": 2})
    ({'type': 'string', 'minLength': 2}, ())
    """
    if isinstance(left, bool) or isinstance(right, bool):
        return (right if left is True else left if right is True else False), ()
    out, lost = dict(left), []
    shapes = [shape for shape in (_OBJECT_SHAPE, _ARRAY_SHAPE) if _clash(shape, left, right)]
    for key, value in right.items():
        if any(key in shape for shape in shapes):
            if key == "properties":
                out[key] = _both_maps(left.get(key, {}), value)
            elif key != "additionalProperties" or value is not True:
                lost.append(key)
        elif key not in out:
            out[key] = value
        elif out[key] != value and key not in ANNOTATIONS:
            combine = _COMBINE.get(key)
            if combine is not None:
                out[key] = combine(out[key], value)
            else:
                lost.append(key)
    # A closed object says nothing any more once the other's properties stand beside it.
    if _OBJECT_SHAPE in shapes and out.pop("additionalProperties", True) is not True:
        lost.append("additionalProperties")
    if out.get("type") == [] or out.get("enum") == []:
        return False, tuple(lost)
    return out, tuple(lost)


def types_of(node: dict[str, Any]) -> list[str]:
    """The types a node names, as a list; empty where it names none."""
    named = node.get("type", [])
    return [named] if isinstance(named, str) else [name for name in named if isinstance(name, str)]


def _clash(shape: frozenset[str], left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Whether the keywords of a shape, which read each other, stand on both sides in more than one form."""
    ours, theirs = shape & left.keys(), shape & right.keys()
    if not ours or not theirs or ours | theirs == {"properties"} or ours | theirs == {"items"}:
        return False
    return any(left.get(key) != right.get(key) for key in shape)


def _both_types(left: Any, right: Any) -> Any:
    ours, theirs = types_of({"type": left}), types_of({"type": right})
    kept = [name for name in ours if name in theirs or (name == "integer" and "number" in theirs)]
    kept += [name for name in theirs if name == "integer" and "number" in ours and name not in kept]
    return kept[0] if len(kept) == 1 else kept


def _both_maps(left: dict[str, Node], right: dict[str, Node]) -> dict[str, Node]:
    return {
        name: {"allOf": [left[name], right[name]]}
        if name in left and name in right and left[name] != right[name]
        else left.get(name, right.get(name, True))
        for name in [*left, *(name for name in right if name not in left)]
    }


def _both_lists(left: list[Any], right: list[Any]) -> list[Any]:
    return [*left, *(value for value in right if value not in left)]


def _common(left: list[Any], right: list[Any]) -> list[Any]:
    return [value for value in left if value in right]


_COMBINE: dict[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(_LARGER, max),
    **dict.fromkeys(_SMALLER, min),
    "type": _both_types,
    "required": _both_lists,
    "properties": _both_maps,
    "items": lambda left, right: {"allOf": [left, right]},
    "enum": _common,
    "allOf": _both_lists,
}
