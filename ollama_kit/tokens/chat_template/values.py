"""Values as Go's templates see them: truth, printing and JSON.

Go string → str, bool → bool, int → int, float64 → float, slice → list or tuple, map → dict with str keys,
struct → Record. Two kinds of nothing: None is Go's invalid value (printed `<no value>`; a field of it is nothing
again), NIL is a nil interface found in a map or list (a field of it is an error).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias

from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset

Value: TypeAlias = Any


@dataclass(frozen=True)
class _NilInterface:
    def __bool__(self) -> bool:
        return False


NIL: Final = _NilInterface()


@dataclass(frozen=True)
class Record:
    """A Go struct: its exported `fields`, what json.Marshal makes of it (None: that depends on the version), and
    whether it prints as that JSON: `always`; only `in place`, where Go can take the pointer that has the method;
    or `never`.
    """

    type_name: str
    fields: Mapping[str, Value]
    json: Struct | None = None
    prints_json: Literal["always", "in place", "never"] = "never"


class Listing(tuple[Value, ...]):
    """A Go slice with a text of its own: what it prints and what json.Marshal makes of it."""

    text: str | None
    json: Any

    def __new__(cls, items: Any, text: str | None, json_value: Any) -> Listing:
        made = super().__new__(cls, items)
        made.text, made.json = text, json_value
        return made


class Data(dict[str, Value]):
    """What a template is executed on; which keys there are depends on the server's version."""


class ArgumentMap(dict[str, Value]):
    """The arguments of a tool call: a map that prints as JSON."""


def from_json(value: Any) -> Value:
    """A decoded JSON value as Go's encoding/json gives it to `any`: every number a float64."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): from_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [from_json(item) for item in value]
    raise TemplateBeyondSubset(f"a value of type {type(value).__name__} in tools")


def settle(value: Value) -> Value:
    """The value itself; Go forgets that a nil came out of an interface once a command is done with it."""
    return None if value is NIL else value


def truth(value: Value) -> bool:
    """Whether `if` takes the value for true: not the zero of its type; structs always are."""
    return True if isinstance(value, Record) else bool(value)


def printed(value: Value) -> str:
    """What `{{ value }}` writes."""
    if value is None or value is NIL:
        return "<no value>"
    if isinstance(value, Record) and value.prints_json != "never":
        return marshal(value)
    return formatted(value)


def formatted(value: Value) -> str:
    """What fmt's `%v` makes of it."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_g(value)
    if isinstance(value, ArgumentMap):
        return marshal(value)
    if isinstance(value, Listing) and value.text is not None:
        return value.text
    if isinstance(value, Record):
        if value.prints_json == "always":
            return marshal(value)
        raise TemplateBeyondSubset(f"a {value.type_name} printed as a Go struct")
    if isinstance(value, Data):
        raise TemplateBeyondSubset("everything a template is given, printed")
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{_nested(value[key])}" for key in sorted(value)) + "]"
    return "[" + " ".join(_nested(item) for item in value) + "]"


def _nested(value: Value) -> str:
    return "<nil>" if value is None or value is NIL else formatted(value)


def marshal(value: Value) -> str:
    """Go's json.Marshal: compact, map keys sorted, `<`, `>`, `&` and U+2028/9 escaped.

    >>> marshal({"b": "<", "a": 1.0})
    '{"a":1,"b":"\\\\u003c"}'
    """
    if value is None or value is NIL:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _float_json(value)
    if isinstance(value, Record):
        if value.json is None:
            raise TemplateBeyondSubset(f"a {value.type_name} as JSON")
        return marshal_ordered(value.json)
    if isinstance(value, Listing):
        return marshal_ordered(value.json)
    if isinstance(value, Data):
        raise TemplateBeyondSubset("everything a template is given, as JSON")
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quoted(key)}:{marshal(value[key])}" for key in sorted(value)) + "}"
    return "[" + ",".join(marshal(item) for item in value) + "]"


@dataclass(frozen=True)
class Struct:
    """The JSON of a struct: its keys stand in the order of its fields, not sorted."""

    members: tuple[tuple[str, Any], ...]


def marshal_ordered(value: Any) -> str:
    if isinstance(value, Struct):
        return "{" + ",".join(f"{_quoted(key)}:{marshal_ordered(item)}" for key, item in value.members) + "}"
    if isinstance(value, dict):
        return "{" + ",".join(f"{_quoted(key)}:{marshal_ordered(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, list | tuple) and not isinstance(value, Listing):
        return "[" + ",".join(marshal_ordered(item) for item in value) + "]"
    return marshal(value)


def _quoted(text: str) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    for character in "<>&\u2028\u2029":
        if character in quoted:
            quoted = quoted.replace(character, f"\\u{ord(character):04x}")
    return quoted


def _digits(value: float) -> tuple[str, str, int]:
    """Sign, shortest digits and the exponent of the first of them: value = d.ddd × 10^exponent."""
    _, digits, exponent = Decimal(repr(abs(value))).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    first = len(digits) - 1 + int(exponent) if value else 0
    return ("-" if math.copysign(1, value) < 0 else ""), text, first


def _scientific(sign: str, digits: str, exponent: int, width: int) -> str:
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):0{width}d}"


def _positional(sign: str, digits: str, exponent: int) -> str:
    if exponent < 0:
        return f"{sign}0.{'0' * (-exponent - 1)}{digits}"
    whole = digits[: exponent + 1].ljust(exponent + 1, "0")
    rest = digits[exponent + 1 :]
    return f"{sign}{whole}.{rest}" if rest else f"{sign}{whole}"


def _float_g(value: float) -> str:
    """fmt's %v of a float64: shortest digits, exponent form from 1e+06 on and below 1e-04."""
    if not math.isfinite(value):
        return {"inf": "+Inf", "-inf": "-Inf"}.get(str(value), "NaN")
    sign, digits, exponent = _digits(value)
    if exponent < -4 or exponent >= 6:
        return _scientific(sign, digits, exponent, 2)
    return _positional(sign, digits, exponent)


def _float_json(value: float) -> str:
    if not math.isfinite(value):
        raise TemplateBeyondSubset("a number that JSON cannot hold")
    sign, digits, exponent = _digits(value)
    if value and (exponent < -6 or exponent >= 21):
        return _scientific(sign, digits, exponent, 1)
    return _positional(sign, digits, exponent)
