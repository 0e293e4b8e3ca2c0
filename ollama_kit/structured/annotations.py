"""Dataclasses as JSON Schemas, and validated plain data as dataclasses."""

from __future__ import annotations

import collections.abc
import dataclasses
import datetime
import enum
import types
import typing
import uuid
from typing import Any, Literal, Union

from ollama_kit.errors import SchemaError

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    datetime.datetime: {"type": "string", "format": "date-time"},
    datetime.date: {"type": "string", "format": "date"},
    datetime.time: {"type": "string", "format": "time"},
    uuid.UUID: {"type": "string", "format": "uuid"},
    Any: {},
    object: {},
}
_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable, collections.abc.Collection)
_SETS = (set, frozenset, collections.abc.Set)
_MAPS = (dict, collections.abc.Mapping)


class Unfit(ValueError):
    """Plain data that a type does not take; the path says where, the message why."""

    def __init__(self, message: str, path: tuple[str | int, ...] = ()) -> None:
        super().__init__(message)
        self.path = path


def dataclass_schema(cls: type) -> dict[str, Any]:
    """The draft 2020-12 schema of a dataclass, from its type hints; closed (`additionalProperties: false`).

    A field without a default is required. Raises SchemaError, naming the field, for a type that JSON has no form for.
    """
    definitions: dict[type, tuple[str, dict[str, Any]]] = {}
    root = _object_schema(cls, cls, definitions)
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **root}
    if definitions:
        schema["$defs"] = dict(definitions.values())
    return schema


