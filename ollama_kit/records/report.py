"""What a guarded call did: every finding, figure, cut and attempt, as frozen values that print as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

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
    "prompt_cut",  # the server has evaluated a part of the prompt only
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
class Evidence:
    """One quote of an answer. `path` is a JSON Pointer to it; `document` counts from 0 and `span` is in characters of
    the caller's own text; both None where it was not found, or proves nothing. `count` says how often the quote is in
    all documents."""

    path: str
    quote: str
    document: int | None = None
    span: tuple[int, int] | None = None
    count: int = 0

    @property
    def found(self) -> bool:
        return self.span is not None


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
    policy_file: str = ""
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


MOST_FINDINGS = 100
"""Findings of one rule that a report lists: a document made of nothing but faults does not give a million."""
_RANK: dict[Severity, int] = {"info": 0, "low": 1, "medium": 2, "high": 3}


def capped(findings: Iterable[Finding], most: int = MOST_FINDINGS) -> tuple[Finding, ...]:
    """The findings in order of place, at most `most` of each rule and action: the last of them stands for all that
    follow, spans them and is as severe as the worst. Never holds more findings than it returns."""
    kept: list[Finding] = []
    seen: dict[tuple[str, str], int] = {}
    last: dict[tuple[str, str], int] = {}
    for finding in findings:
        kind = (finding.rule, finding.action)
        seen[kind] = seen.get(kind, 0) + 1
        if seen[kind] <= most:
            last[kind] = len(kept)
            kept.append(finding)
        else:
            kept[last[kind]] = _with(kept[last[kind]], finding)
    for rule_and_action, at in last.items():
        if (count := seen[rule_and_action]) > most:
            kept[at] = replace(kept[at], detail=f"{count - most + 1} places")
    return tuple(sorted(kept, key=lambda finding: finding.span))


def _with(first: Finding, other: Finding) -> Finding:
    severity = max(first.severity, other.severity, key=_RANK.__getitem__)
    return replace(
        first, severity=severity, span=(min(first.span[0], other.span[0]), max(first.span[1], other.span[1]))
    )
