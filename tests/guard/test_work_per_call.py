"""What a guarded call does once and not again: the causes of its speed, counted instead of timed."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from ollama_kit import AsyncClient, Client
from ollama_kit.server import wire
from ollama_kit.settings import Settings
from ollama_kit.structured.schema import load_schema
from tests.guard.conftest import Say
from tests.scripted import ScriptedServer, chat

NOTE = "林浩 09:07：请今天把货车订好，电话 13800138000，见 https://example.com/a 。\n"
ANSWER = '{"task": "订货车"}'


def todo() -> dict[str, Any]:
    """A schema, made anew each time, as callers write it in the middle of a loop."""
    return {
        "type": "object",
        "required": ["task"],
        "additionalProperties": False,
        "properties": {"task": {"type": "string"}, "due": {"type": "string", "format": "date"}},
    }


def ask(client: Client) -> Any:
    return client.chat("m", "有什么要办？", documents=NOTE, schema=todo()).value


def counted(monkeypatch: pytest.MonkeyPatch, holder: Any, name: str) -> list[Any]:
    """The last argument of each call of a function or method from now on."""
    seen: list[Any] = []
    function = getattr(holder, name)

    def spied(*given: Any, **named: Any) -> Any:
        seen.append(given[-1])
        return function(*given, **named)

    monkeypatch.setattr(holder, name, spied)
    return seen


def test_a_call_is_one_request_on_one_connection(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """Once the model is known, nothing but the chat goes out, and on the connection that is open."""
    says(ANSWER, ANSWER, ANSWER, ANSWER)
    ask(client)
    asked = len(scripted.requests)
    for _ in range(3):
        ask(client)
    assert scripted.calls[asked:] == [("POST", "/api/chat")] * 3
    assert scripted.connection_count == 1


def test_an_awaited_call_is_one_request_on_one_connection(scripted: ScriptedServer, says: Say) -> None:
    """The same for the client of an event loop."""
    says(ANSWER, ANSWER, ANSWER)

    async def calls() -> int:
        async with AsyncClient(Settings(host=scripted.url)) as client:
            await client.chat("m", "有什么要办？", documents=NOTE, schema=todo())
            asked = len(scripted.requests)
            for _ in range(2):
                await client.chat("m", "有什么要办？", documents=NOTE, schema=todo())
            return asked

    asked = asyncio.run(calls())
    assert scripted.calls[asked:] == [("POST", "/api/chat")] * 2
    assert scripted.connection_count == 1


def test_a_schema_of_the_same_words_is_the_same_object() -> None:
    """Its validator and its grammar are made once, however often the dict is written."""
    assert load_schema(todo()) is load_schema(todo())
    assert load_schema(todo()).validator is load_schema(todo()).validator


def test_a_schema_that_says_something_else_is_another() -> None:
    """Another limit, another order (the grammar keeps it) or a later change of the caller's own dict."""
    mine = todo()
    before = load_schema(mine)
    mine["properties"]["task"]["maxLength"] = 3
    assert load_schema(mine) is not before
    assert load_schema(todo()) is before
    assert "maxLength" not in json.dumps(before.document)
    turned = {**todo(), "properties": dict(reversed(todo()["properties"].items()))}
    assert list(load_schema(turned).document["properties"]) == ["due", "task"]
    assert load_schema(todo(), max_length=9) is not before


def test_a_schema_file_that_changes_is_read_again(tmp_path: Path) -> None:
    """The file counts as it is now; the same words are not compiled again."""
    path = tmp_path / "todo.json"
    path.write_text(json.dumps(todo()), encoding="utf-8")
    first = load_schema(path)
    assert load_schema(path) is first
    path.write_text(json.dumps({**todo(), "required": []}), encoding="utf-8")
    assert load_schema(path).document["required"] == []


def test_a_named_policy_is_read_once(scripted: ScriptedServer, says: Say, tmp_path: Path) -> None:
    """Calls look for no files: a policy stays as it was when the client first met it."""
    path = tmp_path / "mine.yaml"
    path.write_text("policy: 1\nextends: standard\nattempts: 1\n", encoding="utf-8")
    says("a", "b")
    with Client(Settings(host=scripted.url)) as client:
        first = client.chat("m", "hi", policy=str(path))
        path.unlink()
        again = client.chat("m", "hi", policy=str(path))
    assert (first.report.policy, again.report.policy) == ("mine", "mine")


def test_the_default_policy_is_looked_for_once(client: Client, says: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where nobody names one."""
    from ollama_kit.client import calls

    loaded = counted(monkeypatch, calls, "load_policy")
    says(ANSWER, ANSWER, ANSWER)
    for _ in range(3):
        ask(client)
    assert loaded == ["standard"]


def test_no_pattern_is_compiled_once_all_have_been_used(
    client: Client, says: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even out of `re`'s own cache, which a program with many patterns overflows."""
    says(ANSWER, ANSWER)
    ask(client)
    compiler = getattr(re, "_compiler", None) or getattr(re, "sre_compile")  # noqa: B009 -- its name up to 3.10
    re.purge()
    compiled: list[Any] = []
    real = compiler.compile

    def compiling(pattern: Any, flags: int = 0) -> Any:
        compiled.append(pattern)
        return real(pattern, flags)

    monkeypatch.setattr(compiler, "compile", compiling)
    ask(client)
    assert compiled == []
    re.compile("a pattern that nobody has seen before")
    assert len(compiled) == 1


def test_a_prompt_that_fits_by_its_size_is_not_tokenized(
    client: Client, says: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The proven bound is enough, and the report says that it was one."""
    says(ANSWER)
    tokenized = counted(monkeypatch, type(client.profile("m").tokenizer.engine), "count")
    result = client.chat("m", "有什么要办？", documents=NOTE, schema=todo())
    assert (result.report.predicted_as, len(tokenized)) == ("bound", 0)


def test_exact_counting_tokenizes_a_prompt_once(
    scripted: ScriptedServer, says: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pass of the tokenizer over the whole prompt for each request, and no more."""
    says(ANSWER)
    with Client(Settings(host=scripted.url), counting="exact") as client:
        tokenized = counted(monkeypatch, type(client.profile("m").tokenizer.engine), "count")
        result = client.chat("m", "有什么要办？", documents=NOTE, schema=todo())
    assert (result.report.predicted_as, len(tokenized)) == ("exact", 1)


def test_a_request_is_written_as_json_once(client: Client, says: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is sent and what the report's digest is made of are the same bytes."""
    says(ANSWER)
    client.profile("m")
    encoded = counted(monkeypatch, wire, "encode")
    ask(client)
    assert len(encoded) == 1


def test_the_digest_of_an_attempt_is_that_of_the_body_sent(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """So that it can be compared with what a proxy or the server has seen."""
    import hashlib

    says(chat("hi"))
    result = client.chat("m", "hello")
    body = scripted.seen("POST", "/api/chat")[0].body
    assert result.report.attempts[0].request_sha256 == hashlib.sha256(body).hexdigest()


def test_what_a_model_knows_of_itself_is_derived_once(client: Client) -> None:
    """Its control tokens, made ready for the search, and its profile."""
    assert client.profile("m") is client.profile("m")
    assert client.profile("m").control_tokens is client.profile("m").control_tokens
