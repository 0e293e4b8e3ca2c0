"""The guarded call on a scripted server: what is sent, what is retried, and how each failure ends."""

from __future__ import annotations

import asyncio
import json
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from ollama_kit import AsyncClient, Client, Document, Message
from ollama_kit.errors import (
    ContextOverflow,
    ModelMissing,
    OutputInvalid,
    ProtocolError,
    RemoteHostRefused,
    SchemaError,
    ServerRefused,
    UsageError,
)
from ollama_kit.settings import Settings
from tests.guard.conftest import CONTROL, Say
from tests.scripted import ScriptedServer, chat, error, html, lines

TODO = {
    "type": "object",
    "required": ["task"],
    "additionalProperties": False,
    "properties": {"task": {"type": "string"}},
}


def sent(server: ScriptedServer, at: int = -1) -> dict[str, Any]:
    body: dict[str, Any] = server.seen("POST", "/api/chat")[at].json
    return body


def test_window_answer_room_seed_and_think_are_always_explicit(
    client: Client, scripted: ScriptedServer, says: Say
) -> None:
    """Nothing is left to the server's defaults, and the model's own system prompt is part of the call."""
    says("hi")
    result = client.chat("m", "hello")
    body = sent(scripted)
    assert result.value == "hi"
    assert body["think"] is False
    assert body["options"]["num_ctx"] == 4096
    assert body["options"]["num_predict"] == 4096 - result.report.predicted_tokens
    assert isinstance(body["options"]["seed"], int)
    assert body["messages"] == [{"role": "system", "content": "You are terse."}, {"role": "user", "content": "hello"}]
    assert "format" not in body
    assert "truncate" not in body  # 0.9.3 does not know it


def test_a_server_that_can_refuse_to_truncate_is_told_to(says: Say) -> None:
    """From 0.12.6 on, `truncate` and `shift` are sent as false."""
    with ScriptedServer(version="0.12.6", models=["m:latest"]) as server:
        from tests.guard.conftest import CHATML, byte_vocabulary
        from tests.scripted import show

        server.always("POST", "/api/show", show(info=byte_vocabulary(), template=CHATML))
        server.on("POST", "/api/chat", chat("hi"))
        with Client(Settings(host=server.url)) as client:
            client.chat("m", "hello")
        assert (sent(server)["truncate"], sent(server)["shift"]) == (False, False)


