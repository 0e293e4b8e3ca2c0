"""The prompt of a chat that the engine renders: what Ollama hands to it, and what it does around the template.

Read in Ollama 0.32.15 (llm/llama_server.go) and llama.cpp b10488 (common/chat.cpp, tools/server): a last assistant
turn is continued, earlier `thinking` is not sent, tools come with their keys in Ollama's order, a system text that a
template does not read goes into the next turn, BOS and EOS are the vocabulary's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset, TemplateError, TemplateRefusal
from ollama_kit.tokens.chat_template.turns import RenderInput, ToolCall, Turn
from ollama_kit.tokens.tokenizer import EndTokens, as_the_server_reads

if TYPE_CHECKING:
    pass

TWO_AT_THE_END = "Cannot have 2 or more assistant messages at the end of the list."
CALLS_AT_THE_END = "Cannot continue an assistant message that contains tool calls."
_SPECIAL = (("<|channel|>",), (">>>all", ">>>${recipient}"), ("[SYSTEM_PROMPT]", "[TOOL_CALLS]", "[ARGS]"))
"""Templates that hold all of one of these are filled in by code of their own in the engine."""


@dataclass(frozen=True)
class NativeTemplate:
    """A Jinja template with what is around it."""

    source: str
    ends: EndTokens = field(default_factory=EndTokens)

    def render(self, conversation: RenderInput, now: datetime) -> str:
        """The prompt of a conversation, without a BOS that the engine adds.

        TemplateRefusal where the engine answers with an error because of the order or kind of the turns, TemplateError
        for other failures, TemplateBeyondSubset where its way is not known here. Work is bounded.
        """
        if any(all(piece in self.source for piece in pieces) for pieces in _SPECIAL):
            raise TemplateBeyondSubset("the engine has code of its own for this template")
        if any(turn.images for turn in conversation.turns):
            raise TemplateBeyondSubset("what stands for an image depends on the model")
        turns, begun = _without_beginning(conversation.turns)
        thinks = begun is None and (conversation.think is None or bool(conversation.think))
        needs = needs_of(self.source)
        prompt = self._filled(_messages(turns, needs), conversation, thinks, now)
        if self.ends.adds_bos and self.ends.bos:
            prompt = prompt.removeprefix(self.ends.bos)
        if self.ends.adds_eos and self.ends.eos:
            prompt = prompt.removesuffix(self.ends.eos)
        return prompt if begun is None else prompt + as_the_server_reads(begun.content)

    def _filled(self, messages: list[dict[str, Any]], conversation: RenderInput, thinks: bool, now: datetime) -> str:
        values: dict[str, Any] = {
            "messages": messages,
            "bos_token": self.ends.bos,
            "eos_token": self.ends.eos,
            "enable_thinking": thinks,
            "add_generation_prompt": True,
            "date_string": now.strftime("%d %b %Y"),
            "datetime": now.strftime("%b %d %Y"),
        }
        if conversation.tools:
            values["tools"] = [tool_value(tool) for tool in conversation.tools]
        if isinstance(conversation.think, str):
            values["reasoning_effort"] = conversation.think
        return _render(self.source, values, now, conversation.size_chars)


@dataclass(frozen=True)
class Needs:
    """What a template needs of its messages, found by trying: content as typed parts, no system turn (its text goes in
    front of the next), arguments of tools as text."""

    typed_content: bool = False
    no_system: bool = False
    text_arguments: bool = False


@lru_cache(maxsize=64)
def needs_of(source: str) -> Needs:
    """What a template needs; tried on small conversations, once for each template."""
    user, system = {"role": "user", "content": "content"}, _Watched(role="system", content="System message")
    typed = {"role": "user", "content": [{"type": "text", "text": "content"}]}
    _works(source, [system, dict(user)])
    call = {"type": "function", "function": {"name": "tool1", "arguments": {"arg": "value"}}}
    called = {"role": "assistant", "content": "", "tool_calls": [call]}
    as_text = {**called, "tool_calls": [{**call, "function": {"name": "tool1", "arguments": '{"arg": "value"}'}}]}
    answer = {"role": "tool", "content": "answer", "tool_call_id": "call00001"}
    round_trip: list[dict[str, Any]] = [dict(user), called, answer, dict(user)]
    return Needs(
        typed_content=not _works(source, [dict(user)]) and _works(source, [typed]),
        no_system="content" not in system.read,
        text_arguments=not _works(source, round_trip) and _works(source, [dict(user), as_text, answer, dict(user)]),
    )


class _Watched(dict[str, Any]):
    """A message that knows which of its parts were read."""

    def __init__(self, **parts: Any) -> None:
        super().__init__(**parts)
        self.read: set[str] = set()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(key)
        return super().get(key, default)


def _works(source: str, messages: list[dict[str, Any]]) -> bool:
    values = {"messages": messages, "bos_token": "", "eos_token": "", "add_generation_prompt": True}
    try:
        _render(source, values, datetime(2026, 1, 1), 0)
    except TemplateBeyondSubset:
        raise
    except TemplateError:
        return False
    return True


def _render(source: str, values: Mapping[str, Any], now: datetime, size_chars: int) -> str:
    from ollama_kit.tokens.native.engine_values import Budget
    from ollama_kit.tokens.native.jinja_sandbox import JinjaTemplate

    turns = len(values["messages"])
    budget = Budget(200_000 + 2_000 * turns, 4_000_000 + 64 * (size_chars + len(source)))
    return JinjaTemplate.parse(source).render(values, now, budget)


def _without_beginning(turns: Sequence[Turn]) -> tuple[Sequence[Turn], Turn | None]:
    """The turns less a last one of the assistant, which the engine continues, and that one."""
    if not turns or turns[-1].role != "assistant":
        return turns, None
    if len(turns) > 1 and turns[-2].role == "assistant":
        raise TemplateRefusal(TWO_AT_THE_END)
    if turns[-1].tool_calls:
        raise TemplateRefusal(CALLS_AT_THE_END)
    if not turns[-1].content:
        raise TemplateBeyondSubset("how an empty answer is continued differs between versions of the engine")
    return turns[:-1], turns[-1]


def _messages(turns: Sequence[Turn], needs: Needs) -> list[dict[str, Any]]:
    if needs.no_system and turns and turns[0].role == "system":
        first, turns = turns[0], turns[1:]
        if turns:
            turns = [replace(turns[0], content=f"{first.content}\n{turns[0].content}"), *turns[1:]]
    return [_message(turn, needs) for turn in turns]


def _message(turn: Turn, needs: Needs) -> dict[str, Any]:
    content: Any = as_the_server_reads(turn.content)
    if needs.typed_content:
        content = [{"type": "text", "text": content}]
    message = {"role": "system" if turn.role == "developer" else turn.role, "content": content}
    if turn.tool_name:
        message["name"] = turn.tool_name
    if turn.tool_calls:
        message["tool_calls"] = [_call(call, needs) for call in turn.tool_calls]
    return message


def _call(call: ToolCall, needs: Needs) -> dict[str, Any]:
    arguments: Any = {str(key): _decoded(value) for key, value in call.arguments.items()}
    if needs.text_arguments:
        raise TemplateBeyondSubset("the template takes a tool's arguments as text")
    value: dict[str, Any] = {"type": "function", "function": {"name": call.name, "arguments": arguments}}
    return {**value, "id": call.id} if call.id else value


def tool_value(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool as the template sees it: only the keys that Ollama knows (api/types.go), in its order."""
    function = _mapping(tool.get("function"))
    parameters = _mapping(function.get("parameters"))
    described = {
        "type": _word(parameters.get("type")),
        **_given("$defs", _decoded(parameters.get("$defs"))),
        **_given("items", _decoded(parameters.get("items"))),
        **_given("required", _words(parameters.get("required"))),
        "properties": _properties(parameters.get("properties")),
    }
    named = {"name": _word(function.get("name")), "description": _word(function.get("description"))}
    return {"type": "function", "function": {**named, "parameters": described}}


