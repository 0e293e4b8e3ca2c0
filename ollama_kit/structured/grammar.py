"""The part of a schema that Ollama can turn into a grammar, and what is lost on the way.

The rules are those of llama.cpp's `common/json-schema-to-grammar.cpp` and `src/llama-grammar.cpp` as vendored in Ollama
0.9.3, checked against a running 0.9.3. What is not written in the safe form is refused at best; some schemas kill the
server for every user of it (see pattern.py), stop its runner (`minimum` above `maximum`), or are read as something else
(a `$ref` beside `$defs` at the root, a definition named like a property). So nothing is passed through: each node is
derived, and always names its type.

The derived schema is a relaxation: what the full schema allows, it allows, except for what `added` lists. The answer is
checked against the full schema afterwards in any case.
"""

from __future__ import annotations

import json
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
    is_anything,
    is_sendable,
)
from ollama_kit.structured.linked import Linked, Node
from ollama_kit.structured.merging import ANNOTATIONS, constraints, merge, types_of

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


def derive_grammar(linked: Linked, limits: Limits) -> Derived:
    """The grammar-safe subset of a linked schema; `"json"` where nothing of it would be left."""
    from ollama_kit.structured.grammar_size import fits_the_server

    reason = "the schema is too large for the server's grammar"
    for max_depth in _DEPTHS:
        work = Work(linked, limits, max_depth)
        try:
            grammar = _document(work)
        except TooBig:
            continue
        if isinstance(grammar, bool) or is_anything(grammar):
            reason = "nothing of it can be put into a grammar" if grammar is not False else "no value can satisfy it"
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
            work.lose(path, keyword, "grammars have no such rule")
    for keyword in ("anyOf", "oneOf"):
        if keyword in node:
            return _alternatives(node, keyword, path, work, depth)
    if "const" in node or "enum" in node:
        return _literals(node, path, work, depth)
    return _typed(node, path, work, depth)


def _document(work: Work) -> Node:
    root: Node = work.linked.root
    root_path = ""
    # The server loses the definitions beside a reference at the root: its target stands there instead.
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
    """The node with what stands in `allOf` and beside `$ref` merged into it."""
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
        work.lose(path, keyword, "a grammar takes any of them, one or more; that it is one is checked afterwards")
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
    from ollama_kit.structured.containers import array_node, object_node
    from ollama_kit.structured.scalars import integer_node, number_node, string_node

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
        work.add(path, "type", f"the schema names none; read as {' or '.join(types)}, as its keywords mean")
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
            work.lose(work.linked.places[keys[name]], "$ref", "it refers to itself with nothing between")
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
