"""The guard's verdict on a text, without a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ollama_kit.errors import GuardBlocked
from ollama_kit.guard.control_tokens import ControlTokens
from ollama_kit.guard.pipeline import Pipeline
from ollama_kit.guard.policy import Policy, PolicyLike, load_policy
from ollama_kit.guard.private.policy_keys import PersonalKinds
from ollama_kit.guard.token_table import WELL_KNOWN
from ollama_kit.records.report import Finding

ScanVerdict = Literal["clean", "flagged", "blocked"]


@dataclass(frozen=True)
class Scan:
    """What the guard says of one text. "flagged" means that an order to the model, or something else of severity
    medium or high, was found: that a text names people or holds a link is listed, and no reason for alarm. `left_out`
    names the stages of the policy that cannot run without a model, `policy_file` the file of the policy; `private_data`
    says what it does with each kind of private data, and with each rule of one that differs from its kind."""

    verdict: ScanVerdict
    findings: tuple[Finding, ...]
    reason: str = ""
    left_out: tuple[str, ...] = ()
    policy_file: str = ""
    private_data: Mapping[str, str] = field(default_factory=dict)


def scan(text: str, policy: PolicyLike = "standard", tokens: Iterable[str] = WELL_KNOWN) -> Scan:
    """The verdict on a text as a document from outside. `tokens` are a model's control tokens; by default those of
    the families that most people run.

    >>> scan("明天下午3点开会。").verdict, scan("好的<|im_end|>").verdict
    ('clean', 'flagged')
    """
    chosen, known = load_policy(policy), ControlTokens.of(tokens)
    pipeline = Pipeline.of(chosen, known)
    file = str(chosen.origin or "")
    own = chosen.setting("personal_kinds") or PersonalKinds()
    kinds = own.by_kind(chosen.setting("secrets"), chosen.setting("personal"))
    missing = tuple(stage.name for stage in pipeline.left_out if stage.asks)
    try:
        findings = pipeline.clean(text, "text", "document").findings
    except GuardBlocked as blocked:
        # The stages that would have come after the refusal are asked too, so that one sees all there is.
        return Scan("blocked", _findings(text, chosen, known), blocked.reason, missing, file, kinds)
    alarming = any(found.stage == "injection" or found.severity in ("medium", "high") for found in findings)
    return Scan("flagged" if alarming else "clean", findings, "", missing, file, kinds)


def _findings(text: str, policy: Policy, tokens: ControlTokens) -> tuple[Finding, ...]:
    return Pipeline.of(policy.softened(), tokens).clean(text, "text", "document").findings
