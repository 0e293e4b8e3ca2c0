"""Reads an answer: why it ended, what it says once hidden values are back, and whether that is what was asked for.

done reason → thinking apart → JSON found → values restored → schema → evidence → leaks
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ollama_kit.guard.control_tokens import BREAK
from ollama_kit.guard.evidence import Evidence, Sources, asks_for_evidence, locate_evidence, missing_evidence
from ollama_kit.guard.policy import Policy
from ollama_kit.guard.private.placeholders import Placeholders
from ollama_kit.guard.report import Finding, Outcome
from ollama_kit.guard.watch import Heard
from ollama_kit.structured.feedback import failing_part, feedback, feedback_on_no_json
from ollama_kit.structured.find import NotFound, find_json, strip_thinking
from ollama_kit.structured.schema import Schema
from ollama_kit.structured.validate import Problem, validate


@dataclass(frozen=True)
class Verdict:
    """What an attempt gave. `value` is the checked data where `outcome` is "valid"; where it is "schema" or
    "evidence" it is the data that has the `problems`; where it is "not_json", `missing` says what was read instead."""

    outcome: Outcome
    reason: str = ""
    value: Any = None
    text: str = ""
    thinking: str = ""
    problems: tuple[Problem, ...] = ()
    missing: NotFound | None = None
    evidence: tuple[Evidence, ...] = ()
    findings: tuple[Finding, ...] = ()

    def feedback(self, language: str) -> str:
        """What the model is told before it tries again, in "zh" or "en"; empty where there is nothing to mend."""
        if self.missing is not None:
            return feedback_on_no_json(self.missing, self.text, language=language)
        if not self.problems:
            return ""
        return feedback(self.problems, failing_part(self.value, self.problems[0].path), language=language)


@dataclass(frozen=True)
class Restorer:
    """Gives an answer the caller's own words back: the hidden values, and control tokens that were broken."""

    placeholders: Placeholders
    broken: frozenset[str] = frozenset()

    def __call__(self, value: Any) -> Any:
        """The same value with its texts restored, keys too."""
        return self.placeholders.restore(self._whole(value) if self.broken else value)

    def _whole(self, value: Any) -> Any:
        if isinstance(value, str):
            if BREAK in value:
                for token in self.broken:
                    value = value.replace(token[0] + BREAK + token[1:], token)
            return value
        if isinstance(value, dict):
            return {self._whole(key): self._whole(inner) for key, inner in value.items()}
        return [self._whole(item) for item in value] if isinstance(value, list) else value


@dataclass(frozen=True)
class Reader:
    """Judges the answers of one call. `leaks` gives the findings in a text that must not come back."""

    schema: Schema | None
    policy: Policy
    restore: Restorer
    sources: Sources
    leaks: Callable[[str], tuple[Finding, ...]]

    def judge(self, heard: Heard) -> Verdict:
        """The verdict on what was heard."""
        inline, text = strip_thinking(heard.text)
        thinking = self.restore("\n".join(part for part in (heard.thinking, inline) if part))
        begun = Verdict("valid", text=self.restore(text), thinking=thinking)
        early = self._ended_early(heard, begun)
        if early is not None:
            return early
        verdict = begun if self.schema is None or heard.tool_calls else self._json(text, begun, self.schema)
        if self.schema is None or heard.tool_calls:
            verdict = replace(verdict, value=verdict.text)
        return self._leaking(verdict)

    def _ended_early(self, heard: Heard, begun: Verdict) -> Verdict | None:
        if heard.timed_out:
            return replace(begun, outcome="timeout", reason="the time for this call was up")
        if heard.stopped:
            return replace(begun, outcome="runaway", reason=f"the answer ran away: {heard.stopped}")
        if heard.done_reason == "length":
            spent = " while it was still thinking" if begun.thinking and not begun.text.strip() else ""
            return replace(begun, outcome="length", reason=f"the answer was cut off{spent}")
        if not heard.last:
            return replace(begun, outcome="incomplete", reason="the stream ended without saying that it was done")
        if not begun.text.strip() and not heard.tool_calls:
            return replace(begun, outcome="empty", reason="the answer is empty")
        return None

    def _json(self, text: str, begun: Verdict, schema: Schema) -> Verdict:
        """The first candidate that the whole schema accepts; where none is, the problems of the likeliest one."""
        found = find_json(text)
        if isinstance(found, NotFound):
            return replace(begun, outcome="not_json", reason=found.reason, missing=found)
        failed: list[Verdict] = []
        for candidate in found.candidates:
            value = self.restore(candidate.value)
            problems = validate(schema, value)
            if not problems:
                return self._proven(value, begun, schema)
            failed.append(replace(begun, outcome="schema", reason=problems[0].message, value=value, problems=problems))
        return failed[0]

    def _proven(self, value: Any, begun: Verdict, schema: Schema) -> Verdict:
        """A valid answer, with the places of its quotes."""
        evidence: tuple[Evidence, ...] = ()
        if asks_for_evidence(schema.document):
            evidence = locate_evidence(schema.document, value, self.sources)
            missing = missing_evidence(evidence)
            if missing and self.policy.evidence == "error":
                reason = missing[0].message
                return replace(begun, outcome="evidence", reason=reason, value=value, problems=missing)
        return replace(begun, value=schema.to_python(value), evidence=evidence)

    def _leaking(self, verdict: Verdict) -> Verdict:
        if verdict.outcome != "valid" or self.policy.leak == "off":
            return verdict
        findings = self.leaks(verdict.text)
        if findings and self.policy.leak == "error":
            what = "a fence's key" if findings[0].rule == "fence_key" else "the system prompt"
            return replace(verdict, outcome="leak", reason=f"the answer repeats {what}", findings=findings)
        return replace(verdict, findings=findings)
