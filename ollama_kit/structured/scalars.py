"""Strings and numbers in the grammar-safe form."""

from __future__ import annotations

import math
from typing import Any

from ollama_kit.structured.derivation import Work
from ollama_kit.structured.linked import Node
from ollama_kit.structured.pattern import Unsafe, safe_pattern

# Formats with a rule of their own in llama.cpp. Its times have three digits after the second's point, or none.
_RULED_FORMATS = frozenset(("date", "time", "date-time", "uuid"))
# Repetition becomes one rule a count: 20,000 took no measurable time on 0.9.3, this leaves room for many strings.
_MAX_LENGTH = 4096
# The server reads bounds into 32-bit integers, and wraps larger ones round without a word.
_MAX_BOUND = 10**9


def string_node(node: dict[str, Any], path: str, work: Work, depth: int) -> Node:
    """A string, held to one of its pattern, its format or its length: the server reads no more than one of them."""
    del depth
    low, high = node.get("minLength", 0), node.get("maxLength")
    if high is not None and high < low:
        return False
    if "pattern" in node:
        try:
            safe = safe_pattern(node["pattern"])
        except Unsafe as error:
            work.lose(path, "pattern", str(error))
        else:
            if safe.narrowed:
                work.add(path, "pattern", "characters that JSON writes as escapes are left out")
            return _only({"type": "string", "pattern": safe.text}, "pattern", node, path, work)
    if node.get("format") in _RULED_FORMATS:
        return _only({"type": "string", "format": node["format"]}, "format", node, path, work)
    if "format" in node:
        work.lose(path, "format", "grammars have no such rule")
    return _sized(int(low), high, path, work)


def _sized(low: int, high: float | None, path: str, work: Work) -> Node:
    if high is not None and high > _MAX_LENGTH:
        work.lose(path, "maxLength", f"more than {_MAX_LENGTH}")
        high = None
    if high is None and work.limits.max_length is not None:
        high = max(work.limits.max_length, low)
        work.add(path, "maxLength", f"the schema sets no end; {high} characters")
    if low > _MAX_LENGTH:
        work.lose(path, "minLength", f"more than {_MAX_LENGTH}")
        low = 0
    out: dict[str, Any] = {"type": "string"}
    if low:
        out["minLength"] = low
    if high is not None:
        out["maxLength"] = int(high)
    return out


def _only(out: dict[str, Any], kept: str, node: dict[str, Any], path: str, work: Work) -> dict[str, Any]:
    for keyword in node.keys() - {kept} - {loss.keyword for loss in work.lost if loss.path == path}:
        work.lose(path, keyword, f"the server reads {kept} only")
    return out


def number_node(node: dict[str, Any], path: str, work: Work, depth: int) -> Node:
    """A number; the server reads no bounds for it."""
    del depth
    for keyword in node:
        work.lose(path, keyword, "grammars hold no bounds of numbers with a fraction")
    return {"type": "number"}


def integer_node(node: dict[str, Any], path: str, work: Work, depth: int) -> Node:
    """An integer between the bounds that the server can read."""
    del depth
    if "multipleOf" in node:
        work.lose(path, "multipleOf", "grammars have no such rule")
    lows = [math.ceil(node["minimum"])] if "minimum" in node else []
    lows += [math.floor(node["exclusiveMinimum"]) + 1] if "exclusiveMinimum" in node else []
    highs = [math.floor(node["maximum"])] if "maximum" in node else []
    highs += [math.ceil(node["exclusiveMaximum"]) - 1] if "exclusiveMaximum" in node else []
    low, high = max(lows, default=None), min(highs, default=None)
    if low is not None and high is not None and low > high:
        return False
    out: dict[str, Any] = {"type": "integer"}
    for keyword, bound in (("minimum", low), ("maximum", high)):
        if bound is not None and abs(bound) > _MAX_BOUND:
            work.lose(path, keyword, f"beyond {_MAX_BOUND}")
        elif keyword == "maximum" and bound is not None and bound < 0 and "minimum" not in out:
            # 0.9.3 writes leading zeros under a negative upper bound that stands alone.
            work.lose(path, keyword, "a negative one without a minimum")
        elif bound is not None:
            out[keyword] = bound
    return out
