"""How long the server's grammar text becomes, in bytes, as an upper bound.

Ollama 0.9.3 writes the grammar into a buffer of max(32,768, min(1 MiB, 4 × the schema's bytes)) and cuts what is longer
(llama/llama.go `SchemaToGrammar`, llama/sampling_ext.cpp); a cut grammar is refused, or worse, still one.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ollama_kit.structured.linked import Node

_NOT_IN_NAMES = re.compile(r"[^a-zA-Z0-9-]+")
_BUILT_IN_RULES = 2_600
_SMALLEST_BUFFER = 32_768
_LARGEST_BUFFER = 1 << 20


def fits_the_server(grammar: dict[str, Any]) -> bool:
    """Whether the grammar text surely fits into the server's buffer."""
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
        # The rule of the pair is mentioned where it stands; an optional one also in the chain of those before it.
        total += 2 * named + 15 if key in required else 6 * named + 70
    if node.get("additionalProperties", False) is not False:
        total += _bytes(node["additionalProperties"], name + 20) + 8 * (name + 30) + 200
        total += sum(60 * (len(key) + 1) for key in node.get("properties", {}))
    return total
