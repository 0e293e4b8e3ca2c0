"""The input stages of a policy, in the order in which a text goes through them.

    every untrusted text      normalize → llm-guard's scanners → private data → control tokens
    documents besides         … → injection → … → markup (and the fence, when the turns are laid out)

Normalizing comes first, so that nothing hides from the rules. Private data and injection are sought before control
tokens are broken, in the words as they were written; breaking comes after everything that removes or replaces, so that
no token can form from what is left. Markup is disarmed last: what it inserts is invisible and makes no token.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from ollama_kit.errors import GuardBlocked
from ollama_kit.guard.control_tokens import ControlTokens, neutralize_control_tokens
from ollama_kit.guard.injection.screen import DEFAULT_THRESHOLD, screen_injection
from ollama_kit.guard.markup import disarm_markup
from ollama_kit.guard.normalize import normalize_text
from ollama_kit.guard.passage import Passage, Stage
from ollama_kit.guard.policy import Policy
from ollama_kit.guard.private.placeholders import Placeholders
from ollama_kit.guard.private.redaction import redact_private_data
from ollama_kit.guard.private.rules import PERSONAL, SECRETS
from ollama_kit.guard.scanners.running import Scanners
from ollama_kit.records.report import Finding
from ollama_kit.text.spans import Changed


@dataclass(frozen=True)
class Guards:
    """The stages of one call. `placeholders` are the call's own: the same value is hidden alike in all its texts."""

    policy: Policy
    tokens: ControlTokens
    placeholders: Placeholders
    scanners: Scanners | None = None

    def message(self, text: str, source: str) -> Passage:
        """A message that is not trusted, after its stages."""
        return Passage(text, source).through((*self._first(), *self._breaking()))

    def document(self, text: str, source: str) -> Passage:
        """A text from outside, after all stages."""
        return Passage(text, source).through(
            (*self._first(), *self._screening(), *self._breaking(), *self._disarming())
        )

    def _first(self) -> tuple[Stage, ...]:
        normalizing = (normalize_text,) if self.policy.normalize == "on" else ()
        private = (self._private,) if (self.policy.secrets, self.policy.personal) != ("off", "off") else ()
        scanners = (self.scanners.input_stage,) if self.scanners else ()
        return (*normalizing, *scanners, *private)

    def _screening(self) -> tuple[Stage, ...]:
        action = self.policy.injection
        if action == "off":
            return ()
        threshold = self.policy.injection_threshold
        level = DEFAULT_THRESHOLD if threshold is None else threshold
        return (partial(screen_injection, action=action, threshold=level),)  # type: ignore[arg-type]

    def _breaking(self) -> tuple[Stage, ...]:
        return (partial(_broken, tokens=self.tokens),) if self.policy.control_tokens == "break" else ()

    def _disarming(self) -> tuple[Stage, ...]:
        return (disarm_markup,) if self.policy.markup == "disarm" else ()

    def _private(self, text: str, source: str) -> tuple[Changed, tuple[Finding, ...]]:
        words = {SECRETS: self.policy.secrets, PERSONAL: self.policy.personal}

        def kinds(*actions: str) -> frozenset[str]:
            return frozenset().union(*(chosen for chosen, word in words.items() if word in actions))

        blocked = kinds("block")
        changed, findings = redact_private_data(
            text, source, self.placeholders, redact=kinds("redact"), flag=kinds("flag") | blocked
        )
        hit = next((found for found in findings if found.detail.partition(":")[0] in blocked), None)
        if hit is not None:
            raise _blocked(replace(hit, action="blocked"))
        return changed, findings


def _broken(text: str, source: str, tokens: ControlTokens) -> tuple[Changed, tuple[Finding, ...]]:
    return neutralize_control_tokens(text, tokens, source)


def _blocked(finding: Finding) -> GuardBlocked:
    reason = (
        f"{finding.source} holds {finding.detail} ({finding.rule}, characters {finding.span[0]} to {finding.span[1]})"
    )
    return GuardBlocked(
        f"refused by the guard: {reason}",
        stage=finding.stage,
        reason=reason,
        hint=(
            "Take it out of the text, or let the policy redact it instead of blocking.",
            "请从文本中删去，或在策略中把处理方式改为 redact。",
        ),
    )
