"""What a server cannot compile or combine: a refused grammar, JSON mode where `"json"` does nothing, tools beside a
schema."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ollama_kit import Client
from ollama_kit.errors import OutputInvalid, ServerRefused
from ollama_kit.settings import Settings
from ollama_kit.structured.schema import load_schema
from ollama_kit.tokens.store import forget_loaded
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.scripted import Reply, ScriptedServer, SeenRequest, chat, error, lines, show

TASK = {"type": "object", "required": ["task"], "properties": {"task": {"type": "string"}}}
FUNCTION = {"name": "weather", "description": "d", "parameters": {"type": "object", "properties": {}}}
TOOL = {"type": "function", "function": FUNCTION}
REFUSED = "Failed to initialize samplers: failed to parse grammar"
ANYTHING = {"if": {"type": "string"}, "then": {"minLength": 2}}
"""A schema of which no grammar holds anything."""


@contextmanager
def server(version: str, *, capabilities: Any = ("completion", "tools")) -> Iterator[ScriptedServer]:
    forget_loaded()
    with ScriptedServer(version=version, models=["m:latest"]) as scripted:
        described = show(
            info=byte_vocabulary(), template=CHATML, parameters="num_ctx 4096", capabilities=list(capabilities)
        )
        scripted.always("POST", "/api/show", described)
        yield scripted


def called() -> Reply:
    call = {"function": {"name": "weather", "arguments": {}}}
    last = {"message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": True, "done_reason": "stop"}
    return lines(last)


def sent(scripted: ScriptedServer) -> list[Any]:
    return [seen.json for seen in scripted.seen("POST", "/api/chat")]


def grammarless(answer: str) -> Any:
    """A server that can compile no schema but JSON mode."""

    def reply(seen: SeenRequest) -> Reply:
        form = seen.json.get("format")
        if isinstance(form, dict) and form != {"type": "object"}:
            return error(400, '{"error":{"code":400,"message":"' + REFUSED + '","type":"invalid_request_error"}}')
        made = chat(answer)
        return made(seen)

    return reply


@pytest.mark.parametrize(("version", "mode"), [("0.9.3", "json"), ("0.24.0", "json"), ("0.32.1", {"type": "object"})])
def test_a_grammar_that_is_refused_is_followed_by_json_mode(version: str, mode: Any) -> None:
    """Once, in the same attempt; the whole schema is checked all the same, and the report says so."""
    with server(version) as scripted, Client(Settings(host=scripted.url)) as client:
        scripted.always("POST", "/api/chat", grammarless('{"task": "x"}'))
        result = client.chat("m", "todo?", schema=TASK)
        scripted.always("POST", "/api/chat", grammarless('{"tsk": "x"}'))
        with pytest.raises(OutputInvalid):
            client.chat("m", "todo?", schema=TASK)
    assert result.value == {"task": "x"}
    assert [body["format"] for body in sent(scripted)[:2]] == [load_schema(TASK).grammar, mode]
    assert any("could not compile" in note for note in result.report.notes)
    assert len(result.report.attempts) == 1
    assert sum(isinstance(body["format"], dict) and body["format"] != mode for body in sent(scripted)[2:]) == 1


def test_json_mode_that_is_refused_in_every_form_is_the_servers_error() -> None:
    with server("0.32.1") as scripted, Client(Settings(host=scripted.url)) as client:
        scripted.always("POST", "/api/chat", error(400, REFUSED))
        with pytest.raises(ServerRefused) as caught:
            client.chat("m", "todo?", schema=TASK)
    assert caught.value.reason == "grammar"
    assert [body["format"] for body in sent(scripted)[1:]] == [{"type": "object"}, "json"]


@pytest.mark.parametrize("bound", [2_000, 4_000, 100_000])
def test_a_bound_that_newer_servers_refuse_is_checked_afterwards(bound: int) -> None:
    schema = {"type": "object", "required": ["a", "b"], "properties": {
        "a": {"type": "string", "maxLength": bound}, "b": {"type": "array", "items": {}, "maxItems": bound}
    }}  # fmt: skip
    loaded = load_schema(schema)
    assert isinstance(loaded.grammar, dict)
    assert "maxLength" not in loaded.grammar["properties"]["a"]
    assert loaded.grammar["properties"]["b"]["maxItems"] < 2_000
    assert "maxLength" in {loss.keyword for loss in loaded.lost}


def test_tools_and_a_schema_are_two_phases() -> None:
    """First the tools, with no grammar, which would keep the model from calling one; then the data, without tools."""
    with server("0.9.3") as scripted, Client(Settings(host=scripted.url)) as client:
        scripted.on("POST", "/api/chat", chat("No tool is needed."), chat('{"task": "x"}'))
        result = client.chat("m", "todo?", schema=TASK, tools=[TOOL])
    first, second = sent(scripted)
    assert ("tools" in first, "format" in first) == (True, False)
    assert ("tools" in second, "format" in second) == (False, True)
    assert first["messages"] == second["messages"]
    assert result.value == {"task": "x"}


def test_a_tool_that_is_called_ends_the_first_phase() -> None:
    with server("0.9.3") as scripted, Client(Settings(host=scripted.url)) as client:
        scripted.on("POST", "/api/chat", called())
        result = client.chat("m", "todo?", schema=TASK, tools=[TOOL])
    assert [call["function"]["name"] for call in result.tool_calls] == ["weather"]
    assert len(sent(scripted)) == 1


def test_data_that_comes_in_the_first_phase_is_taken() -> None:
    with server("0.9.3") as scripted, Client(Settings(host=scripted.url)) as client:
        scripted.on("POST", "/api/chat", chat('{"task": "x"}'))
        assert client.chat("m", "todo?", schema=TASK, tools=[TOOL]).value == {"task": "x"}
    assert len(sent(scripted)) == 1


def test_the_second_phase_is_counted_without_the_tools() -> None:
    """An exact count that still had them would take the server's figure for a cut."""
    with server("0.9.3") as scripted, Client(Settings(host=scripted.url), counting="exact") as client:
        scripted.on("POST", "/api/chat", chat("none"), chat('{"task": "x"}', prompt_eval_count=33))
        try:
            report = client.chat("m", "todo?", schema=TASK, tools=[TOOL]).report
        except OutputInvalid as problem:
            pytest.fail(problem.message)
    assert report.predicted_tokens <= 40
