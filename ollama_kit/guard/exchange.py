"""What goes between a guarded call and those around it: the calls that a driver sends, the result, and what hooks are
told.

Hooks get values; `logging` gets lines without a word of any text.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ollama_kit.errors import OllamaKitError, OutputInvalid
from ollama_kit.guard.conversation import Request
from ollama_kit.guard.fence import Fence
from ollama_kit.guard.private.restoring import Restorer
from ollama_kit.guard.streamed_reply import StreamedReply
from ollama_kit.records.report import Attempt, CountKind, Evidence, Finding, Report
from ollama_kit.server.wire import Call

LOGGER = logging.getLogger("ollama_kit.guard")


@dataclass(frozen=True)
class Cleaned:
    """The texts went through their stages."""

    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Measured:
    """The prompt fits."""

    predicted_tokens: int
    predicted_as: CountKind
    answer_tokens: int
    dropped_tokens: int


@dataclass(frozen=True)
class Asked:
    """A request goes out."""

    attempt: int
    seed: int


@dataclass(frozen=True)
class Streamed:
    """A part of the answer came: `characters` so far."""

    attempt: int
    characters: int


@dataclass(frozen=True)
class Answered:
    """An attempt ended."""

    attempt: Attempt


@dataclass(frozen=True)
class Finished:
    """A call ended, and how. With a `report` it gave `answer`; with an `error` it did not, or the policy made an empty
    result of it; with neither the caller left before the end. `findings`, `attempts` and `seconds` are there in each
    case, as far as the call came. `request` holds the caller's own texts: a hook that keeps it keeps them."""

    request: Request
    report: Report | None
    answer: str
    error: OllamaKitError | None
    digest: str
    host: str
    policy: str = ""
    findings: tuple[Finding, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        """ "valid"; the code of the error; "length" for an answer that the caller's own bound cut; "abandoned"."""
        if self.error is not None:
            return self.error.code
        if self.report is None:
            return "abandoned"
        return self.attempts[-1].outcome if self.attempts else "valid"  # an embedding has no attempts


Event = Cleaned | Measured | Asked | Streamed | Answered | Finished
Hook = Callable[[Event], None]


def announce(event: Event, hooks: Sequence[Hook]) -> None:
    """Tells all hooks, and the log."""
    if LOGGER.isEnabledFor(logging.DEBUG):
        LOGGER.debug(_line(event))
    for hook in hooks:
        hook(event)


def _line(event: Event) -> str:
    """An event without a word of any text."""
    if isinstance(event, Cleaned):
        return "findings: " + (", ".join(sorted({f"{found.stage}/{found.rule}" for found in event.findings})) or "none")
    if isinstance(event, Measured):
        return f"prompt of {event.predicted_tokens} tokens ({event.predicted_as}), room for {event.answer_tokens}"
    if isinstance(event, Asked):
        return f"attempt {event.attempt}, seed {event.seed}"
    if isinstance(event, Streamed):
        return f"attempt {event.attempt}: {event.characters} characters so far"
    if isinstance(event, Finished):
        return f"finished: {event.verdict} after {event.seconds:.1f} s"
    return f"attempt {event.attempt.number}: {event.attempt.outcome} after {event.attempt.seconds:.1f} s"


@dataclass(frozen=True)
class ModelCall:
    """A call to send, and the ear that its lines go to, until `heard.feed` says that it has heard enough. `restore`
    gives a finished part of the answer the caller's own words back. What is heard `aside` is no part of the answer: a
    judge was asked."""

    call: Call
    heard: StreamedReply
    attempt: int
    restore: Restorer
    aside: bool = False


@dataclass(frozen=True)
class Result:
    """A valid answer. `value` is the checked data (or an instance of the class that was the schema); without a
    schema it is the text. `evidence` tells where each quote stands in the caller's documents. `complete` is False
    for text that the caller's own bound cut, and for the empty result of `on_failure: empty`; `failure` is then the
    error that would have been raised."""

    value: Any
    text: str
    thinking: str
    report: Report
    complete: bool = True
    tool_calls: tuple[Any, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    failure: OutputInvalid | None = None


Reduce = Callable[[Sequence[Result]], Any]
"""Makes one value of the results of all parts, first part first."""


@dataclass(frozen=True)
class CallContext:
    """What the flow takes from outside: the client's fence, a clock in seconds, a source of seeds, who wants to be
    told, whether to count exactly even where a bound proves that the prompt fits, and what makes one value of the
    results of a text that was read in parts (the context rule `map_reduce`)."""

    fence: Fence
    clock: Callable[[], float]
    draw_seed: Callable[[], int]
    hooks: tuple[Hook, ...] = ()
    count_exactly: bool = False
    reduce: Reduce | None = None
