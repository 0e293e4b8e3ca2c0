"""Dataclasses and pydantic models as JSON Schemas, and validated plain data as their instances.

Pydantic does both, for dataclasses of the standard library as for its own. What it says of a dataclass is made stricter
and shorter here: the object is closed, fields that the constructor does not take are left out, a text in `Annotated`
is the field's description, and no titles are made up. This module is imported with the first class, since pydantic
takes 100 ms to load.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import typing
from typing import Any

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema as core

from ollama_kit.errors import SchemaError

_EXACT = 2**53  # beyond it a double is not one integer


def class_schema(cls: type) -> dict[str, Any]:
    """The draft 2020-12 schema of a dataclass or a pydantic model; of a dataclass, and of those inside it, closed
    (`additionalProperties: false`). A field without a default is required.

    Raises SchemaError for a type that JSON has no form for; in a dataclass it names the field.
    """
    try:
        return _adapter(cls).json_schema(schema_generator=_Closed)
    except (PydanticUserError, NameError) as error:
        raise _without_form(cls, error) from error


def instance(cls: type, data: Any) -> Any:
    """The instance of `cls` that plain data, valid by the schema of the class, describes.

    A dataclass is read strictly: pydantic would take "1" for an integer, and for `bool | int` the number 1.0 for True.
    A pydantic model is read as its own configuration says. Raises what the class raises: pydantic's ValidationError,
    which is a ValueError, or the TypeError of a `__post_init__`.
    """
    if dataclasses.is_dataclass(cls):
        return _adapter(cls).validate_json(json.dumps(_whole(data)), strict=True)
    return _adapter(cls).validate_json(json.dumps(data))


def _whole(data: Any) -> Any:
    """The same data with 1.0 as 1: JSON Schema calls both an integer, pydantic in its strict mode only the second.

    >>> _whole({"a": [1.0, 1.5, True]})
    {'a': [1, 1.5, True]}
    """
    if isinstance(data, dict):
        return {key: _whole(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_whole(value) for value in data]
    if isinstance(data, float) and data.is_integer() and abs(data) < _EXACT:
        return int(data)
    return data


@functools.lru_cache(maxsize=256)
def _adapter(cls: type) -> TypeAdapter[Any]:
    return TypeAdapter(cls)


class _Closed(GenerateJsonSchema):
    """Pydantic's schemas, with dataclasses closed and free of titles nobody wrote."""

    # A default that JSON cannot write is left out of the schema, which is nobody's mistake.
    ignored_warning_kinds = frozenset({"skipped-choice", "non-serializable-default"})  # type: ignore[assignment]

    def dataclass_schema(self, schema: core.DataclassSchema) -> JsonSchemaValue:
        found = super().dataclass_schema(schema)
        hints = typing.get_type_hints(schema["cls"], include_extras=True)
        for field in dataclasses.fields(schema["cls"]):
            if not field.init:
                found["properties"].pop(field.name, None)
            elif field.name in found["properties"] and (text := _description(hints[field.name])):
                found["properties"][field.name].setdefault("description", text)
        return {**found, "additionalProperties": found.get("additionalProperties", False)}

    def field_title_should_be_set(self, schema: Any) -> bool:
        return schema["type"] != "dataclass-field" and super().field_title_should_be_set(schema)

    def complex_schema(self, schema: core.ComplexSchema) -> JsonSchemaValue:
        return self.handle_invalid_for_json_schema(schema, "a complex number")


def _description(hint: Any) -> str:
    """The first text among the metadata of a hint.

    >>> _description(typing.Annotated[str, "what was said"])
    'what was said'
    """
    texts = (data for data in getattr(hint, "__metadata__", ()) if isinstance(data, str))
    return next(texts, "")


def _without_form(cls: type, error: Exception) -> SchemaError:
    """The error for a class without a schema: at the first field that has none by itself, else in pydantic's words."""
    if not dataclasses.is_dataclass(cls):
        return SchemaError(f"{cls.__qualname__}: {_first_line(error)}")
    try:
        hints = typing.get_type_hints(cls, include_extras=True)
    except NameError as unknown:
        return SchemaError(f"{cls.__qualname__}: a type hint cannot be read: {unknown}")
    for field in dataclasses.fields(cls):
        try:
            TypeAdapter(hints[field.name]).json_schema(schema_generator=_Closed)
        except PydanticUserError:
            return SchemaError(
                f"{cls.__qualname__}.{field.name}: JSON has no form for {hints[field.name]!r}",
                hint=(
                    "Use str, int, float, bool, None, list, tuple, dict, Literal, Enum, a date, dataclass or model.",
                    "请使用 str、int、float、bool、None、list、tuple、dict、Literal、Enum、日期、dataclass 或模型。",
                ),
            )
    return SchemaError(f"{cls.__qualname__}: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]
