"""A policy's scanners as stages: input is scanned as it was given, output before the caller sees it.

Each scanner is made once per process, with a lock and limits, and shared by every policy that asks for the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Literal

from ollama_kit.errors import GuardBlocked, OllamaKitError
from ollama_kit.guard.scanners.config import ScannerConfig, ScannerRule
from ollama_kit.guard.scanners.delegated import fetched, personal
from ollama_kit.guard.scanners.learned import learned
from ollama_kit.guard.scanners.library import require, stay_offline
from ollama_kit.guard.scanners.matching import checks
from ollama_kit.guard.scanners.outcome import Check, OutOfTime, ScanDeadline, ScanOutcome, ScanRequest, Span, merged
from ollama_kit.records.report import Finding
from ollama_kit.text.spans import Changed, Edit, apply

_making = Lock()
_made: dict[tuple[ScannerRule, bool], LoadedScanner] = {}


@dataclass(frozen=True)
class ScannerLimits:
    """How long a text a scanner is given, and how long it may take for one, including the wait for others."""

    max_chars: int
    timeout_s: float
    clock: Callable[[], float]


@dataclass(frozen=True)
class LoadedScanner:
    """A scanner and its lock: neither llm-guard's scanners nor the models under them may be used twice at once."""

    check: Check
    lock: Lock = field(default_factory=Lock)

    def ask(
        self, rule: ScannerRule, text: str, prompt: str, vault: list[tuple[str, str]], limits: ScannerLimits
    ) -> ScanOutcome:
        """The scanner's answer. Whatever keeps it from giving one blocks the text: too long, too slow, an error."""
        longest = max(len(text), len(prompt) if rule.kind.reads == "pair" else 0)
        if longest > limits.max_chars:
            raise unanswered(rule, f"the text has {longest:,} characters; `max_chars` allows {limits.max_chars:,}")
        deadline = ScanDeadline(limits.clock, limits.clock() + limits.timeout_s)
        late = f"it took more than {limits.timeout_s:g} s"
        if not self.lock.acquire(timeout=limits.timeout_s):
            raise unanswered(rule, late)
        try:
            return self.check(ScanRequest(text, prompt, deadline, vault))
        except OllamaKitError:
            raise
        except (OutOfTime, TimeoutError) as problem:
            raise unanswered(rule, late) from problem
        except Exception as problem:  # a scanner that fails has not shown that the text is clean
            raise unanswered(rule, f"it failed with {type(problem).__name__}") from problem
        finally:
            self.lock.release()


def unanswered(rule: ScannerRule, why: str) -> GuardBlocked:
    """The refusal of a text that a scanner could not judge."""
    reason = f"{rule.scanner} ({rule.name!r}) gave no verdict: {why}"
    return GuardBlocked(
        f"refused by the guard: {reason}",
        stage=rule.name,
        reason=reason,
        hint=(
            (
                "A text that was not judged is not let through. Remove the scanner from the policy, or give it more "
                "room with `max_chars` and `timeout_s`."
            ),
            "未经判定的文本不会放行。可从策略中去掉该扫描器，或用 `max_chars`、`timeout_s` 放宽限制。",
        ),
    )


def load(rule: ScannerRule, download: bool) -> LoadedScanner:
    """The scanner of a rule; the same one for every rule that differs in its name or in what is done, only."""
    redacting = rule.on_fail == "redact" and rule.kind.need in ("model", "spacy")
    same = (replace(rule, name=rule.scanner, on_fail="redact" if redacting else "flag"), download)
    with _making:
        if same not in _made:
            _made[same] = LoadedScanner(_check(rule, download))
        return _made[same]


def _check(rule: ScannerRule, download: bool) -> Check:
    if rule.kind.need == "nothing":
        return checks()[rule.scanner](rule)
    if rule.kind.need == "model":
        return learned(rule)
    return personal(rule, download) if rule.kind.need == "spacy" else fetched(rule, download)


# The scanners of one call.


ANSWER = "answer"
FINDINGS = 100
"""Findings of one scanner in one text; the rest are one more finding."""

Ready = tuple[tuple[ScannerRule, LoadedScanner], ...]


@dataclass(frozen=True)
class Scanners:
    """The scanners of one call. The models are shared by the process; what Anonymize hid is this value's own."""

    input: Ready
    output: Ready
    limits: ScannerLimits
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
    takes seconds if it has a model. UsageError without llm-guard, or without what a scanner needs.

    >>> load_scanners(ScannerConfig()).input_stage("您好", "document 0")[0].text
    '您好'
    """
    if config.rules:
        require(config.rules)
        if not config.download:
            stay_offline()

    def ready(rules: Iterable[ScannerRule]) -> Ready:
        return tuple((rule, load(rule, config.download)) for rule in rules)

    return Scanners(ready(config.input), ready(config.output), ScannerLimits(config.max_chars, config.timeout_s, clock))


def _findings(rule: ScannerRule, outcome: ScanOutcome, source: str, length: int) -> tuple[Finding, ...]:
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


def _blocked(rule: ScannerRule, outcome: ScanOutcome, source: str) -> GuardBlocked:
    start, end = outcome.spans[0] if outcome.spans else (0, 0)
    reason = f"{source}: {rule.scanner} ({rule.name!r}), {outcome.detail}, characters {start} to {end}"
    hint = (
        ""
        if rule.on_fail == "block"
        else ("Redaction cannot fix this; use block or flag.", "此项无法通过遮盖修正，请改用 block 或 flag。")
    )
    return GuardBlocked(f"refused by the guard: {reason}", stage=rule.name, reason=reason, hint=hint)
