"""What a call tells while it runs: to hooks as values, to `logging` without any text."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ollama_kit.errors import OllamaKitError
from ollama_kit.guard.conversation import Request
from ollama_kit.records.report import Attempt, CountKind, Finding, Report

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
        return self.attempts[-1].outcome if self.report is not None and self.attempts else "abandoned"


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