def _properties(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, Mapping):
        return None
    return {str(name): _property(_mapping(inner)) for name, inner in value.items()}


def _property(value: Mapping[str, Any]) -> dict[str, Any]:
    kinds = value.get("type")
    named = [kinds] if isinstance(kinds, str) else _words(kinds)
    properties = _properties(value.get("properties"))
    return {
        **_given("anyOf", [_property(_mapping(option)) for option in _list(value.get("anyOf"))]),
        **_given("type", named[0] if len(named) == 1 else named),
        **_given("items", _decoded(value.get("items"))),
        **_given("description", _word(value.get("description"))),
        **_given("enum", [_decoded(item) for item in _list(value.get("enum"))]),
        **({} if properties is None else {"properties": properties}),
        **_given("required", _words(value.get("required"))),
    }


def _given(key: str, value: Any) -> dict[str, Any]:
    """A member that Go leaves out where it is empty (`omitempty`; an `any` only where it is nil)."""
    return {} if value is None or value == "" or value == [] else {key: value}


def _decoded(value: Any) -> Any:
    """A value as Go's JSON decoder and encoder hand it on: keys sorted, whole numbers without a point."""
    if isinstance(value, str):
        return as_the_server_reads(value)
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int | float):
        number = float(value)
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if isinstance(value, Mapping):
        return {key: _decoded(value[key]) for key in sorted(value, key=str)}
    if isinstance(value, list | tuple):
        return [_decoded(item) for item in value]
    raise TemplateBeyondSubset(f"a value of type {type(value).__name__} in tools")


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else ()


def _words(value: Any) -> list[str]:
    return [_word(item) for item in _list(value)]


def _word(value: Any) -> str:
    return as_the_server_reads(value) if isinstance(value, str) else ""
