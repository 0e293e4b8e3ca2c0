r"""Strings and numbers in the grammar-safe form, and the regular expressions that Ollama's grammars can carry.

The server copies most of a `pattern` into its grammar unread (llama.cpp `common/json-schema-to-grammar.cpp`, as in
Ollama 0.9.3), with these results, each seen on a real 0.9.3: `\d` is refused; `(?:…)` and `(?=…)` kill the server
process, and so does a quantifier with nothing before it; `.` and `[^…]` let a quote or a line break through, which
ends the JSON string in the wrong place. So a pattern is read here and written again in the part that is safe:
literals, classes of single characters, groups, alternatives and counted repetition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ollama_kit.structured.derivation import Work
from ollama_kit.structured.linked import Node

# Formats with a rule of their own in llama.cpp. Its times have three digits after the second's point, or none.
_RULED_FORMATS = frozenset(("date", "time", "date-time", "uuid"))
# llama.cpp refuses a grammar with a repetition of 2,000 and more (seen on 0.32.15; its error is "failed to parse
# grammar"). 0.9.3 takes longer ones.
_MAX_LENGTH = 1999
# The server reads bounds into 32-bit integers, and wraps larger ones round without a word.
_MAX_BOUND = 10**9

_MAX_REPEAT = 1000
_MAX_PATTERN = 2000
_MAX_DEPTH = 20
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-/:,@#%&=")
_LAST = 0x10FFFF
# A quote, a backslash and control characters are escapes in JSON text, which no class can express.
_ESCAPED_IN_JSON = ((0x00, 0x1F), (0x22, 0x22), (0x5C, 0x5C))
_DIGITS = ((0x30, 0x39),)


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
                work.add(path, "pattern", "characters that JSON escapes are left out")
            return _only({"type": "string", "pattern": safe.text}, "pattern", node, path, work)
    if node.get("format") in _RULED_FORMATS:
        return _only({"type": "string", "format": node["format"]}, "format", node, path, work)
    if "format" in node:
        work.lose(path, "format", "a grammar cannot express it")
    return _sized(int(low), high, path, work)


def _sized(low: int, high: float | None, path: str, work: Work) -> Node:
    if high is not None and high > _MAX_LENGTH:
        work.lose(path, "maxLength", f"more than {_MAX_LENGTH}")
        high = None
    if high is None and work.limits.max_length is not None:
        high = min(max(work.limits.max_length, low), _MAX_LENGTH)
        work.add(path, "maxLength", f"the schema sets no limit; {high} characters")
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
        work.lose(path, keyword, "a grammar cannot bound numbers with a fraction")
    return {"type": "number"}


def integer_node(node: dict[str, Any], path: str, work: Work, depth: int) -> Node:
    """An integer between the bounds that the server can read."""
    del depth
    if "multipleOf" in node:
        work.lose(path, "multipleOf", "a grammar cannot express it")
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
            # 0.9.3 writes leading zeros under a negative upper bound without a lower one.
            work.lose(path, keyword, "a negative maximum without a minimum")
        elif bound is not None:
            out[keyword] = bound
    return out


Ranges = tuple[tuple[int, int], ...]


class Unsafe(ValueError):
    """The pattern has no safe form; the message says which part."""


@dataclass(frozen=True)
class SafePattern:
    """`text` matches what the pattern matches, less the characters that JSON escapes if `narrowed`."""

    text: str
    narrowed: bool


def safe_pattern(pattern: str) -> SafePattern:
    r"""`pattern` in the form that a grammar can carry. Raises Unsafe where there is none.

    >>> safe_pattern(r"^(?:HT|合同)-\d{4}$").text
    '^(HT|[合][同])-[0-9]{4}$'
    """
    if len(pattern) > _MAX_PATTERN:
        raise Unsafe(f"longer than {_MAX_PATTERN} characters")
    if not (pattern.startswith("^") and pattern.endswith("$")) or _escaped_at(pattern, len(pattern) - 1):
        raise Unsafe("not anchored at both ends")
    reader = _Reader(pattern[1:-1])
    text, _, alternatives = reader.alternation(0)
    if reader.at < len(reader.text):
        raise Unsafe("an unmatched closing bracket")
    if alternatives > 1:
        raise Unsafe("an alternative outside brackets: each anchor applies to one side only")
    if not text:
        raise Unsafe("it matches only the empty text")
    return SafePattern(f"^{text}$", reader.narrowed)


class _Reader:
    """A recursive-descent reader; each method returns (text written again, whether it can match nothing)."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.narrowed = text, 0, False

    def peek(self) -> str:
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self) -> str:
        if self.at >= len(self.text):
            raise Unsafe("it ends unexpectedly")
        self.at += 1
        return self.text[self.at - 1]

    def alternation(self, depth: int) -> tuple[str, bool, int]:
        if depth > _MAX_DEPTH:
            raise Unsafe("brackets nested too deeply")
        branches = [self.sequence(depth)]
        while self.peek() == "|":
            self.at += 1
            branches.append(self.sequence(depth))
        full = [text for text, _ in branches if text]
        nullable = any(empty for _, empty in branches)
        text = "|".join(full)
        if len(branches) > 1 and len(full) < len(branches):
            text = f"({text})?" if text else ""
        return text, nullable, len(branches)

    def sequence(self, depth: int) -> tuple[str, bool]:
        out, nullable = [], True
        while (char := self.peek()) and char not in "|)":
            text, empty, plain = self.atom(depth)
            low, high = self.quantifier()
            if (low, high) == (1, 1):
                out.append(plain or text)
            elif empty:
                raise Unsafe("it repeats what can be empty")
            else:
                out.append(text + _quantifier(low, high))
            nullable = nullable and (empty or low == 0)
        return "".join(out), nullable

    def atom(self, depth: int) -> tuple[str, bool, str]:
        """(text, whether it can be empty, a shorter text for when nothing repeats it)."""
        char = self.take()
        if char == "(":
            if self.peek() == "?":
                if self.text[self.at : self.at + 2] != "?:":
                    raise Unsafe("a look-around, a named group or a flag")
                self.at += 2
            text, empty, _ = self.alternation(depth + 1)
            if self.take() != ")":
                raise Unsafe("an unclosed bracket")
            return (f"({text})", empty, "") if text else ("", True, "")
        if char == "[":
            return self.written(*self.char_class()), False, ""
        if char == ".":
            return self.written(((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)), negated=True), False, ""
        if char == "\\":
            ranges = self.escape()
            return self.written(ranges, negated=False), False, _plain(ranges)
        if char in "*+?{}]^$":
            raise Unsafe(f"{char!r} where a character was expected")
        ranges = ((ord(char), ord(char)),)
        return self.written(ranges, negated=False), False, _plain(ranges)

    def quantifier(self) -> tuple[int, int | None]:
        char = self.peek()
        if not char or char not in "*+?{":
            return 1, 1
        self.at += 1
        low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(char) or self.counts()
        if self.peek() == "?":
            # A lazy quantifier matches the same texts where both ends are anchored.
            self.at += 1
        if self.peek() and self.peek() in "*+?{":
            raise Unsafe("a quantifier after a quantifier")
        if low > _MAX_REPEAT or (high or 0) > _MAX_REPEAT:
            raise Unsafe(f"more than {_MAX_REPEAT} repetitions")
        if high is not None and high < max(low, 1):
            raise Unsafe("a repetition that allows nothing")
        return low, high

    def counts(self) -> tuple[int, int | None]:
        end = self.text.find("}", self.at)
        low, comma, high = self.text[self.at : end].partition(",")
        if end < 0 or not _is_count(low) or (high and not _is_count(high)):
            raise Unsafe("a brace that is not a repetition")
        self.at = end + 1
        return int(low), (int(high) if high else None) if comma else int(low)

    def char_class(self) -> tuple[Ranges, bool]:
        negated = self.peek() == "^"
        self.at += negated
        ranges: list[tuple[int, int]] = []
        while self.peek() != "]":
            first = self.class_member()
            if self.peek() == "-" and self.text[self.at + 1 : self.at + 2] not in ("]", ""):
                self.at += 1
                last = self.class_member()
                if len(first) != 1 or len(last) != 1 or first[0][0] != first[0][1] or first[0][0] > last[0][1]:
                    raise Unsafe("an invalid range in a class")
                first = ((first[0][0], last[0][1]),)
            ranges += first
        self.at += 1
        return tuple(ranges), negated

    def class_member(self) -> Ranges:
        char = self.take()
        return self.escape() if char == "\\" else ((ord(char), ord(char)),)

    def escape(self) -> Ranges:
        char = self.take()
        if char == "d":
            return _DIGITS
        if char in "xu":
            digits = self.text[self.at : self.at + (2 if char == "x" else 4)]
            try:
                code = int(digits, 16)
            except ValueError:
                raise Unsafe(f"the escape \\{char}{digits}") from None
            self.at += len(digits)
        elif char.isalnum():
            raise Unsafe(f"the escape \\{char}")
        else:
            code = ord(char)
        return ((code, code),)

    def written(self, ranges: Ranges, negated: bool) -> str:
        """A class of these characters, without those that JSON escapes."""
        wanted = _without(((0, _LAST),), ranges) if negated else ranges
        kept = _without(wanted, _ESCAPED_IN_JSON)
        if not kept or any(low <= 0xDFFF and high >= 0xD800 for low, high in ranges):
            raise Unsafe("a class without a character that JSON writes unescaped")
        self.narrowed = self.narrowed or kept != _without(wanted, ())
        if negated:
            return "[^" + "".join(map(_range, _joined(ranges + _ESCAPED_IN_JSON))) + "]"
        return "[" + "".join(map(_range, kept)) + "]"


