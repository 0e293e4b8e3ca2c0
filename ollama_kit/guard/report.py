"""What a guarded call did: every finding, figure, cut and attempt, as frozen values that print as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from ollama_kit.guard.evidence import Evidence

Severity = Literal["info", "low", "medium", "high"]
Action = Literal["flagged", "neutralized", "redacted", "removed", "fenced", "blocked", "converted"]
CountKind = Literal["exact", "bound", "approximate"]
Outcome = Literal[
    "valid",  # the schema holds, the evidence is there
    "schema",  # JSON that the schema does not allow
    "not_json",  # no JSON, or half of it
    "evidence",  # a quote that stands in no document
    "leak",  # the system prompt or a fence's key came back
    "length",  # cut off by num_predict
    "empty",  # nothing but thinking, or nothing at all
    "runaway",  # blanks or repetition without end; we hung up
    "incomplete",  # the stream ended without saying that it was done
    "timeout",  # the call's own time was up; we hung up
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
    evidence: tuple[Evidence, ...] = ()
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
