"""A guarded call on its way, with no input or output of its own: what to send next, and the pieces of the answer as
they come, not checked yet, with hidden values put back.

`Client` and `AsyncClient` each have one loop over a `Drive`; everything that both have to do alike is here.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ollama_kit.errors import OllamaKitError
from ollama_kit.guard.exchange import Hook, ModelCall, Result, Streamed
from ollama_kit.guard.private.restoring import RestoredStream
from ollama_kit.server.wire import JSON, Call
from ollama_kit.structured.partial import PartialJSON
from ollama_kit.structured.thinking import Tags, closes, longest_closing, read_thinking, strip_thinking

T = TypeVar("T")
Steps = Generator[ModelCall | Call, Any, T]
"""A call's flow: yields what to send, a streamed question to a model or one request, and is sent the reply to a
request."""


@dataclass(frozen=True)
class Delta:
    """The next piece of a text."""

    text: str


@dataclass(frozen=True)
class Partial:
    """The values of the answer that are complete so far."""

    value: Any


@dataclass(frozen=True)
class Restart:
    """The last attempt failed: what was yielded since the one before is void."""

    attempt: int


class Streamer:
    """Turns the lines of each attempt into pieces. `structured`: partial values, else text."""

    def __init__(self, structured: bool) -> None:
        self._structured = structured
        self._forget()

    def _forget(self) -> None:
        self._read = 0
        self._opening = True  # nothing but white space and thinking has come
        self._thinks = False  # and thinking has begun
        self._held = ""
        self._stream: RestoredStream | None = None
        self._partial = PartialJSON()
        self._shown: Any = None

    def begin(self, listen: ModelCall) -> Iterator[Restart]:
        """Forgets the attempt before; says so if there was one."""
        self._forget()
        if listen.attempt > 1:
            yield Restart(listen.attempt)

    def pieces(self, listen: ModelCall) -> Iterator[Delta | Partial]:
        """What the lines heard since the last call give."""
        if listen.aside:
            return
        show = self._partials if self._structured else self._deltas
        while self._read < listen.heard.lines:
            text = listen.heard.piece(self._read)
            self._read += 1
            if said := self._said(text, listen.heard.thinking_tags):
                yield from show(said, listen)
        if listen.heard.last and self._held and not self._structured:
            rest = strip_thinking(self._held, listen.heard.thinking_tags)[1]
            self._held = ""
            yield from self._deltas(rest, listen)
        if listen.heard.last and self._stream is not None and (rest := self._stream.rest()):
            yield Delta(rest)

    def _said(self, text: str, tags: Tags) -> str:
        """What a piece of text says once the thinking in front of an answer is over; empty before."""
        if not self._opening:
            return text
        tail = self._held[-longest_closing(tags) :]
        self._held += text
        if self._thinks and not closes(tail + text, tags):  # nothing that could end it has come
            return ""
        read = read_thinking(self._held, tags, ended=False)
        self._thinks = read.is_open and not read.rest
        if read.is_open or (read.thinking and not read.rest) or not self._held.strip():
            return ""
        self._opening, self._held = False, ""
        return read.rest

    def _partials(self, text: str, listen: ModelCall) -> Iterator[Partial]:
        """The values so far, wherever there are more. Nothing is shown of what is nested too deep to be read."""
        try:
            self._partial.feed(text)
            if self._partial.value is None or self._partial.value == self._shown:
                return
            self._shown = self._partial.snapshot()
            shown = listen.restore(self._shown)
        except RecursionError:
            return
        yield Partial(shown)

    def _deltas(self, text: str, listen: ModelCall) -> Iterator[Delta]:
        """The text but for an end that may be half of something hidden, or whose place is not known yet."""
        if self._stream is None:
            self._stream = listen.restore.stream()
        if ready := self._stream.feed(text):
            yield Delta(ready)


class Drive(Generic[T]):
    """One call. Iterate over what it yields, and for each step either `reply` with the server's answer to a request, or
    hand every line of a streamed answer to `hear` until `enough`; tell it of an error with `fail`. `result` is there
    when the iteration has ended. Closing it ends the flow, wherever it is."""

    result: T

    def __init__(self, steps: Steps[T], hooks: Sequence[Hook] = (), streamer: Streamer | None = None) -> None:
        self._steps, self._hooks, self._streamer = steps, hooks, streamer
        self._begun = False
        self._reply: JSON | None = None
        self._error: OllamaKitError | None = None
        self.enough = False

    def __iter__(self) -> Iterator[ModelCall | Call]:
        return self

    def __next__(self) -> ModelCall | Call:
        reply, error = self._reply, self._error
        self._reply, self._error, self.enough = None, None, False
        try:
            if not self._begun:
                self._begun = True
                return next(self._steps)
            return self._steps.send(reply) if error is None else self._steps.throw(error)
        except StopIteration as done:
            self.result = done.value
            raise

    def begin(self, call: ModelCall) -> Iterator[Restart]:
        """What a caller who sees the answer grow is shown before its first line."""
        return self._streamer.begin(call) if self._streamer else iter(())

    def hear(self, call: ModelCall, line: Mapping[str, Any]) -> Iterator[Delta | Partial]:
        """Takes a line of the answer, and gives the pieces that are new."""
        self.enough = call.heard.feed(line)
        for hook in () if call.aside else self._hooks:
            hook(Streamed(call.attempt, call.heard.characters))
        return self._streamer.pieces(call) if self._streamer else iter(())

    def reply(self, reply: JSON) -> None:
        """The server's answer to a request."""
        self._reply = reply

    def fail(self, error: OllamaKitError) -> None:
        """What went wrong with the step; raised inside the flow, which may bear it."""
        self._error = error

    def close(self) -> None:
        """Ends the flow: a call that is left ends here, whenever its generator would be collected."""
        self._steps.close()


Piece = Delta | Partial | Restart | Result
"""What a streamed call yields: pieces as they come, not yet checked, and the checked Result as the last."""
