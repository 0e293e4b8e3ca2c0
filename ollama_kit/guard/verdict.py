"""Reads an answer: why it ended, what it says once hidden values are back, and whether that is what was asked for.

done reason → thinking apart → JSON found → values restored → schema → the pipeline's output stages

`correction` says what is wrong with it, for the next attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ollama_kit.guard.passage import Passage
from ollama_kit.guard.pipeline import AnswerContext, Pipeline
from ollama_kit.guard.private.restoring import Restorer, findings_of
from ollama_kit.guard.streamed_reply import StreamedReply
from ollama_kit.records.report import Evidence, Finding, Outcome
from ollama_kit.structured.dialect import join
from ollama_kit.structured.find import NotFound, find_json
from ollama_kit.structured.schema import Schema
from ollama_kit.structured.thinking import strip_thinking
from ollama_kit.structured.validation import Problem, failing_part, feedback, feedback_on_no_json, shorten, validate


@dataclass(frozen=True)
class Verdict:
    """What an attempt gave. `value` is the checked data where `outcome` is "valid"; where it is "schema" or
    "evidence" it is the data that has the `problems`; where it is "not_json", `missing` says what was read instead.
    `written` is the data, or the text that held none, and `thought` the thinking, in the model's own words, with
    nothing put back; `reason` holds no hidden value either."""

    outcome: Outcome
    reason: str = ""
    value: Any = None
    written: Any = None
    text: str = ""
    thinking: str = ""
    thought: str = ""
    problems: tuple[Problem, ...] = ()
    missing: NotFound | None = None
    evidence: tuple[Evidence, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Reader:
    """Judges the answers of one call."""

    pipeline: Pipeline
    restore: Restorer

    def judge(self, reply: StreamedReply, against: AnswerContext) -> Verdict:
        """The verdict on a reply."""
        inline, text = strip_thinking(reply.text, reply.thinking_tags)
        thought = "\n".join(part for part in (reply.thinking, inline) if part)
        schema = None if reply.tool_calls else against.schema
        begun = Verdict("valid", thinking=self.restore(thought), thought=thought)
        against = replace(against, thinking=begun.thinking)
        if schema is None:
            shown, notes = self.restore.restored(text)
            begun = replace(begun, text=shown, findings=tuple(findings_of(notes, "answer")))
        else:
            begun = replace(begun, text=self.restore.in_json(text))
        early = self._ended_early(reply, begun)
        if early is not None:  # a text that was cut may be what the caller gets
            may_be_given = early.outcome == "length" and against.schema is None
            return self._checked(early, None, against) if may_be_given else early
        if schema is None:
            return self._checked(replace(begun, value=begun.text), None, against)
        return self._checked(self._json(text, begun, schema), schema, against)

    def _ended_early(self, reply: StreamedReply, begun: Verdict) -> Verdict | None:
        if reply.timed_out:
            return replace(begun, outcome="timeout", reason="the time for this call was up")
        if reply.stopped:
            return replace(begun, outcome="runaway", reason=f"the answer ran away: {reply.stopped}")
        if reply.done_reason == "length":
            spent = " while it was still thinking" if begun.thinking and not begun.text.strip() else ""
            return replace(begun, outcome="length", reason=f"the answer was cut off{spent}")
        if not reply.last:
            why = reply.broken or "the stream ended without saying that it was done"
            return replace(begun, outcome="incomplete", reason=why)
        if not begun.text.strip() and not reply.tool_calls:
            return replace(begun, outcome="empty", reason="the answer is empty")
        return None

    def arguments(self, reply: StreamedReply) -> tuple[tuple[Any, ...], tuple[Finding, ...]]:
        """The calls of tools that the reply asks for, with what the policy lets into them, and what is to be told."""
        calls: list[Any] = []
        findings: list[Finding] = []
        for at, call in enumerate(reply.tool_calls):
            restored, notes = self.restore.restored(call, "argument")
            calls.append(restored)
            findings += findings_of(notes, f"answer, tool call {at}")
        return tuple(calls), tuple(findings)

    def _json(self, text: str, begun: Verdict, schema: Schema) -> Verdict:
        """The first candidate that the whole schema accepts, with the real values; where none is, the problems of the
        likeliest one."""
        found = find_json(text)
        if isinstance(found, NotFound):
            return replace(begun, outcome="not_json", reason=found.reason, missing=found, written=text)
        failed: list[Verdict] = []
        for candidate in found.candidates:
            try:
                value = self.restore.full(candidate.value)
                notes = self.restore.restored(candidate.value)[1]
            except RecursionError:
                deep = NotFound("JSON nested too deep", candidate.start)
                return replace(begun, outcome="not_json", reason=deep.reason, missing=deep, written=text)
            problems = validate(schema, value)
            told = tuple(_found_in(begun.text, findings_of(notes, "answer")))
            read = replace(begun, value=value, written=candidate.value, findings=told)
            if not problems:
                return read
            wrong = replace(read, outcome="schema", problems=problems)
            failed.append(replace(wrong, reason=in_own_words(wrong, schema, self.hide)[0].message))
        return failed[0]

    @property
    def hide(self) -> Callable[[str], str]:
        """Puts the placeholders into a text again."""
        return self.restore.placeholders.hide

    def _checked(self, verdict: Verdict, schema: Schema | None, against: AnswerContext) -> Verdict:
        """The verdict after the output stages. `schema` is None for text: what a stage has rewritten is then the
        value."""
        if verdict.outcome not in ("valid", "length"):
            return verdict
        latest = verdict

        def read(text: str) -> Passage:
            nonlocal latest
            latest = replace(verdict, text=text, value=text)
            if schema is not None:
                latest = self._json(text, replace(verdict, text=text), schema)
            return _as_passage(latest)

        passed = self.pipeline.check(_as_passage(verdict), against, read)
        judged = replace(
            latest,
            text=passed.text,
            value=passed.value,
            outcome=passed.outcome,
            reason=self.hide(passed.reason),
            problems=passed.problems,
            evidence=tuple(replace(found, quote=self._shown(found.quote)) for found in passed.evidence),
            findings=(*passed.findings, *latest.findings),
        )
        if judged.problems:
            return replace(judged, reason=in_own_words(judged, schema, self.hide)[0].message)
        return judged if schema is None or judged.outcome != "valid" else self._given(judged, schema)

    def _given(self, verdict: Verdict, schema: Schema) -> Verdict:
        """A valid verdict with the data that the caller gets: its values where the policy lets them come back."""
        given = self.restore(verdict.written)
        try:
            return replace(verdict, value=schema.to_python(given))
        except (ValueError, TypeError):
            if given == verdict.value:
                raise
            reason = f"the policy keeps placeholders in the answer, which {schema.source} does not take"
            return replace(verdict, outcome="schema", reason=reason)

    def _shown(self, quote: str) -> str:
        """A quote as the caller gets it."""
        return str(self.restore(self.hide(quote))) if self.restore.placeholders else quote


def _as_passage(verdict: Verdict) -> Passage:
    passage = Passage.of(verdict.text, "answer", "answer")
    return replace(
        passage, value=verdict.value, outcome=verdict.outcome, reason=verdict.reason, problems=verdict.problems
    )


UNSHOWN = "…"
"""Stands for a value that the model did not write itself."""


def correction(verdict: Verdict, schema: Schema | None, language: str, hide: Callable[[str], str]) -> str:
    """The message for the next attempt, in "zh" or "en"; empty where there is nothing to mend.

    An answer is judged with the caller's values put back, and talked about as the model wrote it: once a value is
    written as JSON, or cut in the middle to be short, it could no longer be found and hidden again. `hide` is for
    what is left, the names of keys.
    """
    if verdict.missing is not None:
        return hide(feedback_on_no_json(verdict.missing, verdict.written, language=language))
    if not verdict.problems:
        return ""
    shown = in_own_words(verdict, schema, hide)
    return hide(feedback(shown, failing_part(verdict.written, shown[0].path), language=language))


def in_own_words(verdict: Verdict, schema: Schema | None, hide: Callable[[str], str]) -> tuple[Problem, ...]:
    """The problems of a verdict, about what the model wrote; none that only the placeholders have."""
    real = tuple(_as_written(problem, verdict.written, hide) for problem in verdict.problems)
    places = {(problem.path, problem.keyword) for problem in real}
    seen = validate(schema, verdict.written) if schema is not None and verdict.outcome == "schema" else ()
    same = tuple(problem for problem in seen if (problem.path, problem.keyword) in places)
    return same if len(same) == len(real) else real


def _found_in(text: str, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings in single texts of an answer's data, at their places in the answer: the first where they may be."""
    for finding in findings:
        start = text.find(finding.detail.partition(" ")[0])
        span = (start, start + finding.span[1] - finding.span[0]) if start >= 0 else (0, 0)
        yield replace(finding, span=span)


def _as_written(problem: Problem, written: Any, hide: Callable[[str], str]) -> Problem:
    parts = [hide(part.replace("~1", "/").replace("~0", "~")) for part in problem.path.split("/")[1:]]
    found, value = _look_up(written, parts)
    return replace(problem, path=join(parts), got=shorten(value) if found else UNSHOWN)


def _look_up(value: Any, parts: Sequence[str]) -> tuple[bool, Any]:
    for part in parts:
        if isinstance(value, dict) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return False, None
    return True, value
