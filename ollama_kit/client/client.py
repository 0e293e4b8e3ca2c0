"""`Client`: guarded calls that block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ollama_kit.client.calls import Calls, Counting, Documents, How, Messages, Piece, result_of
from ollama_kit.client.embedding import BATCH, Embeddings, Order, TooLong, embed_texts
from ollama_kit.client.streaming import Streamer
from ollama_kit.errors import OllamaKitError
from ollama_kit.guard.exchange import Result
from ollama_kit.guard.flow import Steps
from ollama_kit.guard.policy import PolicyLike
from ollama_kit.guard.profile import Profile, profile_model
from ollama_kit.server.connection import connect_with
from ollama_kit.server.host import require_local
from ollama_kit.server.server import Server
from ollama_kit.settings import Settings

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Unpack

    from ollama_kit.guard.events import Hook


class Client(Calls):
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
        self, model: str, messages: Messages, *, documents: Documents = (), schema: Any = None, **how: Unpack[How]
    ) -> Result:
        """The model's checked answer. `messages` is a prompt, or turns oldest first, with `images` if need be;
        `documents` are untrusted texts; `schema` is a JSON Schema as dict or path, a pydantic model or a dataclass;
        `how` are `think`, `options` (Ollama's; num_predict bounds the answer), `tools`, `policy` and `reduce`.

        Raises ContextOverflow where the prompt does not fit, GuardBlocked where the policy refuses a text,
        OutputInvalid where no attempt was valid, ServerError where the server is at fault, RemoteHostRefused where
        the text would leave this machine unasked.
        """
        request = self.request(model, messages, documents, how)
        return self._drive(self.steps(request, schema, how, self.profile))

    def extract(self, model: str, documents: Documents, schema: Any, *, prompt: str = "", **how: Unpack[How]) -> Result:
        """What `schema` asks for, out of the documents; `prompt` says more where the schema's own words do not."""
        return self.chat(model, prompt or self.extraction_prompt(documents), documents=documents, schema=schema, **how)

    def generate(self, model: str, prompt: str, *, raw: bool = False, schema: Any = None, **how: Unpack[How]) -> Result:
        """The answer to one prompt. `raw` sends it as it is, without the chat template: the caller has rendered it,
        its control tokens are his own, and `documents` are not taken."""
        request = self.request(model, () if raw else prompt, (), how, raw=prompt if raw else None)
        return self._drive(self.steps(request, schema, how, self.profile))

    def stream(
        self, model: str, messages: Messages, *, documents: Documents = (), schema: Any = None, **how: Unpack[How]
    ) -> Iterator[Piece]:
        """The answer as it comes: Delta for text, with a schema Partial for the values that are complete, Restart
        where an attempt failed and what was yielded is void, and the checked Result as the last. Leaving the loop
        ends the server's work."""
        request = self.request(model, messages, documents, how)
        streamer = Streamer(schema is not None)
        steps = self.steps(request, schema, how, self.profile)
        try:
            listen = next(steps)
            while True:
                yield from streamer.begin(listen)
                try:
                    with self.server.stream(listen.call) as lines:
                        for line in lines:
                            stop = self.hear(listen, line)
                            yield from streamer.pieces(listen)
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
        policy's stages for messages; each is counted, and one that does not fit the model's context is an error, or
        with `too_long="truncate"` cut at its end, which the report says. The server is told never to cut.

        Raises ContextOverflow and UsageError with the number of the text, else what `chat` raises.
        """
        order, chosen = Order.of(model, texts, batch, too_long), self.policy_of(model, {"policy": policy})
        return self.server.run(embed_texts(order, self.profile(model), chosen, self._around.clock))

    def profile(self, model: str) -> Profile:
        """What is known of a model: facts, tokenizer and window; asked of the server once."""
        require_local(self.server.host, None, allow_remote=self.settings.allow_remote)
        with self.profiling(model):
            known = self.known_profile(model)
            if known is not None:
                return known
            found = self.server.run(profile_model(model, self.server.url, self.spec(model)))
            require_local(self.server.host, found.facts, allow_remote=self.settings.allow_remote)
            return self.keep_profile(model, found)

    def _drive(self, steps: Steps) -> Result:
        try:
            listen = next(steps)
            while True:
                try:
                    with self.server.stream(listen.call) as lines:
                        for line in lines:
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

    def close(self) -> None:
        """Closes the connections, which ends calls that run in other threads, and the record of calls."""
        self.server.close()
        self.close_audit()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
