"""The functions a template may call: Go's builtins (text/template/funcs.go) and Ollama's own (template/template.go)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from types import MappingProxyType
from typing import TypeAlias

from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset, TemplateError
from ollama_kit.tokens.chat_template.values import (
    NIL,
    ArgumentMap,
    Data,
    Record,
    Value,
    formatted,
    marshal,
    settle,
    truth,
)

Call: TypeAlias = Callable[[Sequence[Value]], Value]

_TYPESCRIPT = MappingProxyType(
    {"string": "string", "number": "number", "integer": "number", "boolean": "boolean", "array": "any[]",
     "object": "Record<string, any>", "null": "null"}
)  # fmt: skip


def functions(today: date | None) -> Mapping[str, Call]:
    """Every function by name. `today` is the server's date; None where no template may ask for it."""
    return MappingProxyType({**BUILTIN, "json": _json, "toTypeScriptType": _typescript, **_dates(today)})


def _dates(today: date | None) -> dict[str, Call]:
    def days_ago(days: int) -> Call:
        def date_text(arguments: Sequence[Value]) -> str:
            if today is None:
                raise TemplateBeyondSubset("the prompt holds the server's date")
            if not all(isinstance(argument, str) for argument in arguments):
                raise TemplateError("a date's format is a string")
            return (today - timedelta(days=days)).isoformat()

        return date_text

    return {"currentDate": days_ago(0), "yesterdayDate": days_ago(1)}


def _arity(name: str, arguments: Sequence[Value], least: int, most: int | None = None) -> None:
    if len(arguments) < least or (most is not None and len(arguments) > most):
        raise TemplateError(f"wrong number of arguments for {name}: {len(arguments)}")


def _json(arguments: Sequence[Value]) -> str:
    _arity("json", arguments, 1, 1)
    return marshal(arguments[0])


def _typescript(arguments: Sequence[Value]) -> str:
    _arity("toTypeScriptType", arguments, 1, 1)
    value = arguments[0]
    if not isinstance(value, Record) or value.type_name != "ToolProperty":
        return "any"
    if value.fields["AnyOf"]:
        return " | ".join(_typescript((option,)) for option in value.fields["AnyOf"])
    return " | ".join(_TYPESCRIPT.get(kind, "any") for kind in value.fields["Type"]) or "any"


def _not(arguments: Sequence[Value]) -> bool:
    _arity("not", arguments, 1, 1)
    return not truth(arguments[0])


def _kind(value: Value) -> str:
    """Go's basic kind, empty for what has none."""
    for kind, name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "string")):
        if isinstance(value, kind):
            return name
    return ""


def _eq(arguments: Sequence[Value]) -> bool:
    _arity("eq", arguments, 2)
    first, *others = arguments
    return any(_equal(first, other) for other in others)


def _equal(left: Value, right: Value) -> bool:
    kind = _kind(left)
    if kind != _kind(right):
        if left is None or right is None:
            return False
        raise TemplateError(f"incompatible types for comparison: {left!r:.40} and {right!r:.40}")
    if kind:
        return bool(left == right)
    if left is None and right is None:
        return True
    if (left is None or right is None) and (truth(left) or truth(right)):
        return False
    # Whether an empty slice is nil depends on how the request was decoded; pointers compare by identity.
    raise TemplateBeyondSubset("a comparison of lists, maps or structs")


def _ne(arguments: Sequence[Value]) -> bool:
    _arity("ne", arguments, 2, 2)
    return not _equal(*arguments)


def _less(name: str, arguments: Sequence[Value]) -> bool:
    _arity(name, arguments, 2, 2)
    left, right = arguments
    if _kind(left) != _kind(right) or _kind(left) in ("", "bool"):
        raise TemplateError(f"invalid types for {name}: {left!r:.40} and {right!r:.40}")
    return bool(left < right)


def _le(arguments: Sequence[Value]) -> bool:
    return _less("le", arguments) or _equal(*arguments)


def _len(arguments: Sequence[Value]) -> int:
    _arity("len", arguments, 1, 1)
    value = arguments[0]
    if isinstance(value, Data):
        raise TemplateBeyondSubset("the number of values that a template is given")
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, list | tuple | dict):
        return len(value)
    raise TemplateError(f"len of {value!r:.40}")


