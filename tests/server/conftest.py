"""What the tests of `ollama_kit.server` share: a scripted server, and a way to ask it that does not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from ollama_kit.server import wire
from ollama_kit.server.async_server import AsyncServer
from ollama_kit.server.connection import Connection, Timeouts, connect
from ollama_kit.server.server import Server
from ollama_kit.server.transport import AsyncTransport, Transport
from tests.scripted import ScriptedServer


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    with ScriptedServer(models=("llama3.2:latest", "qwen3:4b")) as server:
        yield server


@dataclass
class Asker:
    """Sends a call one of three ways, with waits between attempts noted in `waits` instead of waited for."""

    kind: str
    waits: list[float] = field(default_factory=list)

    def __call__(self, url: str, call: wire.Call, **settings: Any) -> list[dict[str, Any]]:
        """The lines of the answer (of a plain call: one)."""
        connection = replace(connect(url, {}), **settings)
        if self.kind == "async":
            return asyncio.run(self._awaited(connection, call))
        with Server(connection, transport=self.transport(connection)) as server:
            if self.kind == "plain":
                return [server.send(call)]
            with server.stream(call) as lines:
                return list(lines)

    def transport(self, connection: Connection) -> Transport:
        return Transport(connection, sleep=self.waits.append, jitter=lambda: 0.0)

    async def _awaited(self, connection: Connection, call: wire.Call) -> list[dict[str, Any]]:
        async def note(seconds: float) -> None:
            self.waits.append(seconds)

        transport = AsyncTransport(connection, sleep=note, jitter=lambda: 0.0)
        async with AsyncServer(connection, transport=transport) as server, server.stream(call) as lines:
            return [line async for line in lines]


@pytest.fixture(params=["plain", "stream", "async"])
def ask(request: pytest.FixtureRequest) -> Asker:
    """The same question asked as a plain call, as a stream, and awaited: what it meets must be the same."""
    return Asker(request.param)


@pytest.fixture
def call_for(ask: Asker) -> Callable[..., wire.Call]:
    """A chat call of the way that `ask` asks."""

    def make(model: str = "m") -> wire.Call:
        body = {"model": model, "messages": [{"role": "user", "content": "hi"}], "stream": ask.kind != "plain"}
        return wire.chat(body)

    return make


IMPATIENT = Timeouts(connect_s=5, quick_s=0.2, first_s=0.2, between_s=0.2, long_s=0.2)
"""For a server that never answers: the one thing that must run into a limit."""
