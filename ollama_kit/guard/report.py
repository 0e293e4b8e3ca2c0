"""What a guarded call did: every finding, figure, cut and attempt, as frozen values that print as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Severity = Literal["info", "low", "medium", "high"]
Action = Literal["flagged", "neutralised", "redacted", "removed", "fenced", "blocked"]
CountKind = Literal["exact", "bound", "approximate"]
Outcome = Literal[
    "valid", "schema", "not_json", "length", "empty", "runaway", "evidence", "leak", "refused", "incomplete"
]


@dataclass(frozen=True)
class Finding:
    """Something a stage found. `span` is (start, end) in characters of the text the caller gave as `source`:
    "message 0", "document 2", "answer"."""

    stage: str
    rule: str
    severity: Severity
    action: Action
    source: str
    span: tuple[int, int]
    detail: str = ""


@dataclass(frozen=True)
class Attempt:
    """One request and what became of it. Times are seconds; tokens are the server's own counts, None if it gave
    none. `request_sha256` identifies the request without keeping its text."""

    number: int
    outcome: Outcome
    reason: str
    reply: str
    thinking: str = ""
    done_reason: str = ""
    request_sha256: str = ""
    seed: int | None = None
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Report:
    """The whole account of one guarded call."""

    model: str
    host: str
    context_tokens: int
    context_from: str
    predicted_tokens: int
    predicted_as: CountKind
    counted_tokens: int | None
    answer_tokens: int | None
    policy: str = "standard"
    findings: tuple[Finding, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    attempts: tuple[Attempt, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def prediction_held(self) -> bool | None:
        """Whether the server counted what was predicted (for a bound: at most that); None if it did not count."""
        if self.counted_tokens is None:
            return None
        if self.predicted_as == "exact":
            return self.counted_tokens == self.predicted_tokens
        return self.counted_tokens <= self.predicted_tokens

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data for JSON."""
        return {**asdict(self), "prediction_held": self.prediction_held}
