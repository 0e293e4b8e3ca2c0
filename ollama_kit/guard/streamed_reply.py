"""Listens to an answer as it comes, and says when to hang up: a model that runs away never comes back by itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ollama_kit.structured.thinking import TAGS, Tags

BLANKS = 128  # blanks in a row that no layout needs
LOOKS = ((480, 8), (2880, 6))
"""(characters at the end of a text, how often they must repeat the same part to be a circle): short parts soon, long
lines later. A look comes each tenth of its length, so that the work stays linear."""
TAIL = max(length for length, _ in LOOKS)


@dataclass
class RunawayDetector:
    """Notices when a text has begun to run in circles. Fed piece by piece; work is linear in the text."""

    blanks: int = 0
    seen: int = 0
    tail: str = ""

    def feed(self, piece: str) -> str | None:
        """The reason to stop after this piece, or None."""
        stripped = piece.rstrip()
        self.blanks = len(piece) - len(stripped) + (0 if stripped else self.blanks)
        if self.blanks >= BLANKS:
            return f"{self.blanks} blanks in a row"
        self.tail = (self.tail + piece)[-TAIL:]
        before, self.seen = self.seen, self.seen + len(piece)
        for length, repeats in LOOKS:
            if self.seen < length or before * 10 // length == self.seen * 10 // length:
                continue
            period = shortest_period(self.tail[-length:])
            if period * repeats <= length:
                return f"{self.tail[-period:].strip()[:40]!r} again and again"
        return None


def shortest_period(text: str) -> int:
    """The least p such that `text[i] == text[i - p]` from i = p to the end; its length if it repeats nothing.

    The prefix function of Knuth, Morris and Pratt (1977), in one pass.

    >>> shortest_period("abcabcab"), shortest_period("abcd")
    (3, 4)
    """
    border = [0] * len(text)
    for at in range(1, len(text)):
        length = border[at - 1]
        while length and text[at] != text[length]:
            length = border[length - 1]
        border[at] = length + (text[at] == text[length])
    return len(text) - (border[-1] if border else 0)


class StreamedReply:
    """What a streamed answer has said so far. `feed` takes each line of the stream and is True when to hang up.

    `out_of_time` says, when asked, whether the call's time is up; after `most_lines` the server has forgotten how
    long the answer may be. `thinking_tags` are what the model's thinking is written between. `characters` counts text
    and thinking. `broken` is set to the reason where the stream broke.
    """

    def __init__(
        self,
        watch: RunawayDetector | None = None,
        out_of_time: Callable[[], bool] = lambda: False,
        most_lines: int | None = None,
        thinking_tags: Tags = TAGS,
    ) -> None:
        self.thinking_tags = thinking_tags
        self._watch, self._out_of_time, self._most_lines = watch, out_of_time, most_lines
        self._text: list[str] = []
        self._thinking: list[str] = []
        self.characters = 0
        self.tool_calls: list[Mapping[str, Any]] = []
        self.last: Mapping[str, Any] = {}
        self.stopped: str | None = None
        self.timed_out = False
        self.broken = ""

    def feed(self, line: Mapping[str, Any]) -> bool:
        if self.last:  # what comes after the end is no part of the answer
            return True
        message = line.get("message") or {}
        piece = message.get("content") or line.get("response") or ""
        thought = message.get("thinking") or line.get("thinking") or ""
        self._text.append(piece)
        self._thinking.append(thought)
        self.characters += len(piece) + len(thought)
        self.tool_calls += message.get("tool_calls") or ()
        if line.get("done"):
            self.last = line
            return False
        if self._out_of_time():
            self.give_up()
        elif self._most_lines is not None and self.lines > self._most_lines:
            self.stopped = "more came than was asked for"
        elif self._watch:
            self.stopped = self._watch.feed(thought + piece)
        return self.stopped is not None

    def give_up(self) -> None:
        """The time for the call is up."""
        self.timed_out, self.stopped = True, "the time for this call is up"

    def piece(self, at: int) -> str:
        """The text of line `at` of the stream."""
        return self._text[at]

    @property
    def lines(self) -> int:
        """How many lines have come."""
        return len(self._text)

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def thinking(self) -> str:
        return "".join(self._thinking)

    @property
    def done_reason(self) -> str:
        """The server's word on why it ended ("stop", "length"); "hung up" where we did, empty where it never said."""
        return "hung up" if self.stopped else str(self.last.get("done_reason", "stop" if self.last else ""))
