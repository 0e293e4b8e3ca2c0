"""`Client`: guarded calls that block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

from ollama_kit.client.calls import BaseClient, CallOptions, Counting, Documents, Messages
from ollama_kit.client.drive import Drive, Piece
from ollama_kit.client.embedding import BATCH, Embeddings, EmbedRequest, TooLong
from ollama_kit.errors import OllamaKitError
from ollama_kit.guard.exchange import Result
from ollama_kit.guard.policy import PolicyLike
from ollama_kit.guard.profile import Profile, profile_model
from ollama_kit.server.connection import connect_with
from ollama_kit.server.host import require_local
from ollama_kit.server.server import Server
from ollama_kit.server.wire import Call
from ollama_kit.settings import Settings

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Unpack

    from ollama_kit.guard.exchange import Hook


T = TypeVar("T")


class Client(BaseClient):
    """Guarded calls to the models of one Ollama server. Threads may share it; close it, or use it with `with`.

    `settings` say where the server is and what may leave this machine (default: the ones in force). `policy` holds
    for every call that names none; without it, that of the model's spec does. With `counting="exact"` every prompt is
    counted token by token, where "auto" is content with a bound that proves the fit. `hooks` are told each step.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        policy: PolicyLike | None = None,
        counting: Counting = "auto",
        hooks: Sequence[Hook] = (),
        server: Server | None = None,
    ) -> None:
        super().__init__(settings, policy, counting, hooks)
        self.server = server or Server(connect_with(self.settings))

    def chat(
        self,
        model: str,
        messages: Messages,
        *,
        documents: Documents = (),
        schema: Any = None,
        **how: Unpack[CallOptions],
    ) -> Result:
        """The model's checked answer. `messages` is a prompt, or turns oldest first, with `images` if need be;
        `documents` are untrusted texts; `schema` is a JSON Schema as dict or path, a pydantic model or a dataclass;
        `how` are `think`, `options` (Ollama's; num_predict bounds the answer), `tools`, `policy` and `reduce`.

        Raises ContextOverflow where the prompt does not fit, TurnsRefused where the model's template does not take the
        turns as they are, GuardBlocked where the policy refuses a text, OutputInvalid where no attempt was valid,
        ServerError where the server is at fault, RemoteHostRefused where the text would leave this machine unasked.
        """
        request = self._request(model, messages, documents, how)
        return self._result(self._drive(request, schema, how, self.profile))

    def extract(
        self, model: str, documents: Documents, schema: Any, *, prompt: str = "", **how: Unpack[CallOptions]
    ) -> Result:
        """What `schema` asks for, out of the documents; `prompt` says more where the schema's own words do not."""
        return self.chat(model, prompt or self._extraction_prompt(documents), documents=documents, schema=schema, **how)

    def generate(
        self, model: str, prompt: str, *, raw: bool = False, schema: Any = None, **how: Unpack[CallOptions]
    ) -> Result:
        """The answer to one prompt. `raw` sends it as it is, without the chat template: the caller has rendered it,
        its control tokens are their own, and `documents` are not taken."""
        request = self._request(model, () if raw else prompt, (), how, raw=prompt if raw else None)
        return self._result(self._drive(request, schema, how, self.profile))

    def stream(
        self,
        model: str,
        messages: Messages,
        *,
        documents: Documents = (),
        schema: Any = None,
        **how: Unpack[CallOptions],
    ) -> Iterator[Piece]:
        """The answer as it comes: Delta for text, with a schema Partial for the values that are complete, Restart
        where an attempt failed and what was yielded is void, and the checked Result as the last. Leaving the loop
        ends the server's work."""
        request = self._request(model, messages, documents, how)
        drive = self._drive(request, schema, how, self.profile, streamed=True)
        yield from self._pieces(drive)
        yield drive.result

    def embed(
        self,
        model: str,
        texts: Sequence[str] | str,
        *,
        batch: int = BATCH,
        too_long: TooLong = "error",
        policy: PolicyLike | None = None,
    ) -> Embeddings:
        """One vector a text, in their order, asked for `batch` at a time. The texts are untrusted and go through the
        policy's stages for messages, judge and audit included; each is counted, and one that does not fit the model's
        context is an error, or with `too_long="truncate"` cut at its end, which the report says. The server is told
        never to cut.

        Raises ContextOverflow and UsageError with the number of the text, else what `chat` raises.
        """
        request = EmbedRequest.of(model, texts, batch, too_long)
        return self._result(self._embedding(request, self.policy_for(model, policy), self.profile))

    def profile(self, model: str) -> Profile:
        """What is known of a model: facts, tokenizer and window; asked of the server once."""
        require_local(self.server.host, None, allow_remote=self.settings.allow_remote, model=model)
        with self._profiling(model):
            known = self._known_profile(model)
            if known is not None:
                return known
            found = self.server.run(profile_model(model, self.server.url, self.spec_for(model)))
            require_local(self.server.host, found.facts, allow_remote=self.settings.allow_remote)
            return self._keep_profile(model, found)

    def _result(self, drive: Drive[T]) -> T:
        for _ in self._pieces(drive):
            pass
        return drive.result

    def _pieces(self, drive: Drive[T]) -> Iterator[Piece]:
        """Drives a call to its end; the pieces of a streamed one as they come."""
        with closing(drive):
            for step in drive:
                try:
                    if isinstance(step, Call):
                        drive.reply(self.server.send(step))
                        continue
                    yield from drive.begin(step)
                    with self.server.stream(step.call) as lines:
                        for line in lines:
                            yield from drive.hear(step, line)
                            if drive.enough:
                                break
                except OllamaKitError as error:
                    drive.fail(error)

    def close(self) -> None:
        """Closes the connections, which ends calls that run in other threads, and the record of calls."""
        self.server.close()
        self._close_audit()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
