"""Reads an answer: why it ended, what it says once hidden values are back, and whether that is what was asked for.

done reason → thinking apart → JSON found → values restored → schema → evidence → leaks
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from ollama_kit.guard.control_tokens import BREAK
from ollama_kit.guard.evidence import Sources, asks_for_evidence, locate_evidence, missing_evidence
from ollama_kit.guard.policy import Policy
from ollama_kit.guard.private.placeholders import Placeholders
from ollama_kit.guard.watch import Heard
from ollama_kit.records.report import Evidence, Finding, Outcome
from ollama_kit.structured.find import NotFound, find_json, strip_thinking
from ollama_kit.structured.schema import Schema
from ollama_kit.structured.validation import Problem, validate


@dataclass(frozen=True)
class Verdict:
    """What an attempt gave. `value` is the checked data where `outcome` is "valid"; where it is "schema" or
    "evidence" it is the data that has the `problems`; where it is "not_json", `missing` says what was read instead.
    `written` is the data, or the text that held none, in the model's own words, with nothing put back."""

    outcome: Outcome
    reason: str = ""
    value: Any = None
    written: Any = None
    text: str = ""
    thinking: str = ""
    problems: tuple[Problem, ...] = ()
    missing: NotFound | None = None
    evidence: tuple[Evidence, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Restorer:
    """Gives an answer the caller's own words back: the hidden values, and control tokens that were broken."""

    placeholders: Placeholders
    broken: frozenset[str] = frozenset()

    def __call__(self, value: Any) -> Any:
        """The same value with its texts restored, keys too."""
        return self.placeholders.restore(self._whole(value) if self.broken else value)

    def unfinished(self, text: str) -> int:
        """Where at the end of a text that still grows something may have begun that is to be restored whole; the
        text's length where nothing has."""
        beginnings, longest = self._beginnings
        first = max(0, len(text) - longest)
        return next((at for at in range(first, len(text)) if text[at:] in beginnings), len(text))

    @cached_property
    def _beginnings(self) -> tuple[frozenset[str], int]:
        """Every beginning of what is to be restored, and the length of the longest."""
        whole = (*self.placeholders.values, *(token[0] + BREAK + token[1:] for token in self.broken))
        beginnings = frozenset(text[:end] for text in whole for end in range(1, len(text)))
        return beginnings, max(map(len, beginnings), default=0)

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
    """Judges the answers of one call. `leaks` gives the findings in a text that must not come back; `scan` is the
    policy's output scanners, which may change the text or refuse it."""

    schema: Schema | None
    policy: Policy
    restore: Restorer
    sources: Sources
    leaks: Callable[[str], tuple[Finding, ...]]
    scan: Callable[[str], tuple[str, tuple[Finding, ...]]] | None = None

    def judge(self, heard: Heard) -> Verdict:
        """The verdict on what was heard."""
        inline, text = strip_thinking(heard.text)
        thinking = self.restore("\n".join(part for part in (heard.thinking, inline) if part))
        begun = Verdict("valid", text=self.restore(text), thinking=thinking)
        early = self._ended_early(heard, begun)
        if early is not None:  # a text that was cut may be what the caller gets
            return self._leaking(self._scanned(early)) if early.outcome == "length" and self.schema is None else early
        verdict = begun if self.schema is None or heard.tool_calls else self._json(text, begun, self.schema)
        if self.schema is None or heard.tool_calls:
            verdict = replace(verdict, value=verdict.text)
        return self._leaking(self._scanned(verdict))

    def _ended_early(self, heard: Heard, begun: Verdict) -> Verdict | None:
        if heard.timed_out:
            return replace(begun, outcome="timeout", reason="the time for this call was up")
        if heard.stopped:
            return replace(begun, outcome="runaway", reason=f"the answer ran away: {heard.stopped}")
        if heard.done_reason == "length":
            spent = " while it was still thinking" if begun.thinking and not begun.text.strip() else ""
            return replace(begun, outcome="length", reason=f"the answer was cut off{spent}")
        if not heard.last:
            why = heard.broken or "the stream ended without saying that it was done"
            return replace(begun, outcome="incomplete", reason=why)
        if not begun.text.strip() and not heard.tool_calls:
            return replace(begun, outcome="empty", reason="the answer is empty")
        return None

    def _json(self, text: str, begun: Verdict, schema: Schema) -> Verdict:
        """The first candidate that the whole schema accepts; where none is, the problems of the likeliest one."""
        found = find_json(text)
        if isinstance(found, NotFound):
            return replace(begun, outcome="not_json", reason=found.reason, missing=found, written=text)
        failed: list[Verdict] = []
        for candidate in found.candidates:
            try:
                value = self.restore(candidate.value)
            except RecursionError:
                deep = NotFound("JSON nested too deep", candidate.start)
                return replace(begun, outcome="not_json", reason=deep.reason, missing=deep, written=text)
            problems = validate(schema, value)
            if not problems:
                return self._proven(value, replace(begun, written=candidate.value), schema)
            wrong = replace(begun, outcome="schema", reason=problems[0].message, problems=problems)
            failed.append(replace(wrong, value=value, written=candidate.value))
        return failed[0]

    def _proven(self, value: Any, begun: Verdict, schema: Schema) -> Verdict:
        """A valid answer, with the places of its quotes."""
        evidence: tuple[Evidence, ...] = ()
        if asks_for_evidence(schema):
            evidence = locate_evidence(schema, value, self.sources)
            missing = missing_evidence(evidence)
            if missing and self.policy.evidence == "error":
                reason = missing[0].message
                return replace(begun, outcome="evidence", reason=reason, value=value, problems=missing)
        return replace(begun, value=schema.to_python(value), evidence=evidence)

    def _scanned(self, verdict: Verdict) -> Verdict:
        """The answer as the output scanners let it pass. Structured data that they changed is checked once more."""
        if self.scan is None or verdict.outcome not in ("valid", "length"):
            return verdict
        text, findings = self.scan(verdict.text)
        passed = replace(verdict, text=text, findings=(*verdict.findings, *findings))
        if text == verdict.text:
            return passed
        if isinstance(verdict.value, str) or self.schema is None:
            return replace(passed, value=text)
        return self._json(text, replace(passed, outcome="valid"), self.schema)

    def _leaking(self, verdict: Verdict) -> Verdict:
        if verdict.outcome not in ("valid", "length") or self.policy.leak == "off":
            return verdict
        findings = self.leaks(verdict.text)
        if findings and self.policy.leak == "error":
            what = "a fence's key" if findings[0].rule == "fence_key" else "the system prompt"
            return replace(verdict, outcome="leak", reason=f"the answer repeats {what}", findings=findings)
        return replace(verdict, findings=(*verdict.findings, *findings))
