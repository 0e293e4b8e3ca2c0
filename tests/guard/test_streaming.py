"""An answer as it comes: pieces that join to the text, nothing hidden in halves, and a word when an attempt failed."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit import AsyncClient, Client
from ollama_kit.client import Delta, Partial, Restart, Result
from ollama_kit.client.drive import Streamer
from ollama_kit.errors import OutputInvalid, SchemaError
from ollama_kit.guard.exchange import ModelCall
from ollama_kit.guard.private.placeholders import Placeholders
from ollama_kit.guard.streamed_reply import StreamedReply
from ollama_kit.guard.verdict import Restorer
from ollama_kit.server import wire
from ollama_kit.settings import Settings
from tests.guard.conftest import Say
from tests.intensity import examples
from tests.scripted import HANG, ScriptedServer, chat, lines

SECRET = "13800138000"
TODO = {
    "type": "object",
    "required": ["tasks"],
    "properties": {"tasks": {"type": "array", "items": {"type": "string"}}, "who": {"type": "string"}},
}


def pieces_of(driver: str, server: ScriptedServer, **call: Any) -> list[Any]:
    """All that a streamed call yields, blocking or awaited."""
    if driver == "blocking":
        with Client(Settings(host=server.url)) as client:
            return list(client.stream("m", "x", **call))

    async def run() -> list[Any]:
        async with AsyncClient(Settings(host=server.url)) as client:
            return [piece async for piece in client.stream("m", "x", **call)]

    return asyncio.run(run())


driver = pytest.mark.parametrize("driver", ["blocking", "awaited"])


@driver
@pytest.mark.parametrize(
    "reply",
    [
        "plain words",
        "call [PHONE_1] or [PHONE_1][PHONE_1], [PHONE_2] [PHO [[PHONE_1] [PHONE_1",
        "he wrote <\u200b|im_end|> and <\u200brepo_name> and <\u200b|im_en",
        "<think>call [PHONE_1]?</think>\n\nyes, [PHONE_1]",
        "\n <think>a</think> <think>b</think>\nyes <think> no",
        "< think> a < b [x] ]",
        "<thin",
    ],
)
@pytest.mark.parametrize("size", [1, 2, 7, 400])
def test_what_is_shown_joins_to_the_text(
    driver: str, reply: str, size: int, scripted: ScriptedServer, says: Say
) -> None:
    """Whatever the pieces are; thinking is no part of it; nothing hidden is shown in halves."""
    says(chat(reply, piece=size))
    text = f"{SECRET} <|im_end|> <repo_name>"
    *shown, result = pieces_of(driver, scripted, documents=text, policy={"personal": "redact"})
    assert all(isinstance(piece, Delta) and piece.text for piece in shown)
    assert "".join(piece.text for piece in shown) == result.text
    assert len(shown) <= len(reply) // size + 2
    if "[PHONE_1]" in reply:
        assert SECRET in result.text
        assert not any("[PHON" in piece.text and "[PHON" not in result.text for piece in shown)


@given(st.lists(st.text("[PHONE_1]<\u200b|x>ab", max_size=9), max_size=30))
@settings(deadline=None, max_examples=examples(300))
def test_any_text_in_any_pieces_joins_to_what_it_is_as_a_whole(said: list[str]) -> None:
    """Restoring piece by piece and all at once are the same."""
    hidden = Placeholders()
    hidden.of("phone", SECRET)
    restore = Restorer(hidden, frozenset({"<|x>", "|x", "<<a>"}))
    heard, streamer, shown = StreamedReply(), Streamer(structured=False), []
    listen = ModelCall(wire.chat({}), heard, 1, restore)
    for piece in [*said, None]:
        heard.feed({"message": {"content": piece or ""}, "done": piece is None})
        shown += [delta.text for delta in streamer.pieces(listen) if isinstance(delta, Delta)]
    assert "".join(shown) == restore("".join(said))


def test_words_are_shown_as_they_come(scripted: ScriptedServer, says: Say) -> None:
    """A bracket or a tag that begins nothing hidden holds nothing back."""
    says(chat("a < b [1] (see [2", piece=1))
    with Client(Settings(host=scripted.url)) as client:
        shown = [piece.text for piece in client.stream("m", "x") if isinstance(piece, Delta)]
    assert shown == list("a < b [1] (see [2")


@driver
def test_partial_objects_grow_to_the_value(driver: str, scripted: ScriptedServer, says: Say) -> None:
    """Each holds all that the one before held, with hidden values put back; the last is the answer."""
    says(chat('```json\n{"tasks": ["call [PHONE_1]", "b", "c"], "who": "Anna"}\n```', piece=3))
    *shown, result = pieces_of(driver, scripted, documents=SECRET, schema=TODO, policy={"personal": "redact"})
    values = [piece.value for piece in shown if isinstance(piece, Partial)]
    assert len(values) == len(shown)
    assert values[0] == {}
    assert values[-1] == result.value == {"tasks": [f"call {SECRET}", "b", "c"], "who": "Anna"}
    for before, after in pairwise(values):
        assert before != after
        assert before.keys() <= after.keys()
        assert after.get("tasks", [])[: len(before.get("tasks", []))] == before.get("tasks", [])


@driver
def test_a_failed_attempt_is_called_void(driver: str, scripted: ScriptedServer, says: Say) -> None:
    """Restart names the attempt that begins; what follows it stands alone."""
    says("no", '{"tasks": 5}', '<think>{"tasks": 1}</think>{"tasks": ["a"]}')
    shown = pieces_of(driver, scripted, schema=TODO)
    restarts = [at for at, piece in enumerate(shown) if isinstance(piece, Restart)]
    assert [shown[at] for at in restarts] == [Restart(2), Restart(3)]
    assert [piece.value for piece in shown[restarts[1] + 1 : -1]] == [{}, {"tasks": []}, {"tasks": ["a"]}]
    assert isinstance(shown[-1], Result)
    assert shown[-1].value == {"tasks": ["a"]}


@driver
def test_a_stream_that_fails_raises_as_a_plain_call_does(driver: str, scripted: ScriptedServer, says: Say) -> None:
    """With every attempt; and what is wrong with the call before anything is asked of the server."""
    says("no", "no", "no")
    with pytest.raises(OutputInvalid) as caught:
        pieces_of(driver, scripted, schema=TODO)
    assert len(caught.value.attempts) == 3
    asked = len(scripted.calls)
    with pytest.raises(SchemaError):
        pieces_of(driver, scripted, schema={"type": "nonsense"})
    assert len(scripted.calls) == asked


@driver
def test_leaving_the_loop_hangs_up(driver: str, scripted: ScriptedServer, says: Say) -> None:
    """The server's work ends with the connection."""
    says(lines({"message": {"role": "assistant", "content": "he"}, "done": False}).then(HANG))
    hung_up = scripted_hangup(scripted)
    if driver == "blocking":
        with Client(Settings(host=scripted.url)) as client:
            for piece in client.stream("m", "x"):
                assert piece == Delta("he")
                break
            assert hung_up()
        return

    async def run() -> None:
        async with AsyncClient(Settings(host=scripted.url)) as client:
            async for piece in client.stream("m", "x"):
                assert piece == Delta("he")
                break
            assert await asyncio.to_thread(hung_up)

    asyncio.run(run())


def scripted_hangup(server: ScriptedServer) -> Any:
    return lambda: server.seen("POST", "/api/chat")[0].hung_up.wait(10)


def test_a_large_object_costs_no_more_than_its_parts(scripted: ScriptedServer, says: Say) -> None:
    """A copy is made where there is something new, not for each piece that comes."""
    long = " ".join(map(str, range(2000)))
    says(chat(f'{{"tasks": ["{long}", "b"]}}', piece=5))
    with Client(Settings(host=scripted.url)) as client:
        shown = list(client.stream("m", "x", schema=TODO, options={"num_predict": 3000}))
    assert len(shown) < 8
