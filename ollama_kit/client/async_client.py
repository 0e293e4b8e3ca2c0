"""`AsyncClient`: guarded calls for an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from ollama_kit.client.calls import BaseClient, CallOptions, Counting, Documents, Messages
from ollama_kit.client.drive import Drive, Piece
from ollama_kit.client.embedding import BATCH, Embeddings, EmbedRequest, TooLong
from ollama_kit.errors import OllamaKitError
from ollama_kit.guard.exchange import Result
from ollama_kit.guard.policy import PolicyLike
from ollama_kit.guard.profile import Profile, profile_model
from ollama_kit.server.async_server import AsyncServer
from ollama_kit.server.connection import connect_with
from ollama_kit.server.host import require_local
from ollama_kit.server.wire import Call
from ollama_kit.settings import Settings

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Unpack

    from ollama_kit.guard.exchange import Hook


T = TypeVar("T")


class AsyncClient(BaseClient):
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
        self,
        model: str,
        messages: Messages,
        *,
        documents: Documents = (),
        schema: Any = None,
        **how: Unpack[CallOptions],
    ) -> Result:
        """As `Client.chat`."""
        request = self._request(model, messages, documents, how)
        return await self._result(self._drive(request, schema, how, await self._profiles_for(model, schema, how)))

    async def extract(
        self, model: str, documents: Documents, schema: Any, *, prompt: str = "", **how: Unpack[CallOptions]
    ) -> Result:
        """As `Client.extract`."""
        asked = prompt or self._extraction_prompt(documents)
        return await self.chat(model, asked, documents=documents, schema=schema, **how)

    async def generate(
        self, model: str, prompt: str, *, raw: bool = False, schema: Any = None, **how: Unpack[CallOptions]
    ) -> Result:
        """As `Client.generate`."""
        request = self._request(model, () if raw else prompt, (), how, raw=prompt if raw else None)
        return await self._result(self._drive(request, schema, how, await self._profiles_for(model, schema, how)))

    async def stream(
        self,
        model: str,
        messages: Messages,
        *,
        documents: Documents = (),
        schema: Any = None,
        **how: Unpack[CallOptions],
    ) -> AsyncIterator[Piece]:
        """As `Client.stream`."""
        request = self._request(model, messages, documents, how)
        drive = self._drive(request, schema, how, await self._profiles_for(model, schema, how), streamed=True)
        async for piece in self._pieces(drive):
            yield piece
        yield drive.result

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
        request, chosen = EmbedRequest.of(model, texts, batch, too_long), self.policy_for(model, policy)
        return await self._result(
            self._embedding(request, chosen, await self._profiles_for(model, None, {"policy": policy}))
        )

    async def profile(self, model: str) -> Profile:
        """As `Client.profile`."""
        require_local(self.server.host, None, allow_remote=self.settings.allow_remote, model=model)
        async with self._asking.setdefault(model, asyncio.Lock()):
            known = self._known_profile(model)
            if known is not None:
                return known
            found = await self.server.run(profile_model(model, self.server.url, self.spec_for(model)))
            require_local(self.server.host, found.facts, allow_remote=self.settings.allow_remote)
            return self._keep_profile(model, found)

    async def _profiles_for(self, model: str, schema: Any, how: CallOptions) -> Callable[[str], Profile]:
        """Asks about a call's model, and its judge's, and gives what is known of them; says first what is wrong with
        the schema or the policy."""
        _, policy = self._checked(model, schema, how)
        names = (model,) if policy.judge is None else (policy.judge.model, model)
        known = {name: await self.profile(name) for name in names}
        return known.__getitem__

    async def _result(self, drive: Drive[T]) -> T:
        async for _ in self._pieces(drive):
            pass
        return drive.result

    async def _pieces(self, drive: Drive[T]) -> AsyncIterator[Piece]:
        """As `Client._pieces`."""
        with closing(drive):
            for step in drive:
                try:
                    if isinstance(step, Call):
                        drive.reply(await self.server.send(step))
                        continue
                    for restart in drive.begin(step):
                        yield restart
                    async with self.server.stream(step.call) as lines:
                        async for line in lines:
                            for piece in drive.hear(step, line):
                                yield piece
                            if drive.enough:
                                break
                except OllamaKitError as error:
                    drive.fail(error)

    async def aclose(self) -> None:
        """Closes the connections, and the record of calls."""
        await self.server.aclose()
        self._close_audit()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