def _position(value: Value, limit: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TemplateError(f"cannot index with {value!r:.40}")
    if not 0 <= value <= limit:
        raise TemplateError(f"index out of range: {value}")
    return value


def _index(arguments: Sequence[Value]) -> Value:
    _arity("index", arguments, 1)
    item, *indexes = arguments
    if item is None:
        raise TemplateError("index of untyped nil")
    for index in indexes:
        if isinstance(item, dict):
            if not isinstance(index, str):
                raise TemplateError(f"a map is indexed with {index!r:.40}")
            if index not in item and any(isinstance(value, Record) for value in item.values()):
                raise TemplateBeyondSubset("the zero value of a struct")
            item = item.get(index, NIL)
        elif isinstance(item, list | tuple):
            at = _position(index, len(item))
            if at == len(item):
                raise TemplateError(f"index out of range: {at}")
            item = item[at]
        elif isinstance(item, str):
            raw = item.encode("utf-8", "surrogatepass")
            at = _position(index, len(raw))
            if at == len(raw):
                raise TemplateError(f"index out of range: {at}")
            # A byte of Go is unsigned and compares with ints only; nobody prints one.
            raise TemplateBeyondSubset("a byte of a string")
        else:
            raise TemplateError(f"cannot index {item!r:.40}")
    return item


def _slice(arguments: Sequence[Value]) -> Value:
    _arity("slice", arguments, 1, 4)
    item, *indexes = arguments
    if not isinstance(item, str | list | tuple):
        raise TemplateError(f"cannot slice {item!r:.40}")
    whole = item.encode("utf-8", "surrogatepass") if isinstance(item, str) else item
    if len(indexes) == 3:
        raise TemplateBeyondSubset("a slice with a capacity")
    if indexes and isinstance(indexes[-1], int) and indexes[-1] > len(whole) and not isinstance(whole, bytes):
        raise TemplateBeyondSubset("a slice beyond its length, which depends on the capacity Go gave it")
    start, *rest = [_position(index, len(whole)) for index in indexes] or [0]
    end = rest[0] if rest else len(whole)
    if start > end:
        raise TemplateError(f"invalid slice index: {start} > {end}")
    part = whole[start:end]
    if not isinstance(part, bytes):
        return list(part)
    try:
        return part.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise TemplateBeyondSubset("a string cut inside a character") from error


def _operand(value: Value) -> str:
    if isinstance(value, ArgumentMap) or (isinstance(value, Record) and value.prints_json != "always"):
        raise TemplateBeyondSubset("arguments or a struct printed by a function")
    return "<nil>" if value is None else formatted(value)


def _print(arguments: Sequence[Value]) -> str:
    """fmt.Sprint: a blank between two operands neither of which is a string."""
    pieces: list[str] = []
    before: Value = ""
    for value in arguments:
        if not isinstance(before, str) and not isinstance(value, str):
            pieces.append(" ")
        pieces.append(_operand(value))
        before = value
    return "".join(pieces)


def _println(arguments: Sequence[Value]) -> str:
    return " ".join(_operand(value) for value in arguments) + "\n"


def _printf(arguments: Sequence[Value]) -> str:
    """fmt.Sprintf with the plain verbs %s %v %d %t; flags, widths and mismatches are beyond the subset."""
    _arity("printf", arguments, 1)
    if not isinstance(arguments[0], str):
        raise TemplateError("printf: the format is not a string")
    values = list(arguments[1:])
    accepted: dict[str, tuple[type, ...]] = {"s": (str,), "d": (int,), "t": (bool,), "v": (str, bool, int, float)}

    def verb(match: re.Match[str]) -> str:
        letter = match.group(1)
        if letter == "%":
            return "%"
        value = values.pop(0) if values else None
        fits = letter in accepted and isinstance(value, accepted[letter])
        if not fits or (letter == "d" and isinstance(value, bool)):
            raise TemplateBeyondSubset(f"printf with %{letter}")
        return _operand(value)

    text = re.sub(r"%(.?)", verb, arguments[0], flags=re.DOTALL)
    if values:
        raise TemplateBeyondSubset("printf with more values than verbs")
    return text


def _html(arguments: Sequence[Value]) -> str:
    text = _print(["<no value>" if argument is None else argument for argument in arguments])
    entities: dict[str, str | int | None] = {
        "&": "&amp;",
        "<": "&lt;",
        ">": "&gt;",
        '"': "&#34;",
        "'": "&#39;",
        "\0": "\ufffd",
    }
    return text.translate(str.maketrans(entities))


def _beyond(name: str) -> Call:
    def refuse(arguments: Sequence[Value]) -> Value:
        raise TemplateBeyondSubset(f"the function {name}")

    return refuse


BUILTIN: Mapping[str, Call] = MappingProxyType(
    {
        "not": _not,
        "eq": _eq,
        "ne": _ne,
        "lt": lambda arguments: _less("lt", arguments),
        "le": _le,
        "gt": lambda arguments: not _le(arguments),
        "ge": lambda arguments: not _less("ge", arguments),
        "len": _len,
        "index": _index,
        "slice": _slice,
        "print": _print,
        "println": _println,
        "printf": _printf,
        "html": _html,
        **{name: _beyond(name) for name in ("call", "js", "urlquery")},
    }
)


def called(function: Call, arguments: Sequence[Value]) -> Value:
    """The function's value for arguments that are values of Go's interfaces or nothing."""
    return function([settle(argument) for argument in arguments])