def _object_schema(cls: type, root: type, definitions: dict[type, tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as error:
        raise SchemaError(f"{cls.__qualname__}: a type hint cannot be read: {error}") from error
    properties: dict[str, Any] = {}
    required: list[str] = []
    for field in dataclasses.fields(cls):
        if not field.init:
            continue
        node = _schema(hints[field.name], f"{cls.__qualname__}.{field.name}", root, definitions)
        if isinstance(description := field.metadata.get("description"), str):
            node = {**node, "description": description}
        properties[field.name] = node
        if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            required.append(field.name)
    out: dict[str, Any] = {"title": cls.__name__, "type": "object", "properties": properties}
    return {**out, **({"required": required} if required else {}), "additionalProperties": False}


def _schema(hint: Any, where: str, root: type, definitions: dict[type, tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    def of(inner: Any) -> dict[str, Any]:
        return _schema(inner, where, root, definitions)

    hint, description = _bare(hint)
    if description:
        return {**of(hint), "description": description}
    if isinstance(hint, collections.abc.Hashable) and hint in _SCALARS:
        return dict(_SCALARS[hint])
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return {"anyOf": [of(inner) for inner in arguments]}
    if origin is Literal:
        return {"enum": [_plain(value) for value in arguments]}
    if origin in _LISTS:
        return {"type": "array", **({"items": of(arguments[0])} if arguments else {})}
    if origin in _SETS:
        return {"type": "array", "uniqueItems": True, **({"items": of(arguments[0])} if arguments else {})}
    if origin is tuple:
        return _tuple_schema(arguments, of)
    if origin in _MAPS and (not arguments or _bare(arguments[0])[0] is str):
        return {"type": "object", **({"additionalProperties": of(arguments[1])} if arguments else {})}
    if isinstance(origin, type) and issubclass(origin, enum.Enum):
        return {"enum": [_plain(member.value) for member in origin]}
    if isinstance(origin, type) and dataclasses.is_dataclass(origin):
        return _nested(origin, root, definitions)
    raise SchemaError(
        f"{where}: JSON has no form for {hint!r}",
        hint=(
            "Use str, int, float, bool, None, list, tuple, set, dict[str, …], Literal, Enum, a date or a dataclass.",
            "请使用 str、int、float、bool、None、list、tuple、set、dict[str, …]、Literal、Enum、日期或 dataclass。",
        ),
    )


def _nested(cls: type, root: type, definitions: dict[type, tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    if cls is root:
        return {"$ref": "#"}
    if cls not in definitions:
        names = {name for name, _ in definitions.values()}
        name = cls.__name__ if cls.__name__ not in names else f"{cls.__name__}{len(names)}"
        definitions[cls] = (name, {})
        definitions[cls][1].update(_object_schema(cls, root, definitions))
    return {"$ref": f"#/$defs/{definitions[cls][0]}"}


def _tuple_schema(arguments: tuple[Any, ...], of: Any) -> dict[str, Any]:
    if not arguments:
        return {"type": "array"}
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": of(arguments[0])}
    places = [of(inner) for inner in arguments]
    return {"type": "array", "prefixItems": places, "minItems": len(places), "maxItems": len(places), "items": False}


def _bare(hint: Any) -> tuple[Any, str]:
    """(the hint without Annotated and NewType, the first text among the metadata)."""
    description = ""
    while True:
        if typing.get_origin(hint) is typing.Annotated:
            texts = [data for data in hint.__metadata__ if isinstance(data, str)]
            description = description or (texts[0] if texts else "")
            hint = hint.__origin__
        elif hasattr(hint, "__supertype__"):
            hint = hint.__supertype__
        else:
            return hint, description


def _plain(value: Any) -> Any:
    value = value.value if isinstance(value, enum.Enum) else value
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise SchemaError(f"{value!r} in a Literal or an Enum is not a value of JSON")


def from_plain(hint: Any, data: Any) -> Any:
    """Validated plain data as the hinted type. Raises Unfit where the type, or a `__post_init__`, refuses it."""
    hint, _ = _bare(hint)
    origin, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _first_fit(arguments, data)
    if origin is Literal:
        return _member([(_plain(value), value) for value in arguments], data)
    if isinstance(origin, type) and issubclass(origin, enum.Enum):
        return _member([(_plain(member.value), member) for member in origin], data)
    if isinstance(origin, type) and dataclasses.is_dataclass(origin):
        return _instance(origin, data)
    if origin in _LISTS or origin in _SETS or origin is tuple:
        return _collection(origin, arguments, data)
    if origin in _MAPS:
        _expect(data, dict, "an object")
        return {key: _at(key, arguments[1] if arguments else Any, item) for key, item in data.items()}
    return _scalar(origin, data)


def _instance(cls: type, data: Any) -> Any:
    _expect(data, dict, "an object")
    hints = typing.get_type_hints(cls, include_extras=True)
    names = [field.name for field in dataclasses.fields(cls) if field.init]
    values = {name: _at(name, hints[name], data[name]) for name in names if name in data}
    try:
        return cls(**values)
    except (TypeError, ValueError) as error:
        raise Unfit(str(error)) from error


def _collection(origin: Any, arguments: tuple[Any, ...], data: Any) -> Any:
    _expect(data, list, "an array")
    if origin is tuple and arguments and arguments[-1] is not Ellipsis:
        if len(arguments) != len(data):
            raise Unfit(f"expected {len(arguments)} items")
        return tuple(_at(index, hint, item) for index, (hint, item) in enumerate(zip(arguments, data, strict=True)))
    hint = arguments[0] if arguments else Any
    items = [_at(index, hint, item) for index, item in enumerate(data)]
    if origin is tuple:
        return tuple(items)
    if origin in _SETS:
        try:
            return frozenset(items) if origin is frozenset else set(items)
        except TypeError as error:
            raise Unfit(str(error)) from error
    return items


def _scalar(kind: Any, data: Any) -> Any:
    if kind in (Any, object):
        return data
    if kind in (None, type(None)):
        return _expect(data, type(None), "null")
    if kind is bool:
        return _expect(data, bool, "true or false")
    if kind in (int, float) and isinstance(data, (int, float)) and not isinstance(data, bool):
        if kind is int and data != int(data):
            raise Unfit("expected a whole number")
        return kind(data)
    _expect(data, str, "a string" if kind not in (int, float) else "a number")
    readers: dict[Any, Any] = {
        str: str,
        datetime.date: datetime.date.fromisoformat,
        datetime.datetime: lambda text: datetime.datetime.fromisoformat(_iso(text)),
        datetime.time: lambda text: datetime.time.fromisoformat(_iso(text)),
        uuid.UUID: uuid.UUID,
    }
    if kind not in readers:
        raise Unfit("expected a number")
    try:
        return readers[kind](data)
    except ValueError as error:
        raise Unfit(str(error)) from error


def _iso(text: str) -> str:
    """RFC 3339 in the form that Python 3.10's `fromisoformat` reads: offset spelt out, six digits or none."""
    text = text.upper().replace("Z", "+00:00")
    head, dot, tail = text.partition(".")
    if not dot:
        return text
    digits = tail[: len(tail) - 6] if tail[-6:-5] in ("+", "-") else tail
    return f"{head}.{digits[:6]:0<6}{tail[len(digits) :]}"


def _first_fit(options: tuple[Any, ...], data: Any) -> Any:
    problems: list[Unfit] = []
    for option in options:
        try:
            return from_plain(option, data)
        except Unfit as problem:
            problems.append(problem)
    raise max(problems, key=lambda problem: len(problem.path))


def _member(pairs: list[tuple[Any, Any]], data: Any) -> Any:
    for plain, member in pairs:
        if plain == data and isinstance(plain, bool) == isinstance(data, bool):
            return member
    raise Unfit("expected one of " + ", ".join(repr(plain) for plain, _ in pairs))


def _at(part: str | int, hint: Any, data: Any) -> Any:
    try:
        return from_plain(hint, data)
    except Unfit as problem:
        raise Unfit(str(problem), (part, *problem.path)) from problem


def _expect(data: Any, kind: type, name: str) -> Any:
    if type(data) is not kind:
        raise Unfit(f"expected {name}")
    return data
