"""An answer as it comes: pieces that are not checked yet, with hidden values put back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ollama_kit.guard.exchange import Listen
from ollama_kit.structured.find import strip_thinking
from ollama_kit.structured.partial import PartialJSON

THINK, END_OF_THOUGHT = "<think>", "</think>"
_BLANK = " \t\r\n\ufeff"


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
        self._opening = True  # nothing but blanks and thinking has come
        self._held = ""
        self._partial = PartialJSON()
        self._shown: Any = None

    def begin(self, listen: Listen) -> Iterator[Restart]:
        """Forgets the attempt before; says so if there was one."""
        self._forget()
        if listen.attempt > 1:
            yield Restart(listen.attempt)

    def pieces(self, listen: Listen) -> Iterator[Delta | Partial]:
        """What the lines heard since the last call give."""
        if listen.aside:
            return
        show = self._partials if self._structured else self._deltas
        while self._read < listen.heard.lines:
            text = listen.heard.piece(self._read)
            self._read += 1
            if said := self._said(text):
                yield from show(said, listen)
        if listen.heard.last and self._held and not self._structured:
            rest = strip_thinking(self._held)[1] if self._opening else self._held
            self._held = ""
            if rest:
                yield Delta(listen.restore(rest))

    def _said(self, text: str) -> str:
        """What a piece of text says once the thinking in front of an answer is over; empty before."""
        if not self._opening:
            return text
        tail = self._held[-len(END_OF_THOUGHT) :]
        self._held += text
        start = self._held.lstrip(_BLANK)
        if len(start) < len(THINK) and THINK.startswith(start):
            return ""
        if start.startswith(THINK):
            if END_OF_THOUGHT not in tail + text:
                return ""
            rest = strip_thinking(self._held)[1]
            if not rest or THINK.startswith(rest[: len(THINK)]):
                return ""
            self._held = rest
        self._opening = False
        said, self._held = self._held, ""
        return said

    def _partials(self, text: str, listen: Listen) -> Iterator[Partial]:
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

    def _deltas(self, text: str, listen: Listen) -> Iterator[Delta]:
        """The text but for an end that may be half of something hidden."""
        self._held += text
        safe = listen.restore.unfinished(self._held)
        ready, self._held = self._held[:safe], self._held[safe:]
        if ready:
            yield Delta(listen.restore(ready))
