"""What a call tells while it runs: to hooks as values, to `logging` without any text."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ollama_kit.guard.report import Attempt, CountKind, Finding

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


Event = Cleaned | Measured | Asked | Streamed | Answered
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
    return f"attempt {event.attempt.number}: {event.attempt.outcome} after {event.attempt.seconds:.1f} s"
