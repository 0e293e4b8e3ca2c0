"""`AsyncServer`: one Ollama server for an event loop. The same calls, flows and errors as `Server`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping
from contextlib import aclosing, asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ollama_kit.errors import OllamaKitError, ServerRefused
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.server import flows, wire
from ollama_kit.server.connection import Connected, Connection
from ollama_kit.server.facts import InstalledModel, ModelFacts, RunningModel
from ollama_kit.server.wire import JSON, Call, Flow, T

if TYPE_CHECKING:
    import httpx


class AsyncServer(Connected):
    """One Ollama server. Nothing is opened before the first call; close it with `async with` or `aclose()`."""

    def __init__(self, connection: Connection, *, transport: httpx.AsyncBaseTransport | None = None) -> None:
        super().__init__(connection)
        self._transport = transport
        self._version: ServerVersion | None = None

    # -- driving

    async def send(self, call: Call) -> JSON:
        """The JSON that answers a call; of a stream its last line."""
        if call.stream:
            last: JSON = {}
            async with self.stream(call) as lines:
                async for line in lines:
                    last = line
            return last
        async with self._opened(call) as response:
            return self._answer(call).whole(await response.aread())

    @asynccontextmanager
    async def stream(self, call: Call) -> AsyncIterator[AsyncIterator[JSON]]:
        """The lines of a streamed answer, as they come. Leaving the block closes the connection, which makes the
        server stop its work; reading to the end checks that the answer is whole."""
        async with self._opened(call) as response, aclosing(self._lines(call, response)) as lines:
            yield lines

    async def run(self, flow: Flow[T]) -> T:
        """What a flow returns, with each of its calls sent; a call that fails is raised inside it."""
        try:
            call = next(flow)
            while True:
                try:
                    reply = await self.send(call)
                except OllamaKitError as error:
                    call = flow.throw(error)
                else:
                    call = flow.send(reply)
        except StopIteration as stop:
            result: T = stop.value
            return result

    # -- asking

    async def version(self) -> ServerVersion:
        """The server's version, asked once."""
        if self._version is None:
            self._version = await self.run(flows.version(self.url))
        return self._version

    async def models(self) -> tuple[InstalledModel, ...]:
        """What is installed, newest first."""
        return await self.run(flows.models(self.url))

    async def running(self) -> tuple[RunningModel, ...]:
        """What is loaded."""
        return await self.run(flows.running(self.url))

    async def show(self, name: str, *, verbose: bool = False, installed: Iterable[InstalledModel] = ()) -> ModelFacts:
        """The facts of a model; with `verbose` also its vocabulary and per-layer counts (megabytes). `installed`
        spares asking for the digest where `models()` was just called."""
        return await self.run(flows.show(name, self.url, verbose=verbose, installed=installed))

    async def embed(
        self, model: str, texts: list[str], *, options: Mapping[str, Any] | None = None
    ) -> list[list[float]]:
        """One vector per text, in their order."""
        return await self.run(flows.embed(model, texts, options, self.url))

    @asynccontextmanager
    async def chat(self, body: Mapping[str, Any]) -> AsyncIterator[AsyncIterator[JSON]]:
        """The lines of /api/chat with that body."""
        async with self.stream(wire.chat({**body, "stream": True})) as lines:
            yield lines

    async def unload(self, model: str) -> None:
        """Frees the memory a model takes; nothing happens if it is not loaded."""
        await self.send(wire.unload(model))

    # -- closing

    async def aclose(self) -> None:
        """Closes the connections; the next call opens new ones."""
        client = self.__dict__.pop("_http", None)
        if client is not None:
            await client.aclose()

    async def __aenter__(self) -> AsyncServer:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    # -- below

    @cached_property
    def _http(self) -> httpx.AsyncClient:
        import httpx

        from ollama_kit.server.transport import AsyncTransport

        return httpx.AsyncClient(transport=self._transport or AsyncTransport(self.connection), trust_env=False)

    @asynccontextmanager
    async def _opened(self, call: Call) -> AsyncIterator[httpx.Response]:
        try:
            response = await self._http.send(self._request(call), stream=True)
        except ServerRefused as error:
            if error.status == 404 and call.model:
                raise await self.run(flows.model_missing(call.model, self.url)) from error
            raise
        try:
            yield response
        finally:
            await response.aclose()

    async def _lines(self, call: Call, response: httpx.Response) -> AsyncGenerator[JSON, None]:
        answer = self._answer(call)
        async for data in response.aiter_bytes():
            for line in answer.feed(data):
                yield line
        for line in answer.close():
            yield line
