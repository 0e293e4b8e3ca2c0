"""Messages and tools as the structs that Ollama hands to a template (api/types.go of 0.9.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ollama_kit.tokens.chat_template.turns import ToolCall, Turn
from ollama_kit.tokens.chat_template.values import ArgumentMap, Listing, Record, Struct, from_json, marshal_ordered


def message_record(turn: Turn) -> Record:
    """The turn as the struct that `.Messages` is a list of."""
    fields = {
        "Role": turn.role,
        "Content": turn.content,
        "Thinking": turn.thinking,
        "Images": _slice([Record("ImageData", {})] * turn.images),
        "ToolCalls": _slice([_tool_call(call) for call in turn.tool_calls]),
        "ToolName": turn.tool_name,
        "ToolCallID": "",
    }
    return Record("Message", fields)


def _tool_call(call: ToolCall) -> Record:
    arguments = ArgumentMap(from_json(call.arguments))
    function = Record(
        "ToolCallFunction",
        {"Index": call.index, "Name": call.name, "Arguments": arguments},
        _struct(index=call.index or None, name=call.name, arguments=arguments),
    )
    return Record("ToolCall", {"ID": call.id, "Function": function}, _struct(function=function))


def tool_list(tools: Sequence[Mapping[str, Any]]) -> Listing:
    """The tools as `.Tools`: a list that prints as JSON (`null` where there are none), as in 0.9.3."""
    records = [_tool(tool) for tool in tools]
    form = [record.json for record in records] if tools else None
    return Listing(records, marshal_ordered(form), form)


def _tool(tool: Mapping[str, Any]) -> Record:
    kind, items = _text(tool.get("type")), from_json(tool.get("items"))
    function = _tool_function(_mapping(tool.get("function")))
    return Record(
        "Tool",
        {"Type": kind, "Items": items, "Function": function},
        _struct(type=kind, items=items, function=function),
        "always",
    )


def _tool_function(function: Mapping[str, Any]) -> Record:
    name, description = _text(function.get("name")), _text(function.get("description"))
    parameters = _tool_parameters(_mapping(function.get("parameters")))
    return Record(
        "ToolFunction",
        {"Name": name, "Description": description, "Parameters": parameters},
        _struct(name=name, description=description, parameters=parameters),
        "in place",
    )


def _tool_parameters(parameters: Mapping[str, Any]) -> Record:
    kind = _text(parameters.get("type"))
    definitions, items = from_json(parameters.get("$defs")), from_json(parameters.get("items"))
    required = _slice(_texts(parameters.get("required")))
    named = _mapping(parameters.get("properties"))
    properties = {str(name): _tool_property(_mapping(value)) for name, value in named.items()}
    optional = (("$defs", definitions), ("items", items))
    form = (
        ("type", kind),
        *((key, value) for key, value in optional if value is not None),
        ("required", required),
        ("properties", properties if "properties" in parameters else None),
    )
    fields = {"Type": kind, "Defs": definitions, "Items": items, "Required": required, "Properties": properties}
    return Record("ToolFunctionParameters", fields, Struct(form))


def _tool_property(value: Mapping[str, Any]) -> Record:
    kinds = value.get("type")
    names = [kinds] if isinstance(kinds, str) else _texts(kinds)
    text = names[0] if len(names) == 1 else f"[{' '.join(names)}]" if names else ""
    kind = Listing(names, text, (names[0] if len(names) == 1 else names) if names else None)
    items, description = from_json(value.get("items")), _text(value.get("description"))
    options = _slice(from_json(_sequence(value.get("enum"))))
    any_of = _slice([_tool_property(_mapping(option)) for option in _sequence(value.get("anyOf"))])
    optional = (("items", items), ("description", description), ("enum", options or None))
    form = (("type", kind), *((key, item) for key, item in optional if item is not None))
    fields = {"Type": kind, "Items": items, "Description": description, "Enum": options, "AnyOf": any_of}
    return Record("ToolProperty", fields, Struct(form))


def _struct(**members: Any) -> Struct:
    """The JSON of a struct less the members that are None (Go's `omitempty`)."""
    return Struct(tuple((key, value) for key, value in members.items() if value is not None))


def _slice(items: Sequence[Any]) -> Listing:
    """A slice that is nil where it is empty: JSON `null`."""
    return Listing(items, None, list(items) or None)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _sequence(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _texts(value: Any) -> list[str]:
    return [_text(item) for item in _sequence(value)]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
