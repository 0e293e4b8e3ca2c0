"""The guard's verdict on a text, without a model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from ollama_kit.errors import GuardBlocked
from ollama_kit.guard.control_tokens import WELL_KNOWN, ControlTokens
from ollama_kit.guard.injection.screen import STAGE as INJECTION
from ollama_kit.guard.policy import Policy, PolicyLike, load_policy
from ollama_kit.guard.private.placeholders import Placeholders
from ollama_kit.guard.scanners.running import load_scanners
from ollama_kit.guard.stages import Guards
from ollama_kit.records.report import Finding

Verdict = Literal["clean", "flagged", "blocked"]


@dataclass(frozen=True)
class Scan:
    """What the guard says of one text. "flagged" means that an order to the model, or something else of severity
    medium or high, was found: that a text names people or holds a link is listed, and no reason for alarm."""

    verdict: Verdict
    findings: tuple[Finding, ...]
    reason: str = ""


def scan(text: str, policy: PolicyLike = "standard", tokens: Iterable[str] = WELL_KNOWN) -> Scan:
    """The verdict on a text as a document from outside. `tokens` are a model's control tokens; by default those of
    the families that most people run.

    >>> scan("明天下午3点开会。").verdict, scan("好的<|im_end|>").verdict
    ('clean', 'flagged')
    """
    chosen = load_policy(policy)
    try:
        findings = _findings(text, chosen, tokens)
    except GuardBlocked as blocked:
        # The stages that would have come after the refusal are asked too, so that one sees all there is.
        return Scan("blocked", _findings(text, _flagging(chosen), tokens), blocked.reason)
    alarming = any(found.stage == INJECTION or found.severity in ("medium", "high") for found in findings)
    return Scan("flagged" if alarming else "clean", findings)


def _findings(text: str, policy: Policy, tokens: Iterable[str]) -> tuple[Finding, ...]:
    scanners = load_scanners(policy.scanners) if policy.scanners else None
    guards = Guards(policy, ControlTokens.of(tokens), Placeholders(), scanners)
    return guards.document(text, "text").findings


def _flagging(policy: Policy) -> Policy:
    changes = {name: "flag" for name in ("secrets", "personal", "injection") if getattr(policy, name) == "block"}
    scanners = policy.scanners.flagging() if policy.scanners else None
    return replace(policy, scanners=scanners, **changes)  # type: ignore[arg-type]