def _quantifier(low: int, high: int | None) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((low, high))
    return short or (f"{{{low}}}" if low == high else f"{{{low},{'' if high is None else high}}}")


def _plain(ranges: Ranges) -> str:
    low, high = ranges[0]
    return chr(low) if low == high and chr(low) in _PLAIN else ""


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 6


def _range(pair: tuple[int, int]) -> str:
    low, high = pair
    return _char(low) if low == high else f"{_char(low)}-{_char(high)}"


def _char(code: int) -> str:
    char = chr(code)
    if char in _PLAIN and char != "-":
        return char
    if code < 0x80:
        return f"\\x{code:02X}"
    return char if char.isprintable() else f"\\u{code:04X}" if code <= 0xFFFF else f"\\U{code:08X}"


def _joined(ranges: Ranges) -> Ranges:
    out: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if out and low <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(high, out[-1][1]))
        else:
            out.append((low, high))
    return tuple(out)


def _without(ranges: Ranges, removed: Ranges) -> Ranges:
    kept = list(_joined(ranges))
    for low, high in removed:
        kept = (
            [
                part
                for first, last in kept
                for part in ((first, min(last, low - 1)), (max(first, high + 1), last))
                if part[0] <= part[1]
            ]
            if removed
            else kept
        )
    return _joined(tuple(kept))


def _escaped_at(text: str, index: int) -> bool:
    before = text[:index]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1
