"""Messages and tools as the structs that Ollama hands to a template (api/types.go of 0.9.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ollama_kit.tokens.chat_template.conversation import ToolCall, Turn
from ollama_kit.tokens.chat_template.values import ArgumentMap, Listing, Record, Struct, from_json, marshal_ordered


def message_record(turn: Turn) -> Record:
    """The turn as the struct that `.Messages` is a list of."""
    calls = [_tool_call(call) for call in turn.tool_calls]
    images = ("",) * turn.images
    fields = {
        "Role": turn.role, "Content": turn.content, "Thinking": turn.thinking, "Images": images,
        "ToolCalls": Listing(calls, None, [call.json for call in calls]),
        "ToolName": turn.tool_name, "ToolCallID": "",
    }  # fmt: skip
    return Record("Message", fields)


def _tool_call(call: ToolCall) -> Record:
    arguments = ArgumentMap(from_json(call.arguments))
    function = Record(
        "ToolCallFunction",
        {"Index": call.index, "Name": call.name, "Arguments": arguments},
        Struct((*((("index", call.index),) if call.index else ()), ("name", call.name), ("arguments", arguments))),
    )
    return Record("ToolCall", {"ID": call.id, "Function": function}, Struct((("function", function),)))


def tool_list(tools: Sequence[Mapping[str, Any]]) -> Listing:
    """The tools as `.Tools`: a list that prints as JSON (`null` where there are none), as in 0.9.3."""
    records = [_tool(tool) for tool in tools]
    form = [record.json for record in records] if tools else None
    return Listing(records, marshal_ordered(form), form)


def _tool(tool: Mapping[str, Any]) -> Record:
    function = _mapping(tool.get("function"))
    made = _tool_function(function)
    items = from_json(tool.get("items"))
    fields = {"Type": _text(tool.get("type")), "Items": items, "Function": made}
    members = [("type", fields["Type"]), *([("items", items)] if items is not None else []), ("function", made)]
    return Record("Tool", fields, Struct(tuple(members)), "always")


def _tool_function(function: Mapping[str, Any]) -> Record:
    parameters = _mapping(function.get("parameters"))
    properties = {
        str(name): _tool_property(_mapping(value)) for name, value in _mapping(parameters.get("properties")).items()
    }
    required = parameters.get("required")
    names = [_text(name) for name in required] if isinstance(required, list | tuple) else None
    optional = [(f"${key}" if key == "defs" else key, from_json(parameters.get(name)))
                for key, name in (("defs", "$defs"), ("items", "items"))]  # fmt: skip
    shape = Record(
        "ToolFunctionParameters",
        {"Type": _text(parameters.get("type")), "Defs": optional[0][1], "Items": optional[1][1],
         "Required": names or [], "Properties": properties},
        Struct((
            ("type", _text(parameters.get("type"))), *((key, value) for key, value in optional if value is not None),
            ("required", names), ("properties", properties if "properties" in parameters else None),
        )),
    )  # fmt: skip
    name, description = _text(function.get("name")), _text(function.get("description"))
    return Record(
        "ToolFunction",
        {"Name": name, "Description": description, "Parameters": shape},
        Struct((("name", name), ("description", description), ("parameters", shape))),
        "in place",
    )


def _tool_property(value: Mapping[str, Any]) -> Record:
    kinds = value.get("type")
    names = [_text(kind) for kind in kinds] if isinstance(kinds, list | tuple) else [_text(kinds)] if kinds else []
    text = names[0] if len(names) == 1 else f"[{' '.join(names)}]" if names else ""
    kind = Listing(names, text, names[0] if len(names) == 1 else names or None)
    items, description = from_json(value.get("items")), _text(value.get("description"))
    options = from_json(value.get("enum"))
    members = [("type", kind), *([("items", items)] if items is not None else []), ("description", description),
               *([("enum", options)] if options else [])]  # fmt: skip
    any_of = [_tool_property(_mapping(option)) for option in value.get("anyOf") or ()]
    fields = {"Type": kind, "Items": items, "Description": description, "Enum": options or [], "AnyOf": any_of}
    return Record("ToolProperty", fields, Struct(tuple(members)))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
