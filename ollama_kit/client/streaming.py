"""An answer as it comes: pieces that are not checked yet, with hidden values put back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ollama_kit.guard.exchange import Listen
from ollama_kit.structured.partial import PartialJSON

LONGEST_HELD = 40  # characters: a placeholder or a broken token may have begun, and is not shown in halves


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
        self._read = 0
        self._held = ""
        self._partial = PartialJSON()
        self._shown: Any = None

    def begin(self, listen: Listen) -> Iterator[Restart]:
        """Forgets the attempt before; says so if there was one."""
        self._read, self._held, self._partial, self._shown = 0, "", PartialJSON(), None
        if listen.attempt > 1:
            yield Restart(listen.attempt)

    def pieces(self, listen: Listen) -> Iterator[Delta | Partial]:
        """What the lines heard since the last call give."""
        while self._read < listen.heard.lines:
            text = listen.heard.piece(self._read)
            self._read += 1
            yield from self._partials(text, listen) if self._structured else self._deltas(text, listen)
        if listen.heard.last and self._held:
            yield Delta(listen.restore(self._held))
            self._held = ""

    def _partials(self, text: str, listen: Listen) -> Iterator[Partial]:
        self._partial.feed(text)
        found = self._partial.snapshot()
        if found is not None and found != self._shown:
            self._shown = found
            yield Partial(listen.restore(found))

    def _deltas(self, text: str, listen: Listen) -> Iterator[Delta]:
        self._held += text
        safe = len(self._held)
        for opening in "[<":
            at = self._held.rfind(opening)
            if at >= 0 and len(self._held) - at < LONGEST_HELD and "]" not in self._held[at:]:
                safe = min(safe, at)
        ready, self._held = self._held[:safe], self._held[safe:]
        if ready:
            yield Delta(listen.restore(ready))
