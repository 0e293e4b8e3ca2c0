"""A policy's scanners as stages: what goes in is scanned as it was given, what comes out before the caller sees it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal

from ollama_kit.errors import GuardBlocked
from ollama_kit.guard.scanners.library import require, stay_offline
from ollama_kit.guard.scanners.loaded import Limits, Loaded, load
from ollama_kit.guard.scanners.outcome import Outcome, Span, merged
from ollama_kit.guard.scanners.rules import ScannerConfig, ScannerRule
from ollama_kit.records.report import Finding
from ollama_kit.text.spans import Changed, Edit, apply

ANSWER = "answer"
FINDINGS = 100
"""Of one scanner in one text; what lies beyond is one finding more."""

Ready = tuple[tuple[ScannerRule, Loaded], ...]


@dataclass(frozen=True)
class Scanners:
    """The scanners of one call. The models are shared by the process; what Anonymize hid is this value's own."""

    input: Ready
    output: Ready
    limits: Limits
    vault: list[tuple[str, str]] = field(default_factory=list)

    def input_stage(self, text: str, source: str) -> tuple[Changed, tuple[Finding, ...]]:
        """The text with everything redacted that the policy says, and what was found. All scanners see the text as
        given. GuardBlocked if one that blocks found something, or if one could not judge."""
        return self._scan(self.input, text, "", source)

    def check_output(self, prompt: str, answer: str) -> tuple[str, tuple[Finding, ...]]:
        """The answer as the caller may see it, and what was found in it. `prompt` is what the answer was given to.
        GuardBlocked as for input. Names that Anonymize hid are put back first, and scanned too."""
        restoring = tuple(pair for pair in self.output if pair[0].scanner == "Deanonymize")
        others = tuple(pair for pair in self.output if pair[0].scanner != "Deanonymize")
        restored, _ = self._scan(restoring, answer, prompt, ANSWER)
        changed, findings = self._scan(others, restored.text, prompt, ANSWER)
        return changed.text, tuple(_moved(found, restored) for found in findings)

    def _scan(self, ready: Ready, text: str, prompt: str, source: str) -> tuple[Changed, tuple[Finding, ...]]:
        edits: list[Edit] = []
        findings: list[Finding] = []
        for rule, loaded in ready:
            outcome = loaded.ask(rule, text, prompt, self.vault, self.limits)
            findings += _findings(rule, outcome, source, len(text))
            if not outcome.failed or rule.on_fail == "redact":
                edits += outcome.edits
            if outcome.failed and (rule.on_fail == "block" or (rule.on_fail == "redact" and not outcome.edits)):
                raise _blocked(rule, outcome, source)
        return apply(text, merged(edits)), tuple(findings)


def load_scanners(config: ScannerConfig, clock: Callable[[], float] = time.monotonic) -> Scanners:
    """The scanners of a policy for one call, ready to run. The first time a scanner is asked for it is loaded, which
    takes seconds where it has a model. Without llm-guard, or without what a scanner needs, UsageError.

    >>> load_scanners(ScannerConfig()).input_stage("您好", "document 0")[0].text
    '您好'
    """
    if config.rules:
        require(config.rules)
        if not config.download:
            stay_offline()

    def ready(rules: Iterable[ScannerRule]) -> Ready:
        return tuple((rule, load(rule, config.download)) for rule in rules)

    return Scanners(ready(config.input), ready(config.output), Limits(config.max_chars, config.timeout_s, clock))


def _findings(rule: ScannerRule, outcome: Outcome, source: str, length: int) -> tuple[Finding, ...]:
    if outcome.unread:
        return (
            Finding(rule.name, rule.scanner, "info", "flagged", source, (0, length), f"not read: {outcome.unread}"),
        )
    if not outcome.failed:
        return ()
    action: Literal["flagged", "redacted"] = "redacted" if rule.on_fail == "redact" else "flagged"
    spans = outcome.spans or ((0, length),)

    def finding(span: Span, detail: str) -> Finding:
        return Finding(rule.name, rule.scanner, rule.kind.severity, action, source, span, detail)

    found = [finding(span, outcome.detail) for span in spans[:FINDINGS]]
    if len(spans) > FINDINGS:
        rest = (spans[FINDINGS][0], spans[-1][1])
        found.append(finding(rest, f"{outcome.detail}, in {len(spans) - FINDINGS:,} more places"))
    return tuple(found)


def _moved(found: Finding, restored: Changed) -> Finding:
    """The finding with its span in the answer as it came."""
    return replace(found, span=restored.map.span(*found.span))


def _blocked(rule: ScannerRule, outcome: Outcome, source: str) -> GuardBlocked:
    start, end = outcome.spans[0] if outcome.spans else (0, 0)
    reason = f"{source}: {rule.scanner} ({rule.name!r}), {outcome.detail}, characters {start} to {end}"
    hint = (
        ""
        if rule.on_fail == "block"
        else ("Nothing redacted would mend this; use block or flag.", "此项无法通过遮盖修正，请改用 block 或 flag。")
    )
    return GuardBlocked(f"refused by the guard: {reason}", stage=rule.name, reason=reason, hint=hint)
