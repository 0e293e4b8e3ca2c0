"""The guarded calls: `Client` blocks, `AsyncClient` awaits, and both drive the same flow."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from ollama_kit.errors import OllamaKitError, SpecNotFound, UsageError
from ollama_kit.guard.conversation import DocumentLike, MessageLike, Request, documents_from, messages_from
from ollama_kit.guard.fence import Fence
from ollama_kit.guard.flow import Result, Surroundings, guarded_chat
from ollama_kit.guard.profile import Profile, profile_model
from ollama_kit.server.awaited import AsyncServer
from ollama_kit.server.connection import connect_with
from ollama_kit.server.locality import require_local
from ollama_kit.server.session import Server
from ollama_kit.settings import Settings, load_settings
from ollama_kit.specs import find_spec, load_spec
from ollama_kit.structured.schema import Schema, load_schema

if TYPE_CHECKING:
    from types import TracebackType

    from ollama_kit.specs.model import ModelSpec

__all__ = ["AsyncClient", "Client", "Result"]

Messages = str | Sequence[MessageLike] | MessageLike
Documents = Sequence[DocumentLike] | DocumentLike
Counting = Literal["auto", "exact"]


class _Calls:
    """What both clients share: settings, the fence's secret, and the profiles of the models asked so far."""

    def __init__(self, settings: Settings | None, attempts: int, counting: Counting) -> None:
        if attempts < 1:
            raise UsageError(f"attempts must be at least 1, not {attempts}")
        self.settings = settings or load_settings()
        self.attempts = attempts
        self._profiles: dict[str, Profile] = {}
        self._lock = Lock()
        self._around = Surroundings(
            fence=Fence(secrets.token_bytes(16)),
            clock=time.monotonic,
            draw_seed=lambda: secrets.randbelow(2**31 - 1) + 1,
            count_exactly=counting == "exact",
        )

    def request(
        self,
        model: str,
        messages: Messages,
        documents: Documents,
        think: bool | None,
        options: Mapping[str, Any] | None,
    ) -> Request:
        """The call as one value. `options` are Ollama's; num_predict bounds the answer, num_ctx is the spec's."""
        given = dict(options or {})
        if "num_ctx" in given:
            raise UsageError(
                "num_ctx is not an option of a call: another value would make the server load the model anew",
                hint="Set `context` in the model's spec and build it.",
            )
        bound = given.pop("num_predict", None)
        if bound is not None and (not isinstance(bound, int) or isinstance(bound, bool) or bound < 1):
            raise UsageError(f"num_predict must be a whole number of tokens above 0, not {bound!r}")
        spec = spec_of(model)
        return Request(
            model=model,
            messages=messages_from(messages),
            documents=documents_from(documents),
            think=spec.thinking if think is None and spec else think,
            options=given,
            answer_tokens=bound,
            attempts=self.attempts,
        )

    def known_profile(self, model: str) -> Profile | None:
        with self._lock:
            return self._profiles.get(model)

    def keep_profile(self, model: str, profile: Profile) -> Profile:
        require_local(self._host, profile.facts, allow_remote=self.settings.allow_remote)
        with self._lock:
            return self._profiles.setdefault(model, profile)

    @property
    def _host(self) -> Any:
        raise NotImplementedError


def spec_of(model: str) -> ModelSpec | None:
    """The spec that a MODEL argument names, None where it is only a model on the server."""
    try:
        find_spec(model)
    except SpecNotFound:
        return None
    return load_spec(model)


class Client(_Calls):
    """Guarded calls to the models of one Ollama server. Threads may share it; close it, or use it with `with`.

    `settings` say where the server is and what may leave this machine (default: the ones in force). `attempts` are
    the tries in all of each call. With `counting="exact"` every prompt is counted token by token, where "auto" is
    content with a bound that proves the fit.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        attempts: int = 3,
        counting: Counting = "auto",
        server: Server | None = None,
    ) -> None:
        super().__init__(settings, attempts, counting)
        self.server = server or Server(connect_with(self.settings))

    def chat(
        self,
        model: str,
        messages: Messages,
        *,
        documents: Documents = (),
        schema: Any = None,
        think: bool | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Result:
        """The model's checked answer. `messages` is a prompt, or turns oldest first; `documents` are untrusted texts;
        `schema` is a JSON Schema as dict or path, a pydantic model or a dataclass.

        Raises ContextOverflow where the prompt does not fit, OutputInvalid where no attempt was valid, ServerError
        where the server is at fault, RemoteHostRefused where the text would leave this machine unasked.
        """
        request = self.request(model, messages, documents, think, options)
        checked = _schema(schema)
        steps = guarded_chat(request, self.profile(model), checked, self._around)
        try:
            listen = next(steps)
            while True:
                try:
                    with self.server.stream(listen.call) as lines:
                        for line in lines:
                            if listen.heard.feed(line):
                                break
                except OllamaKitError as error:
                    listen = steps.throw(error)
                else:
                    listen = steps.send(None)
        except StopIteration as done:
            return _result(done)

    def profile(self, model: str) -> Profile:
        """What is known of a model: facts, tokenizer and window; asked of the server once."""
        require_local(self.server.host, None, allow_remote=self.settings.allow_remote)
        known = self.known_profile(model)
        return known or self.keep_profile(model, self.server.run(profile_model(model, self.server.url, spec_of(model))))

    @property
    def _host(self) -> Any:
        return self.server.host

    def close(self) -> None:
        """Closes the connections."""
        self.server.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(_Calls):
    """`Client` for an event loop. Cancelling a call closes its connection, and so ends the server's work on it."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        attempts: int = 3,
        counting: Counting = "auto",
        server: AsyncServer | None = None,
    ) -> None:
        super().__init__(settings, attempts, counting)
        self.server = server or AsyncServer(connect_with(self.settings))

    async def chat(
        self,
        model: str,
        messages: Messages,
        *,
        documents: Documents = (),
        schema: Any = None,
        think: bool | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Result:
        """As `Client.chat`."""
        request = self.request(model, messages, documents, think, options)
        checked = _schema(schema)
        steps = guarded_chat(request, await self.profile(model), checked, self._around)
        try:
            listen = next(steps)
            while True:
                try:
                    async with self.server.stream(listen.call) as lines:
                        async for line in lines:
                            if listen.heard.feed(line):
                                break
                except OllamaKitError as error:
                    listen = steps.throw(error)
                else:
                    listen = steps.send(None)
        except StopIteration as done:
            return _result(done)

    async def profile(self, model: str) -> Profile:
        """As `Client.profile`."""
        require_local(self.server.host, None, allow_remote=self.settings.allow_remote)
        known = self.known_profile(model)
        return known or self.keep_profile(
            model, await self.server.run(profile_model(model, self.server.url, spec_of(model)))
        )

    @property
    def _host(self) -> Any:
        return self.server.host

    async def aclose(self) -> None:
        """Closes the connections."""
        await self.server.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _schema(schema: Any) -> Schema | None:
    return None if schema is None else load_schema(schema)


def _result(done: StopIteration) -> Result:
    result: Result = done.value
    return result
