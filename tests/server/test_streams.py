"""Streams: line by line as they come, however they are cut, and gone when the reader leaves."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest

from ollama_kit.server import AsyncServer, Server
from tests import scripted as say
from tests.scripted import ScriptedServer


def test_leaving_a_stream_hangs_up(scripted: ScriptedServer) -> None:
    """Who stops reading closes the connection, so the server stops its work; the next call works."""
    scripted.on("POST", "/api/chat", say.lines(*say.chat_values("hello there")[:1]).then(say.HANG))
    scripted.on("POST", "/api/chat", say.chat("again"))
    with Server.at(scripted.url, {}) as server:
        with server.chat({"model": "m", "messages": []}) as lines:
            assert next(lines)["message"]["content"] == "hello th"
        assert scripted.seen("POST", "/api/chat")[0].hung_up.wait(10)
        with server.chat({"model": "m", "messages": []}) as lines:
            assert list(lines)[-1]["done"]


def test_lines_arrive_as_they_are_sent(scripted: ScriptedServer) -> None:
    """A line is handed on before the next one exists."""
    go = threading.Event()
    first, *rest = (json.dumps(value).encode() + b"\n" for value in say.chat_values("hello there"))
    scripted.on("POST", "/api/chat", say.Reply(200, (first, say.Wait(go), *rest), framing="chunked"))
    with Server.at(scripted.url, {}) as server, server.chat({"model": "m"}) as lines:
        assert next(lines)["message"]["content"] == "hello th"
        go.set()
        assert list(lines)[-1]["done"]


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_any_cut_gives_the_same_lines(size: int, scripted: ScriptedServer) -> None:
    """Lines are put together whatever pieces they came in; U+2028 and CR inside a text end no line."""
    values = say.chat_values("合同\u2028第一条\r\n\u0085甲方 👩‍👩‍👧", piece=4)
    scripted.on("POST", "/api/chat", say.trickle(say.lines(*values), size))
    with Server.at(scripted.url, {}) as server, server.chat({"model": "m"}) as lines:
        assert list(lines) == values


def test_leaving_an_awaited_stream_hangs_up(scripted: ScriptedServer) -> None:
    """The same for an event loop, also when the task is cancelled."""
    scripted.always("POST", "/api/chat", say.lines(*say.chat_values("hello there")[:1]).then(say.HANG))

    async def leave(server: AsyncServer) -> None:
        async with server.chat({"model": "m"}) as lines:
            async for _ in lines:
                break

    async def stay(server: AsyncServer, started: asyncio.Event) -> None:
        async with server.chat({"model": "m"}) as lines:
            async for _ in lines:
                started.set()

    async def both() -> None:
        async with AsyncServer.at(scripted.url, {}) as server:
            await leave(server)
            started = asyncio.Event()
            task = asyncio.create_task(stay(server, started))
            await started.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(both())
    assert [seen.hung_up.wait(10) for seen in scripted.seen("POST", "/api/chat")] == [True, True]


def test_threads_share_a_server(scripted: ScriptedServer) -> None:
    """Many threads asking at once each get their own answer, over one transport."""
    scripted.always("POST", "/api/chat", lambda seen: say.chat(seen.json["model"] * 20)(seen))
    answers: dict[str, str] = {}

    def work(server: Server, name: str) -> None:
        with server.chat({"model": name}) as lines:
            answers[name] = "".join(line["message"]["content"] for line in lines)

    with Server.at(scripted.url, {}) as server:
        threads = [threading.Thread(target=work, args=(server, name)) for name in "abcdefgh"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert answers == {name: name * 20 for name in "abcdefgh"}
