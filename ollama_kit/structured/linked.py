"""A schema with its references followed: plain 2020-12 nodes, whatever dialect and identifiers it was written with.

`$id`, `$anchor`, JSON Pointers and the differences between dialects end here. What comes out is a root and a table of
targets; a reference is `{"$ref": key}` with a key of that table, so that later stages need no resolver. Two such nodes
that must both hold become one by `merge`, in the direction that never refuses what both allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ollama_kit.errors import SchemaError
from ollama_kit.structured.dialect import LEGACY, Json, join, registry, specification

if TYPE_CHECKING:
    from referencing._core import Resolver

Node = dict[str, Any] | bool

ONE = frozenset(
    [
        "additionalItems",
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    ]
)
LISTS = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
MAPS = frozenset(("dependentSchemas", "patternProperties", "properties"))
_UNREAD = frozenset(("$defs", "definitions", "$id", "id", "$anchor", "$dynamicAnchor", "$schema", "$recursiveAnchor"))
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

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


@dataclass(frozen=True)
class Linked:
    """The root node, the targets of its references, and where each target is (a JSON Pointer, or its URI)."""

    root: Node
    targets: dict[str, Node]
    places: dict[str, str]


@dataclass
class _Linker:
    dialect: str
    source: str
    keys: dict[int, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)
    waiting: list[tuple[str, Json, Resolver[Any]]] = field(default_factory=list)
    kept: list[Json] = field(default_factory=list)


def link(document: Json, dialect: str, source: str) -> Linked:
    """`document` with every reference resolved. Raises SchemaError for one that leads out of it, before any request."""
    resource = specification(dialect).create_resource(document)
    linker = _Linker(dialect, source)
    root = _node(document, registry().resolver_with_root(resource), "", linker)
    targets: dict[str, Node] = {}
    while linker.waiting:
        key, contents, resolver = linker.waiting.pop()
        targets[key] = _node(contents, resolver, linker.places[key], linker)
    return Linked(root, targets, linker.places)


def subschemas(node: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], Json]]:
    """Each (path, schema) directly under a node as it was written, in any dialect."""
    for keyword, value in node.items():
        if keyword in MAPS or keyword in ("dependencies", "$defs", "definitions"):
            if isinstance(value, dict):
                yield from (((keyword, name), sub) for name, sub in value.items() if not isinstance(sub, list))
        elif isinstance(value, list) and (keyword in LISTS or keyword == "items"):
            yield from (((keyword, str(index)), sub) for index, sub in enumerate(value))
        elif keyword in ONE and isinstance(value, (dict, bool)):
            yield (keyword,), value


def _node(schema: Json, resolver: Resolver[Any], place: str, linker: _Linker) -> Node:
    if isinstance(schema, bool):
        return schema
    if not isinstance(schema, dict):
        raise SchemaError(f"{linker.source}: at {place or '/'}: expected a schema (an object, true or false)")
    legacy = linker.dialect in LEGACY
    if "$ref" in schema and legacy:
        schema = {"$ref": schema["$ref"]}
    else:
        resolver = resolver.in_subresource(specification(linker.dialect).create_resource(schema))

    def convert(value: Json, *path: str) -> Node:
        return _node(value, resolver, place + join(path), linker)

    out: dict[str, Any] = {}
    for keyword, value in schema.items():
        if keyword in _REFERENCES:
            out["$ref" if keyword == "$ref" else "$dynamicRef"] = _target(
                value, resolver, place + join((keyword,)), linker
            )
        elif keyword in MAPS and isinstance(value, dict):
            out[keyword] = {name: convert(sub, keyword, name) for name, sub in value.items()}
        elif keyword in LISTS or (keyword == "items" and isinstance(value, list)):
            out[keyword] = [convert(sub, keyword, str(index)) for index, sub in enumerate(value)]
        elif keyword in ONE:
            out[keyword] = convert(value, keyword)
        elif keyword == "dependencies":
            out[keyword] = value
            for name, sub in value.items():
                if isinstance(sub, (dict, bool)):
                    convert(sub, keyword, name)
        elif keyword not in _UNREAD:
            out[keyword] = value
    return _modern(out, linker.dialect)


def _target(reference: Json, resolver: Resolver[Any], place: str, linker: _Linker) -> str:
    """The key of what a reference names; queues it the first time."""
    from referencing.exceptions import Unresolvable

    try:
        resolved = resolver.lookup(reference)
    except (Unresolvable, ValueError, TypeError) as error:
        local = isinstance(reference, str) and reference.startswith("#")
        problem = "nothing is there" if local else "it leads out of the document, and nothing is fetched"
        raise SchemaError(
            f"{linker.source}: at {place}: {reference!r} cannot be followed: {problem}",
            hint=(
                "Put the referenced schema under $defs and refer to it as #/$defs/NAME.",
                "请把所引用的 schema 放到 $defs 下，并写成 #/$defs/名称。",
            ),
        ) from error
    contents = resolved.contents
    key = linker.keys.get(id(contents))
    if key is None:
        key = linker.keys[id(contents)] = f"{len(linker.keys)}:{reference.rsplit('/', 1)[-1]}"
        linker.places[key] = reference[1:] if reference.startswith("#/") else reference
        linker.waiting.append((key, contents, resolved.resolver))
        # A key is an object's id: the object must outlive the table.
        linker.kept.append(contents)
    return key


def _modern(node: dict[str, Any], dialect: str) -> Node:
    """The 2020-12 spelling of a node in an older dialect."""
    if isinstance(node.get("items"), list):
        node["prefixItems"] = node.pop("items")
        if "additionalItems" in node:
            node["items"] = node["additionalItems"]
    node.pop("additionalItems", None)
    if dialect in ("draft-03", "draft-04"):
        for bound in ("minimum", "maximum"):
            exclusive = "exclusive" + bound.capitalize()
            if node.pop(exclusive, None) is True and bound in node:
                node[exclusive] = node.pop(bound)
    if dialect == "draft-03":
        _modern_draft3(node)
    return node


def _modern_draft3(node: dict[str, Any]) -> None:
    # `required` is a flag of the property there, and types may be schemas: both are left to the validator.
    node.pop("required", None)
    if not isinstance(node.get("type"), str) or node["type"] == "any":
        node.pop("type", None)


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
    # A closed object no longer says anything once the other's properties are beside it.
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
    """Whether the keywords of a shape, which read each other, occur on both sides in more than one form."""
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
