"""Keeps a report readable: a document made of nothing but faults does not give a million findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ollama_kit.guard.report import Finding, Severity

MOST = 100
_RANK: dict[Severity, int] = {"info": 0, "low": 1, "medium": 2, "high": 3}


def bounded(findings: Iterable[Finding], most: int = MOST) -> tuple[Finding, ...]:
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
