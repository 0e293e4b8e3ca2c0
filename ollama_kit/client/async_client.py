"""`AsyncClient`: guarded calls for an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any

from ollama_kit.client.calls import Calls, Counting, Documents, How, Messages, Piece, result_of
from ollama_kit.client.embedding import BATCH, Embeddings, Order, TooLong, embed_texts
from ollama_kit.client.streaming import Streamer
from ollama_kit.errors import OllamaKitError, UsageError
from ollama_kit.guard.conversation import Request
from ollama_kit.guard.exchange import Result
from ollama_kit.guard.flow import Steps
from ollama_kit.guard.policy import PolicyLike
from ollama_kit.guard.profile import Profile, profile_model
from ollama_kit.server.async_server import AsyncServer
from ollama_kit.server.connection import connect_with
from ollama_kit.server.host import require_local
from ollama_kit.settings import Settings

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Unpack

    from ollama_kit.guard.events import Hook


class AsyncClient(Calls):
    """`Client` for an event loop. Cancelling a call closes its connection, and so ends the server's work on it."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        policy: PolicyLike | None = None,
        counting: Counting = "auto",
        hooks: Sequence[Hook] = (),
        server: AsyncServer | None = None,
    ) -> None:
        super().__init__(settings, policy, counting, hooks)
        self.server = server or AsyncServer(connect_with(self.settings))
        self._asking: dict[str, asyncio.Lock] = {}

    async def chat(
        self, model: str, messages: Messages, *, documents: Documents = (), schema: Any = None, **how: Unpack[How]
    ) -> Result:
        """As `Client.chat`."""
        request = self.request(model, messages, documents, how)
        return await self._drive(await self._steps(request, schema, how))

    async def extract(
        self, model: str, documents: Documents, schema: Any, *, prompt: str = "", **how: Unpack[How]
    ) -> Result:
        """As `Client.extract`."""
        asked = prompt or self.extraction_prompt(documents)
        return await self.chat(model, asked, documents=documents, schema=schema, **how)

    async def generate(
        self, model: str, prompt: str, *, raw: bool = False, schema: Any = None, **how: Unpack[How]
    ) -> Result:
        """As `Client.generate`."""
        request = self.request(model, () if raw else prompt, (), how, raw=prompt if raw else None)
        return await self._drive(await self._steps(request, schema, how))

    async def stream(
        self, model: str, messages: Messages, *, documents: Documents = (), schema: Any = None, **how: Unpack[How]
    ) -> AsyncIterator[Piece]:
        """As `Client.stream`."""
        request = self.request(model, messages, documents, how)
        streamer = Streamer(schema is not None)
        steps = await self._steps(request, schema, how)
        try:
            listen = next(steps)
            while True:
                for restart in streamer.begin(listen):
                    yield restart
                try:
                    async with self.server.stream(listen.call) as lines:
                        async for line in lines:
                            stop = self.hear(listen, line)
                            for piece in streamer.pieces(listen):
                                yield piece
                            if stop:
                                break
                except OllamaKitError as error:
                    listen = steps.throw(error)
                else:
                    listen = steps.send(None)
        except StopIteration as done:
            yield result_of(done)
        finally:
            steps.close()  # a call that is left ends here, whenever its generator would be collected

    async def embed(
        self,
        model: str,
        texts: Sequence[str] | str,
        *,
        batch: int = BATCH,
        too_long: TooLong = "error",
        policy: PolicyLike | None = None,
    ) -> Embeddings:
        """As `Client.embed`."""
        order, chosen = Order.of(model, texts, batch, too_long), self.policy_of(model, {"policy": policy})
        return await self.server.run(embed_texts(order, await self.profile(model), chosen, self._around.clock))

    async def profile(self, model: str) -> Profile:
        """As `Client.profile`."""
        require_local(self.server.host, None, allow_remote=self.settings.allow_remote)
        async with self._asking.setdefault(model, asyncio.Lock()):
            known = self.known_profile(model)
            if known is not None:
                return known
            found = await self.server.run(profile_model(model, self.server.url, self.spec(model)))
            require_local(self.server.host, found.facts, allow_remote=self.settings.allow_remote)
            return self.keep_profile(model, found)

    async def _steps(self, request: Request, schema: Any, how: How) -> Steps:
        _, policy = self.checked(request.model, schema, how)  # before anything is asked of the server
        if policy.judge is not None:
            await self.profile(policy.judge.model)
        await self.profile(request.model)
        return self.steps(request, schema, how, self._asked)

    def _asked(self, model: str) -> Profile:
        known = self.known_profile(model)
        if known is None:
            raise UsageError(f"{model} has not been asked for")
        return known

    async def _drive(self, steps: Steps) -> Result:
        try:
            listen = next(steps)
            while True:
                try:
                    async with self.server.stream(listen.call) as lines:
                        async for line in lines:
                            if self.hear(listen, line):
                                break
                except OllamaKitError as error:
                    listen = steps.throw(error)
                else:
                    listen = steps.send(None)
        except StopIteration as done:
            return result_of(done)
        finally:
            steps.close()  # a call that is left ends here, whenever its generator would be collected

    async def aclose(self) -> None:
        """Closes the connections, and the record of calls."""
        await self.server.aclose()
        self.close_audit()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