def test_the_model_is_looked_at_once_per_client(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """Version, list and facts are asked once; after that a call is one request."""
    says("a", "b", "c")
    for _ in range(3):
        client.chat("m", "hello")
    assert scripted.calls.count(("GET", "/api/version")) == 1
    assert len(scripted.seen("POST", "/api/show")) == 2  # the second is verbose, for the vocabulary
    assert len(scripted.seen("POST", "/api/chat")) == 3
    assert scripted.connection_count == 1


def test_control_tokens_of_every_untrusted_text_are_broken(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """In messages of any role and in documents; a trusted message keeps its own."""
    says("ok")
    hostile = "".join(CONTROL)
    turns = [Message("system", hostile, trusted=True), Message("assistant", hostile), Message("user", hostile)]
    result = client.chat("m", turns, documents=[Document(hostile, name="a<|im_end|>b")])
    messages = sent(scripted)["messages"]
    assert messages[0]["content"] == hostile
    for message in messages[1:]:
        assert not any(token in message["content"] for token in CONTROL)
        assert "<\u200b|im_end|>" in message["content"]
    found = [finding for finding in result.report.findings if finding.source == "message 2"]
    assert [hostile[slice(*finding.span)] for finding in found] == list(CONTROL)


def test_documents_stand_fenced_before_the_question(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """Between markers with a key that the document cannot know, and the same for the same document."""
    says("ok", "ok")
    for _ in range(2):
        client.chat("m", "Summarize.", documents="price: 5")
    first, second = (sent(scripted, at)["messages"][-1]["content"] for at in (0, 1))
    assert first == second
    assert first.endswith("Summarize.")
    key = first.split("[document ")[1].split(" ")[0]
    assert f"[end {key}]" in first


def test_a_prompt_that_does_not_fit_is_never_sent(client: Client, scripted: ScriptedServer) -> None:
    """The error has both numbers, and the server has seen no chat."""
    with pytest.raises(ContextOverflow) as caught:
        client.chat("m", "x" * 5000)
    assert caught.value.needed_tokens > caught.value.available_tokens == 4096 - 512
    assert f"{caught.value.needed_tokens:,}" in str(caught.value)
    assert not scripted.seen("POST", "/api/chat")


def test_the_last_token_that_fits_is_used(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """One token a byte: the room is exact to one."""
    says("ok")
    with pytest.raises(ContextOverflow) as caught:
        client.chat("m", "x" * 4090, options={"num_predict": 10})
    excess = caught.value.needed_tokens - caught.value.available_tokens
    result = client.chat("m", "x" * (4090 - excess), options={"num_predict": 10})
    assert result.report.predicted_tokens == 4096 - 10
    with pytest.raises(ContextOverflow):
        client.chat("m", "x" * (4091 - excess), options={"num_predict": 10})


def test_valid_json_is_found_in_prose_fences_and_after_thinking(
    client: Client, scripted: ScriptedServer, says: Say
) -> None:
    """Read without a second request."""
    says(
        '{"task": "a"}',
        'Sure! Here it is:\n```json\n{"task": "a"}\n```\nAnything else?',
        '<think>well {"task": 1}</think>\n{"task": "a"}',
        'thinking…</think>{"task": "a"}',
    )
    for _ in range(4):
        result = client.chat("m", "todo?", schema=TODO)
        assert result.value == {"task": "a"}
        assert len(result.report.attempts) == 1
    assert sent(scripted)["format"]["properties"] == {"task": {"type": "string"}}


def test_a_retry_is_told_what_failed_and_nothing_older(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """The documents stay, only the last failure is added, as the assistant's turn and what is wrong with it; seeds
    differ, and the report shows each attempt."""
    says('{"task": 1}', '{"other": "x"}', '{"task": "done"}')
    result = client.chat("m", "What is to do?", documents="Anna: book the truck", schema=TODO)
    assert result.value == {"task": "done"}
    assert [attempt.outcome for attempt in result.report.attempts] == ["schema", "schema", "valid"]
    second, third = sent(scripted, 1)["messages"], sent(scripted, 2)["messages"]
    assert all("book the truck" in messages[1]["content"] for messages in (second, third))
    assert [turn["role"] for turn in second] == ["system", "user", "assistant", "user"]
    assert [turn["content"] for turn in (second[2], third[2])] == ['{"task": 1}', '{"other": "x"}']
    assert len(third) == 4
    assert "/task" in second[-1]["content"]
    assert "other" in third[-1]["content"]
    assert "/task" not in third[-1]["content"].replace('"task"', "")
    seeds = [attempt.seed for attempt in result.report.attempts]
    assert len(set(seeds)) == 3


def test_feedback_speaks_the_language_of_the_question(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """A Chinese question is corrected in Chinese."""
    says("没有", '{"task": "完成"}')
    client.chat("m", "有什么待办事项？", schema=TODO)
    assert "你上一次的回答" in sent(scripted)["messages"][-1]["content"]


def test_what_the_model_wrote_is_not_trusted_either(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """A control token in a failed answer does not come back as one in the feedback."""
    says('{"task": 5, "x": "<|im_end|>"}', '{"task": "a"}')
    client.chat("m", "todo?", schema=TODO)
    assert not any(token in sent(scripted)["messages"][-1]["content"] for token in CONTROL)


def test_three_failures_end_in_an_error_with_every_attempt(client: Client, says: Say) -> None:
    """Never an empty result that looks like success."""
    says("no", "[]", '{"task": null}')
    with pytest.raises(OutputInvalid, match="no valid answer in 3 attempts") as caught:
        client.chat("m", "todo?", schema=TODO)
    assert [(attempt.outcome, attempt.reply) for attempt in caught.value.attempts] == [
        ("not_json", "no"),
        ("schema", "[]"),
        ("schema", '{"task": null}'),
    ]
    assert all(len(attempt.request_sha256) == 64 for attempt in caught.value.attempts)


def test_half_json_is_never_repaired_and_gets_more_room_once(
    client: Client, scripted: ScriptedServer, says: Say
) -> None:
    """`length` means cut: twice the room, then an error, and no feedback about a schema."""
    cut = chat('{"task": "a', done_reason="length", eval_count=100)
    says(cut, chat('{"task": "ab"}'))
    result = client.chat("m", "todo?", schema=TODO, options={"num_predict": 50})
    assert result.value == {"task": "ab"}
    assert [sent(scripted, at)["options"]["num_predict"] for at in (0, 1)] == [50, 100]
    assert sent(scripted, 0)["messages"] == sent(scripted, 1)["messages"]
    says(cut, cut)
    with pytest.raises(OutputInvalid, match="cut off at 100 tokens"):
        client.chat("m", "todo?", schema=TODO, options={"num_predict": 50})


def test_text_that_the_caller_bounds_is_returned_and_marked(client: Client, says: Say) -> None:
    """A bound on plain text is what the caller asked for; the result says that it was cut."""
    says(chat("one two", done_reason="length"))
    result = client.chat("m", "count", options={"num_predict": 5})
    assert (result.value, result.complete) == ("one two", False)
    assert "cut at 5 tokens" in result.report.notes[0]


def test_an_answer_that_runs_away_is_hung_up_on(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """Endless blanks end the attempt at once: the connection is closed, and the next attempt begins."""
    says(chat('{"task": ' + " " * 100_000), chat("again and again " * 10_000), chat('{"task": "a"}'))
    result = client.chat("m", "todo?", schema=TODO)
    assert [attempt.outcome for attempt in result.report.attempts] == ["runaway", "runaway", "valid"]
    assert all(len(attempt.reply) < 2000 for attempt in result.report.attempts)
    assert all(seen.hung_up.wait(10) for seen in scripted.seen("POST", "/api/chat")[:2])


def test_an_empty_answer_is_another_try_not_a_result(client: Client, says: Say) -> None:
    """Thinking that never came to an answer is no answer."""
    says("", chat("", thinking="hm"), chat("yes"))
    assert client.chat("m", "well?").value == "yes"


def test_thinking_stands_apart(client: Client, says: Say) -> None:
    """Both the server's field and inline tags."""
    says(chat("yes", thinking="let me see"), "<think>hm</think>no")
    first, second = client.chat("m", "well?"), client.chat("m", "well?")
    assert (first.text, first.thinking) == ("yes", "let me see")
    assert (second.text, second.thinking) == ("no", "hm")


def test_think_is_refused_where_the_model_can_not(client: Client, scripted: ScriptedServer) -> None:
    """The server would answer 400; we say it before."""
    with pytest.raises(UsageError, match="cannot think"):
        client.chat("m", "well?", think=True)
    assert not scripted.seen("POST", "/api/chat")


def test_a_prediction_that_does_not_hold_is_said(client: Client, says: Say) -> None:
    """Predicted is compared with what the server counted, after every call."""
    says(chat("ok", prompt_eval_count=99_999))
    report = client.chat("m", "hello").report
    assert report.prediction_held is False
    assert "the server counted 99999" in report.notes[0]


def test_exact_counting_is_there_for_the_asking(scripted: ScriptedServer, says: Say) -> None:
    """Where a bound proves the fit nothing is counted, unless it is asked for."""
    says("ok", "ok")
    with Client(Settings(host=scripted.url)) as cheap, Client(Settings(host=scripted.url), counting="exact") as exact:
        bound, counted = cheap.chat("m", "hello").report, exact.chat("m", "hello").report
    assert (bound.predicted_as, counted.predicted_as) == ("bound", "exact")
    assert counted.predicted_tokens < bound.predicted_tokens


def test_num_ctx_belongs_to_the_spec(client: Client) -> None:
    """A call that changed it would make the server load the model anew."""
    with pytest.raises(UsageError, match="num_ctx is not an option"):
        client.chat("m", "hello", options={"num_ctx": 9})
    with pytest.raises(UsageError, match="num_predict"):
        client.chat("m", "hello", options={"num_predict": 0})


@pytest.mark.parametrize("messages", [[{"role": "bot", "content": "x"}], [{"role": "user", "content": 5}]])
def test_wrong_messages_are_refused_here(client: Client, messages: Any) -> None:
    """With their number and what was expected."""
    with pytest.raises(UsageError, match="message 0"):
        client.chat("m", messages)


def test_a_wrong_schema_is_refused_before_any_request(client: Client, scripted: ScriptedServer) -> None:
    """Nothing is asked of the server for a schema that is none."""
    with pytest.raises(SchemaError):
        client.chat("m", "x", schema={"type": "nonsense"})
    assert not scripted.seen("POST", "/api/chat")


def test_a_missing_model_is_answered_with_what_there_is(client: Client, scripted: ScriptedServer) -> None:
    """And never retried."""
    scripted.always("POST", "/api/show", error(404, "model 'mm' not found"))
    with pytest.raises(ModelMissing) as caught:
        client.chat("mm", "x")
    assert caught.value.installed == ("m:latest",)
    assert len(scripted.seen("POST", "/api/show")) == 1


def test_a_spec_that_was_not_built_says_which_command_builds_it(client: Client, scripted: ScriptedServer) -> None:
    """A MODEL argument is a spec's name first."""
    scripted.always("POST", "/api/show", error(404, "model 'wechat-zh' not found"))
    with pytest.raises(ModelMissing) as caught:
        client.chat("wechat-zh", "x")
    assert "ollama-kit build wechat-zh" in caught.value.hint


def test_busy_twice_then_good_is_good(client: Client, scripted: ScriptedServer, says: Say, monkeypatch: Any) -> None:
    """503 is waited for; 500 and HTML are not."""
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    busy = error(503, "server busy, please try again.  maximum pending requests exceeded")
    says(busy, busy, "fine")
    assert client.chat("m", "x").value == "fine"
    says(error(500, "llama runner process has terminated"))
    with pytest.raises(ServerRefused, match="terminated"):
        client.chat("m", "x")
    says(html())
    with pytest.raises(ProtocolError):
        client.chat("m", "x")
    assert len(scripted.seen("POST", "/api/chat")) == 5


def test_an_error_line_in_a_stream_is_an_error(client: Client, says: Say) -> None:
    """HTTP said 200 long before."""
    says(lines({"message": {"role": "assistant", "content": "he"}, "done": False}, {"error": "out of memory"}))
    with pytest.raises(ServerRefused, match="out of memory"):
        client.chat("m", "x")


def test_text_stays_on_this_machine_unless_it_is_said() -> None:
    """A host that is not loopback is refused before any socket is opened."""
    with Client(Settings(host="http://ollama.example.invalid:11434")) as client, pytest.raises(RemoteHostRefused):
        client.chat("m", "secret")


def test_a_model_that_the_server_forwards_is_remote_too(client: Client, scripted: ScriptedServer, says: Say) -> None:
    """A cloud model on a local server carries the prompt away."""
    from tests.guard.conftest import CHATML, byte_vocabulary
    from tests.scripted import show

    cloud = show(info=byte_vocabulary(), template=CHATML, remote_host="https://ollama.com:443", remote_model="big")
    scripted.always("POST", "/api/show", cloud)
    with pytest.raises(RemoteHostRefused, match=r"ollama\.com"):
        client.chat("m", "secret")
    assert not scripted.seen("POST", "/api/chat")


@dataclass
class Todo:
    task: str


def test_a_dataclass_is_a_schema_and_comes_back_as_one(client: Client, says: Say) -> None:
    """The result is what the caller's code works with."""
    says('{"task": "订货车"}')
    assert client.chat("m", "todo?", schema=Todo).value == Todo("订货车")


def test_the_report_is_plain_json(client: Client, says: Say) -> None:
    """Every field can be printed and read again."""
    says("ok")
    report = client.chat("m", "a<|im_end|>").report
    assert json.loads(json.dumps(report.as_dict()))["host"] == report.host


def test_the_awaited_client_sends_the_same(scripted: ScriptedServer, says: Say) -> None:
    """One flow, two drivers: bodies, retries and errors are equal."""

    async def ask() -> Any:
        async with AsyncClient(Settings(host=scripted.url)) as client:
            return await client.chat("m", "todo?", schema=TODO, options={"seed": 7})

    says("no", '{"task": "a"}', "no", '{"task": "a"}')
    with Client(Settings(host=scripted.url)) as client:
        blocking = client.chat("m", "todo?", schema=TODO, options={"seed": 7})
    awaited = asyncio.run(ask())
    assert blocking.value == awaited.value
    assert [sent(scripted, at) for at in (0, 1)] == [sent(scripted, at) for at in (2, 3)]


def test_cancelling_an_awaited_call_hangs_up(scripted: ScriptedServer, says: Say) -> None:
    """The server's work ends with the connection."""
    from tests.scripted import HANG, Do

    arrived = threading.Event()
    begun = lines({"message": {"role": "assistant", "content": "he"}, "done": False})
    says(begun.then(Do(arrived.set), HANG))

    async def ask() -> None:
        async with AsyncClient(Settings(host=scripted.url)) as client:
            call = asyncio.create_task(client.chat("m", "x"))
            await asyncio.to_thread(arrived.wait, 10)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    asyncio.run(ask())
    assert scripted.seen("POST", "/api/chat")[0].hung_up.wait(10)
