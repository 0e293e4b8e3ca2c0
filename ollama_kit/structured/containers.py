"""Objects and arrays in the grammar-safe form."""

from __future__ import annotations

import re
from typing import Any

from ollama_kit.structured.derivation import Work, anything, child, is_anything, is_text
from ollama_kit.structured.grammar import derive
from ollama_kit.structured.linked import Node

_MAX_NAME = 200
_MAX_ITEMS = 4096
_MAX_MIN_ITEMS = 1000
# Further keys are told apart from the named ones by classes of single bytes, built without escaping (`_not_strings`).
_TELLABLE = re.compile(r"[A-Za-z0-9_]{1,60}")


def object_node(node: dict[str, Any], path: str, work: Work, depth: int) -> Node:
    """An object with its named properties in their order; the server writes the required ones first."""
    for keyword in node.keys() - {"properties", "required", "additionalProperties", "patternProperties"}:
        work.lose(path, keyword, "grammars have no such rule")
    wanted = dict(node.get("properties", {}))
    required = [name for name in node.get("required", ()) if isinstance(name, str)]
    for name in required:
        wanted.setdefault(name, _unnamed(name, node))
    properties: dict[str, Node] = {}
    for name, sub in wanted.items():
        safe = derive(sub, child(path, "properties", name), work, depth + 1)
        if safe is not False:
            properties[name] = safe
        elif name in required:
            return False
        else:
            work.lose(child(path, "properties", name), "", "a key that may not be there is left out, not forbidden")
    if any(name == "$ref" or len(name) > _MAX_NAME or not is_text(name) for name in properties):
        work.lose(path, "properties", "one of the names cannot be written in a grammar")
        return {"type": "object"}
    out: dict[str, Any] = {"type": "object"}
    if properties:
        out["properties"] = properties
    if kept := [name for name in dict.fromkeys(required) if name in properties]:
        out["required"] = kept
    return _with_further_keys(out, node, path, work, depth)


def _unnamed(name: str, node: dict[str, Any]) -> Node:
    """What holds for a required property that is not among the named ones."""
    matching = [sub for regex, sub in node.get("patternProperties", {}).items() if _matches(regex, name)]
    if matching:
        return {"allOf": matching}
    further: Node = node.get("additionalProperties", True)
    return further


def _with_further_keys(out: dict[str, Any], node: dict[str, Any], path: str, work: Work, depth: int) -> dict[str, Any]:
    further = node.get("additionalProperties")
    patterns = list(node.get("patternProperties", {}).values())
    if patterns:
        work.lose(path, "patternProperties", "names cannot be told apart by a pattern")
        if further is not False:
            return out
        # Closed, so each further key matches some pattern, and its value holds to that pattern's schema.
        further = {"anyOf": patterns}
    if further is None or (further is True and "properties" not in out):
        return out
    if further is False:
        return {**out, "additionalProperties": False}
    names = out.get("properties", {})
    if not all(_TELLABLE.fullmatch(name) for name in names):
        work.lose(path, "additionalProperties", "beside names that are not plain ASCII words; named keys only")
        return out
    safe = derive(further, child(path, "additionalProperties"), work, depth + 1)
    if is_anything(safe) and not names:
        return out
    if isinstance(safe, dict) and is_anything(safe):
        safe = True
    return {**out, "additionalProperties": safe}


def array_node(node: dict[str, Any], path: str, work: Work, depth: int) -> Node:
    """An array with an end: `maxItems` is added where the schema has none."""
    for keyword in node.keys() - {"items", "prefixItems", "minItems", "maxItems"}:
        work.lose(path, keyword, "grammars have no such rule")
    low, high = int(node.get("minItems", 0)), node.get("maxItems")
    if high is not None and high < low:
        return False
    if node.get("prefixItems"):
        return _tuple(node, path, work, depth)
    item = derive(node.get("items", True), child(path, "items"), work, depth + 1)
    if item is False:
        return False if low else {"type": "array", "items": anything(), "maxItems": 0}
    return _list(item, low, high, path, work)


def _list(item: Node, low: int, high: float | None, path: str, work: Work) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "array", "items": item}
    if 0 < low <= _MAX_MIN_ITEMS:
        out["minItems"] = low
    elif low:
        work.lose(path, "minItems", f"more than {_MAX_MIN_ITEMS}")
    if high is None or high > _MAX_ITEMS:
        high = max(work.limits.max_items, low)
        work.add(path, "maxItems", f"so that the answer ends: {high} items")
    out["maxItems"] = int(high)
    return out


def _tuple(node: dict[str, Any], path: str, work: Work, depth: int) -> Node:
    """An array with items by position. The server writes all of them, and none after."""
    low, high = int(node.get("minItems", 0)), node.get("maxItems")
    rest: Node = node.get("items", True)
    prefix: list[Node] = []
    for index, sub in enumerate(node["prefixItems"][: None if high is None else int(high)]):
        safe = derive(sub, child(path, "prefixItems", str(index)), work, depth + 1)
        if safe is False:
            rest = False
            break
        prefix.append(safe)
    ended = rest is False or (high is not None and high <= len(prefix))
    if low > len(prefix):
        if ended:
            return False
        further = derive(rest, child(path, "items"), work, depth + 1)
        if further is False:
            return False
        work.lose(path, "prefixItems", "more items are required than have a place of their own")
        options = [option for index, option in enumerate([*prefix, further]) if option not in prefix[:index]]
        union = anything() if any(map(is_anything, options)) else {"anyOf": options} if len(options) > 1 else options[0]
        return _list(union, low, high, path, work)
    if not prefix:
        return {"type": "array", "items": anything(), "maxItems": 0}
    if low < len(prefix) or not ended:
        work.add(path, "prefixItems", f"exactly {len(prefix)} items are written, one for each place")
    return {"type": "array", "prefixItems": prefix, "minItems": len(prefix), "maxItems": len(prefix)}


def _matches(regex: str, name: str) -> bool:
    try:
        return re.search(regex, name) is not None
    except re.error:
        return False
