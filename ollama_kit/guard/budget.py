"""What one guarded call may spend in all: attempts, seconds, and tokens of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ollama_kit.records.report import Attempt
from ollama_kit.server.wire import Deadline


class Limits(Protocol):
    """The limits of a policy; None is no limit."""

    @property
    def attempts(self) -> int: ...
    @property
    def max_seconds(self) -> float | None: ...
    @property
    def max_tokens(self) -> int | None: ...


@dataclass(frozen=True)
class CallBudget:
    """The policy's `attempts`, `max_seconds` and `max_tokens`, for a call that began at `started`."""

    policy: Limits
    clock: Callable[[], float]
    started: float

    def out_of_time(self) -> bool:
        """Whether the call's time is up."""
        most = self.policy.max_seconds
        return most is not None and self.clock() - self.started >= most

    def deadline(self) -> Deadline | None:
        """When a request that goes out now has to be answered; None where there is no such bound."""
        most = self.policy.max_seconds
        if most is None:
            return None
        return Deadline(max(0.001, most - (self.clock() - self.started)), self.out_of_time)

    def bounded(self, answer_tokens: int | None, attempts: Sequence[Attempt]) -> int | None:
        """The bound of the next answer: the caller's, and never more than what is left; None where neither is."""
        most = self.policy.max_tokens
        left = None if most is None else max(1, most - _spent(attempts))
        return min((bound for bound in (answer_tokens, left) if bound is not None), default=None)

    def spent(self, attempts: Sequence[Attempt]) -> bool:
        """Whether there is nothing left for another attempt."""
        most = self.policy.max_tokens
        tokens_gone = most is not None and _spent(attempts) >= most
        return len(attempts) >= self.policy.attempts or tokens_gone or self.out_of_time()


def _spent(attempts: Sequence[Attempt]) -> int:
    """Tokens generated so far; an answer that was hung up on is counted by its bytes, which is no less."""
    return sum(attempt.answer_tokens or _bytes(attempt.reply + attempt.thinking) for attempt in attempts)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
