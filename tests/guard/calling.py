"""Makes one guarded call in each of the four ways there are, so that a test can say that they end alike."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ollama_kit import AsyncClient, Client
from ollama_kit.client import Result
from ollama_kit.errors import OllamaKitError
from ollama_kit.server.async_server import AsyncServer
from ollama_kit.server.connection import Connection, Retry, Timeouts, connect_with
from ollama_kit.server.server import Server
from ollama_kit.settings import Settings
from tests.scripted import ScriptedServer

WAYS = ("chat", "stream", "awaited chat", "awaited stream")


@dataclass(frozen=True)
class Ended:
    """How a call ended: with a result or an error, and the outcome of each attempt."""

    result: Result | None
    error: OllamaKitError | None
    outcomes: tuple[str, ...]

    @property
    def value(self) -> Any:
        assert self.result is not None, self.error
        return self.result.value

    @property
    def code(self) -> str:
        return "" if self.error is None else self.error.code


class Clock:
    """A clock that moves on by `step` seconds each time it is looked at."""

    def __init__(self, step: float = 0.0) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def connection(scripted: ScriptedServer, timeouts: Timeouts | None = None) -> Connection:
    """To the scripted server, with no wait between two tries of a request."""
    made = connect_with(Settings(host=scripted.url))
    return replace(made, retry=Retry(first_s=0.0), timeouts=timeouts or made.timeouts)


def ask(
    way: str, scripted: ScriptedServer, *, clock: Callable[[], float] | None = None, hooks: Any = (), **call: Any
) -> Ended:
    """Makes a call one way; `call` are the arguments of `Client.chat` besides the model. Nothing is left running."""
    call.setdefault("messages", "todo?")
    settings = Settings(host=scripted.url)
    if way.startswith("awaited"):
        client = AsyncClient(settings, hooks=hooks, server=AsyncServer(connection(scripted)))
        work = _awaited
    else:
        client = Client(settings, hooks=hooks, server=Server(connection(scripted)))  # type: ignore[assignment]
        work = _blocking  # type: ignore[assignment]
    if clock is not None:
        client._context = replace(client._context, clock=clock)
    try:
        result = work(client, way.endswith("stream"), call)
    except OllamaKitError as error:
        return Ended(None, error, tuple(attempt.outcome for attempt in getattr(error, "attempts", ())))
    return Ended(result, None, tuple(attempt.outcome for attempt in result.report.attempts))


def _blocking(client: Client, streamed: bool, call: dict[str, Any]) -> Result:
    with client:
        if not streamed:
            return client.chat("m", **call)
        pieces = list(client.stream("m", **call))
    assert isinstance(pieces[-1], Result)
    return pieces[-1]


def _awaited(client: AsyncClient, streamed: bool, call: dict[str, Any]) -> Result:
    async def run() -> Result:
        try:
            async with client:
                if not streamed:
                    return await client.chat("m", **call)
                last = [piece async for piece in client.stream("m", **call)][-1]
                assert isinstance(last, Result)
                return last
        finally:
            assert asyncio.all_tasks() == {asyncio.current_task()}

    return asyncio.run(run())
