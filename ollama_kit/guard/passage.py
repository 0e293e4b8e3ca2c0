"""A text on its way through the guard's stages, which can always say where each character came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ollama_kit.records.report import Evidence, Finding, Outcome
from ollama_kit.structured.validation import Problem
from ollama_kit.text.spans import Changed, SpanMap

TextKind = Literal["user", "turn", "argument", "tool", "document", "name", "raw", "answer"]
"""What a text is in a call: what a user wrote; any other turn that is not trusted; an argument of a tool's call; a
tool's result; a document; a document's name; a prompt that is sent as it is; the model's answer."""

MESSAGES: frozenset[TextKind] = frozenset({"user", "turn", "argument"})
OUTSIDE: frozenset[TextKind] = frozenset({"tool", "document", "name"})
"""Texts that nobody in the conversation wrote."""
INPUTS = MESSAGES | OUTSIDE
ANSWER: frozenset[TextKind] = frozenset({"answer"})


@dataclass(frozen=True)
class Passage:
    """`text` as it is now. `maps`, first stage first, lead back to the `given_characters` of the text that the caller
    gave as `source`. `fence_key` is the key of the markers around it, if any.

    An answer has besides what was read in it: the `value`, and while `outcome` is "valid" or "length" it may be given;
    `fail` sets another one, with its `reason` and the `problems` that a model can be told of.
    """

    text: str
    source: str
    kind: TextKind
    given_characters: int
    maps: tuple[SpanMap, ...] = ()
    findings: tuple[Finding, ...] = ()
    fence_key: str = ""
    value: Any = None
    outcome: Outcome = "valid"
    reason: str = ""
    problems: tuple[Problem, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @classmethod
    def of(cls, text: str, source: str, kind: TextKind) -> Passage:
        """A text as the caller gave it, or an answer as it came."""
        return cls(text, source, kind, len(text))

    @property
    def usable(self) -> bool:
        """Whether nothing has failed yet."""
        return self.outcome in ("valid", "length")

    def change(self, changed: Changed, findings: Sequence[Finding] = ()) -> Passage:
        """This passage with a changed text, and with what was found, in spans of the text before the change."""
        maps = self.maps if changed.text is self.text else (*self.maps, changed.map)
        located = tuple(map(self.located, findings))
        return replace(self, text=changed.text, maps=maps, findings=(*self.findings, *located))

    def flag(self, *findings: Finding) -> Passage:
        """This passage with more findings, in spans of its text."""
        return replace(self, findings=(*self.findings, *map(self.located, findings))) if findings else self

    def fail(self, outcome: Outcome, reason: str, problems: Sequence[Problem] = ()) -> Passage:
        """An answer that must not be given; whether it is tried again depends on the outcome."""
        return replace(self, outcome=outcome, reason=reason, problems=tuple(problems))

    def located(self, finding: Finding) -> Finding:
        """A finding in this text, with its span in the caller's own."""
        return replace(finding, span=self.original(finding.span)) if self.maps else finding

    def original(self, span: tuple[int, int]) -> tuple[int, int]:
        """The span in the caller's own text of a span in this one."""
        for back in reversed(self.maps):
            span = back.span(*span)
        return span
