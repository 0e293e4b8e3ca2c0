"""The part of a schema that Ollama can turn into a grammar, and what is lost on the way.

The rules are those of llama.cpp's `common/json-schema-to-grammar.cpp` and `src/llama-grammar.cpp` as vendored in Ollama
0.9.3, checked against a running 0.9.3. What is not written in the safe form is refused at best; some schemas kill the
server for every user of it (see scalars.py), stop its runner (`minimum` above `maximum`), or are read as something else
(a `$ref` beside `$defs` at the root, a definition named like a property). So nothing is passed through: each node is
derived, and always names its type.

The derived schema is a relaxation: what the full schema allows, it allows, except for what `added` lists. The answer is
checked against the full schema afterwards in any case.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from ollama_kit.structured.derivation import (
    ALL_TYPES,
    Derived,
    Limits,
    Loss,
    TooBig,
    Work,
    anything,
    child,
    is_anything,
    is_sendable,
    is_text,
)
from ollama_kit.structured.linked import ANNOTATIONS, Linked, Node, constraints, merge, types_of
from ollama_kit.structured.scalars import integer_node, number_node, string_node

FAMILIES = {
    "object": frozenset(
        [
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "propertyNames",
            "minProperties",
            "maxProperties",
            "dependentRequired",
            "dependentSchemas",
            "dependencies",
            "unevaluatedProperties",
        ]
    ),
    "array": frozenset(
        [
            "items",
            "prefixItems",
            "minItems",
            "maxItems",
            "uniqueItems",
            "contains",
            "unevaluatedItems",
        ]
    ),
    "string": frozenset(["minLength", "maxLength", "pattern", "format"]),
    "number": frozenset(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]),
}
_EVERYWHERE = frozenset(["type", "enum", "const", "allOf", "anyOf", "oneOf", "$ref"])
_KNOWN = _EVERYWHERE.union(
    *FAMILIES.values(),
    ["not", "if", "then", "else", "$dynamicRef", "minContains", "maxContains"],
)
_DEPTHS = (32, 8, 4, 2)
_MAX_NODES = 4000
_MAX_BRANCHES = 40
_MAX_ENUM_BYTES = 16_000
_MAX_NAME = 200
_MAX_ITEMS = 1999  # as for strings: the server's limit on repetitions
_MAX_MIN_ITEMS = 1000
# Further keys are told apart from the named ones by classes of single bytes, built without escaping (`_not_strings`).
_TELLABLE = re.compile(r"[A-Za-z0-9_]{1,60}")
_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9-]+")
_BUILT_IN_RULES = 2_600
_SMALLEST_BUFFER = 32_768
_LARGEST_BUFFER = 1 << 20


def derive_grammar(linked: Linked, limits: Limits) -> Derived:
    """The grammar-safe subset of a linked schema; `"json"` where nothing of it would be left."""
    reason = "the schema is too large for the server's grammar"
    for max_depth in _DEPTHS:
        work = Work(linked, limits, max_depth)
        try:
            grammar = _document(work)
        except TooBig:
            continue
        if isinstance(grammar, bool) or is_anything(grammar):
            reason = (
                "no part of it can be expressed in a grammar" if grammar is not False else "no value can satisfy it"
            )
            return Derived("json", (*work.lost, Loss("", "", f"{reason}: plain JSON mode")), ())
        if fits_the_server(grammar):
            return Derived(grammar, tuple(work.lost), tuple(work.added))
    return Derived("json", (Loss("", "", f"{reason}: plain JSON mode"),), ())


def derive(node: Node, path: str, work: Work, depth: int) -> Node:
    """The safe form of a linked node; False where no value can satisfy it."""
    work.nodes += 1
    if work.nodes > _MAX_NODES:
        raise TooBig
    if isinstance(node, bool):
        return anything() if node else False
    node = constraints(node)
    if depth > work.max_depth:
        if node:
            work.lose(path, "", f"deeper than {work.max_depth} levels")
        return anything()
    if list(node) == ["$ref"]:
        return _reference(node["$ref"], work)
    node = _flattened(node, path, work)
    if isinstance(node, bool):
        return node and anything()
    for keyword in node.keys() - _EVERYWHERE - ANNOTATIONS:
        if keyword in _KNOWN and not any(keyword in family for family in FAMILIES.values()):
            work.lose(path, keyword, "a grammar cannot express it")
    for keyword in ("anyOf", "oneOf"):
        if keyword in node:
            return _alternatives(node, keyword, path, work, depth)
    if "const" in node or "enum" in node:
        return _literals(node, path, work, depth)
    return _typed(node, path, work, depth)


def _document(work: Work) -> Node:
    root: Node = work.linked.root
    root_path = ""
    # The server loses the definitions beside a reference at the root: its target is put there instead.
    seen: set[str] = set()
    while isinstance(root, dict) and list(constraints(root)) == ["$ref"] and root["$ref"] not in seen:
        seen.add(root["$ref"])
        root_path, root = work.linked.places[root["$ref"]], work.linked.targets[root["$ref"]]
    grammar = derive(root, root_path, work, 0)
    definitions: dict[str, Node] = {}
    while work.waiting:
        key = work.waiting.pop()
        place = work.linked.places[key]
        body = derive(work.linked.targets[key], place, work, 1)
        if body is False:
            work.lose(place, "", "no value can satisfy it, which a definition of a grammar cannot say")
        definitions[work.names[key]] = body or anything()
    _open_circles(definitions, work)
    if isinstance(grammar, bool) or not definitions:
        return grammar
    if "$ref" in grammar:
        grammar = {"anyOf": [grammar]}
    return {**grammar, "$defs": definitions}


def _reference(key: str, work: Work) -> dict[str, Any]:
    if key not in work.names:
        # The server names a rule after the last part of a reference only, beside those of its own and of the
        # properties: letters and digits, and a prefix that none of those has.
        stem = "".join(char for char in key.partition(":")[2] if char.isascii() and char.isalnum())
        work.names[key] = f"Ref{len(work.names)}x{stem}"[:60]
        work.waiting.append(key)
    return {"$ref": f"#/$defs/{work.names[key]}"}


def _flattened(node: dict[str, Any], path: str, work: Work) -> Node:
    """The node with the contents of `allOf` and the target of `$ref` merged into it."""
    out: Node = node
    opened = len(work.opened)
    while isinstance(out, dict) and ("$ref" in out or "allOf" in out):
        out = dict(out)
        parts: list[tuple[str, Node]] = []
        if "$ref" in out:
            key = out.pop("$ref")
            if key in work.opened:
                work.lose(path, "$ref", "it refers to itself through allOf")
            else:
                work.opened.append(key)
                parts.append(("$ref", work.linked.targets[key]))
        parts += [(f"allOf/{index}", part) for index, part in enumerate(out.pop("allOf", ()))]
        for place, part in parts:
            out, dropped = merge(out, constraints(part) if isinstance(part, dict) else part)
            for keyword in dropped:
                work.lose(f"{path}/{place}", keyword, "it cannot be joined with its neighbors")
    del work.opened[opened:]
    return out


def _alternatives(node: dict[str, Any], keyword: str, path: str, work: Work, depth: int) -> Node:
    base = {key: value for key, value in node.items() if key != keyword}
    branches: list[Node] = node[keyword]
    if len(branches) > _MAX_BRANCHES and base:
        work.lose(path, keyword, f"more than {_MAX_BRANCHES} alternatives beside other keywords")
        return derive(base, path, work, depth)
    if keyword == "oneOf":
        work.lose(path, keyword, "a grammar allows any of them; that exactly one matches is checked afterwards")
    derived: list[Node] = []
    for index, branch in enumerate(branches):
        place = f"{path}/{keyword}/{index}"
        if base:
            # Both constrain; a reference is opened so that its target can be joined with the base.
            branch = {"allOf": [base, branch]}
        safe = derive(branch, place, work, depth + 1)
        if is_anything(safe):
            return anything()
        if safe is not False:
            derived.append(safe)
    # By their text: Python has 1 == True.
    derived = list({json.dumps(safe): safe for safe in derived}.values())
    if not derived:
        return False
    return derived[0] if len(derived) == 1 else {"anyOf": derived}


def _literals(node: dict[str, Any], path: str, work: Work, depth: int) -> Node:
    """A node for `const` or `enum`: the values that its type, too, allows."""
    keyword = "const" if "const" in node else "enum"
    values = [node["const"]] if keyword == "const" else list(node["enum"])
    if "const" in node and "enum" in node:
        values = [value for value in values if value in node["enum"]]
    types = types_of(node)
    if types:
        values = [value for value in values if _has_type(value, types)]
    if not values:
        return False
    if not all(map(is_sendable, values)) or len(json.dumps(values)) > _MAX_ENUM_BYTES:
        work.lose(path, keyword, "its values cannot be written in a grammar")
        rest = {key: value for key, value in node.items() if key not in ("const", "enum")}
        return derive(rest, path, work, depth)
    for other in node.keys() - {"const", "enum", "type"}:
        work.lose(path, other, f"{keyword} is the narrower rule")
    return {"const": values[0]} if keyword == "const" else {"enum": values}


def _typed(node: dict[str, Any], path: str, work: Work, depth: int) -> Node:
    makers: dict[str, Callable[[dict[str, Any], str, Work, int], Node]] = {
        "object": object_node,
        "array": array_node,
        "string": string_node,
        "number": number_node,
        "integer": integer_node,
    }
    types = types_of(node)
    if not types:
        types = [name for name, family in FAMILIES.items() if family & node.keys()]
        if not types:
            return anything()
        work.add(path, "type", f"the schema names no type; read as {' or '.join(types)}, from its keywords")
    if not constraints(node).keys() - {"type"} and set(types) >= set(ALL_TYPES):
        return anything()
    if "number" in types:
        types = [name for name in types if name != "integer"]
    nodes: list[Node] = []
    for name in dict.fromkeys(types):
        own = (
            {key: value for key, value in node.items() if key in FAMILIES["number" if name == "integer" else name]}
            if (name not in ("boolean", "null"))
            else {}
        )
        maker = makers.get(name)
        safe = maker(own, path, work, depth) if maker else {"type": name}
        if safe is not False:
            nodes.append(safe)
    if not nodes:
        return False
    bare = [part["type"] for part in nodes if isinstance(part, dict) and list(part) == ["type"]]
    if len(nodes) == 1:
        return nodes[0]
    return {"type": bare} if len(bare) == len(nodes) else {"anyOf": nodes}


def _open_circles(definitions: dict[str, Node], work: Work) -> None:
    """Definitions that reach themselves with no bracket between are left recursion, which the server refuses."""
    keys = {name: key for key, name in work.names.items()}
    for name in definitions:
        reached, queue = set(), list(_bare_references(definitions[name]))
        while queue:
            target = queue.pop()
            if target not in reached:
                reached.add(target)
                queue += _bare_references(definitions[target])
        if name in reached:
            work.lose(work.linked.places[keys[name]], "$ref", "it refers to itself with nothing in between")
            definitions[name] = anything()


def _bare_references(node: Node) -> list[str]:
    if isinstance(node, bool):
        return []
    own = [node["$ref"].rpartition("/")[2]] if "$ref" in node else []
    return own + [name for branch in node.get("anyOf", ()) for name in _bare_references(branch)]


def _has_type(value: Any, types: list[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, (int, float)):
        return "number" in types or ("integer" in types and value == int(value))
    name = {str: "string", list: "array", dict: "object", type(None): "null"}[type(value)]
    return name in types


def object_node(node: dict[str, Any], path: str, work: Work, depth: int) -> Node:
    """An object with its named properties in their order; the server writes the required ones first."""
    for keyword in node.keys() - {"properties", "required", "additionalProperties", "patternProperties"}:
        work.lose(path, keyword, "a grammar cannot express it")
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
            work.lose(
                child(path, "properties", name), "", "the grammar leaves a forbidden key out, but cannot forbid it"
            )
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
        work.lose(path, "patternProperties", "a grammar cannot tell names apart by a pattern")
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
        work.lose(path, keyword, "a grammar cannot express it")
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
        work.add(path, "maxItems", f"the schema sets no limit; {high} items")
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


def fits_the_server(grammar: dict[str, Any]) -> bool:
    """Whether the grammar text surely fits into the server's buffer.

    Ollama 0.9.3 takes a buffer of max(32,768, min(1 MiB, 4 × the schema's bytes)) and cuts what is longer
    (llama/llama.go `SchemaToGrammar`, llama/sampling_ext.cpp); a cut grammar is refused, or worse, still a valid one.
    """
    schema_bytes = len(json.dumps(grammar, ensure_ascii=False, separators=(",", ":")).encode())
    return grammar_bytes(grammar) < max(_SMALLEST_BUFFER, min(_LARGEST_BUFFER, 4 * schema_bytes))


def grammar_bytes(grammar: dict[str, Any]) -> int:
    """An upper bound of the grammar's length: each rule repeats the path to its node as its name."""
    total = _BUILT_IN_RULES + _bytes(grammar, 4)
    for name, body in grammar.get("$defs", {}).items():
        total += _bytes(body, len(name) + 1)
    return total


def _bytes(node: Node, name: int) -> int:
    """Bytes of the rules for a node whose rule name has `name` bytes."""
    if isinstance(node, bool):
        return 2 * name + 20
    if "$ref" in node:
        return name + len(str(node["$ref"])) + 20
    if "anyOf" in node:
        return name + 10 + sum(name + 20 + _bytes(branch, name + 16) for branch in node["anyOf"])
    if isinstance(node.get("type"), list):
        return name + 10 + len(node["type"]) * (2 * name + 60)
    for literal in ("const", "enum"):
        if literal in node:
            return name + 30 + 2 * len(json.dumps(node[literal], ensure_ascii=False).encode())
    if "pattern" in node:
        return name + 40 + 4 * len(str(node["pattern"]).encode()) + str(node["pattern"]).count("{") * (2 * name + 40)
    if "properties" in node or "additionalProperties" in node:
        return _object_bytes(node, name)
    if list(node) == ["type"]:
        return 0
    items = node.get("prefixItems") or ([node["items"]] if "items" in node else [])
    return name + 80 + sum(2 * name + 40 + _bytes(item, name + 10) for item in items)


def _object_bytes(node: dict[str, Any], name: int) -> int:
    total, required = name + 60, set(node.get("required", ()))
    for key, sub in node.get("properties", {}).items():
        literal = len(json.dumps(json.dumps(key, ensure_ascii=False), ensure_ascii=False).encode())
        # Runs of other characters become one dash, and equal names are told apart by up to four digits.
        named = name + 8 + len(_NOT_IN_NAMES.sub("-", key))
        total += _bytes(sub, named) + literal + named + 50
        # The rule of the pair is mentioned where it is used; an optional one also in the chain of those before it.
        total += 2 * named + 15 if key in required else 6 * named + 70
    if node.get("additionalProperties", False) is not False:
        total += _bytes(node["additionalProperties"], name + 20) + 8 * (name + 30) + 200
        total += sum(60 * (len(key) + 1) for key in node.get("properties", {}))
    return total
