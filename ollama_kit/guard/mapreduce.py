"""The context rule `map_reduce`: what does not fit is read in parts, and a hook puts the answers together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from ollama_kit.errors import ContextOverflow, UsageError
from ollama_kit.guard.conversation import Document, Request
from ollama_kit.guard.exchange import CallContext, Result
from ollama_kit.guard.fit import PromptCounter, TokenBudget, fit_context
from ollama_kit.guard.flow import Steps, guarded_call
from ollama_kit.guard.judge import Judge
from ollama_kit.guard.pipeline import Pipeline
from ollama_kit.guard.policy import Policy
from ollama_kit.guard.profile import Profile
from ollama_kit.guard.sanitize import sanitize
from ollama_kit.guard.server_rendering import ServerRendering
from ollama_kit.records.report import Finding
from ollama_kit.server.wire import Call
from ollama_kit.structured.schema import Schema
from ollama_kit.text.characters import cut_before

RULE = "map_reduce"
MOST_PARTS = 1000


def call_in_parts(
    request: Request,
    profile: Profile,
    policy: Policy,
    schema: Schema | None,
    around: CallContext,
    judge: Judge | None = None,
) -> Steps:
    """One guarded call where everything fits; else one for each part of the documents, oldest part first, and the
    value that `around.reduce` makes of their results. The parts are cut at line and sentence ends, and together they
    are the whole text. UsageError where there is no hook; the first failure of a part is the failure of the call."""
    if policy.context != RULE:
        return (yield from guarded_call(request, profile, policy, schema, around, judge))
    whole = replace(policy, context="error")
    if around.reduce is None:
        raise UsageError(f"the policy {policy.name} says `context: {RULE}`, and the client was given no `reduce`")
    rendering = ServerRendering(profile, request.options)

    def too_long(one: Request) -> Generator[Call, Any, ContextOverflow | None]:
        return rendering.answered(lambda: _overflow(one, profile, whole, schema, around, rendering))

    overflow = yield from too_long(request)
    if overflow is None or not request.documents:
        return (yield from guarded_call(request, profile, whole, schema, around, judge))
    results: list[Result] = []
    for at, document in enumerate(request.documents):
        for start, part in (yield from _parts(document, request, overflow, too_long)):
            partial = replace(request, documents=(part,))
            result = yield from guarded_call(partial, profile, whole, schema, around, judge)
            results.append(_moved(result, at, start))
    return _together(results, around.reduce(results))


def _overflow(
    request: Request,
    profile: Profile,
    policy: Policy,
    schema: Schema | None,
    around: CallContext,
    rendering: ServerRendering,
) -> ContextOverflow | None:
    """By how much the request is too long, None if it fits. Nothing is sent, and nobody is told."""
    quiet = policy.softened().with_settings(injection="off", scanners=None, judge=None)
    draft = sanitize(request, Pipeline.of(quiet, profile, fence=around.fence), profile.facts.system).draft
    room = TokenBudget(
        request.answer_tokens, bool(request.think), schema is not None and policy.attempts > 1, policy.max_context
    )
    try:
        fit_context(draft, room, PromptCounter(profile, request.think, request.tools, around.count_exactly, rendering))
    except ContextOverflow as error:
        return error
    return None


def _parts(
    document: Document,
    request: Request,
    overflow: ContextOverflow,
    too_long: Callable[[Request], Generator[Call, Any, ContextOverflow | None]],
) -> Generator[Call, Any, list[tuple[int, Document]]]:
    """The document in as few equal parts as fit, each with its start. Raises the overflow of a part where even many
    do not: then it is not the document that is too long."""
    count = max(1, -(-overflow.needed_tokens // overflow.available_tokens))
    while True:
        parts = _cut(document, count)
        problems = []
        for _, part in parts:
            found = yield from too_long(replace(request, documents=(part,)))
            problems += [found] if found is not None else []
        if not problems:
            return parts
        if count >= min(MOST_PARTS, len(document.text)):
            raise problems[0]
        count = min(MOST_PARTS, count + max(1, count // 4))


def _cut(document: Document, count: int) -> list[tuple[int, Document]]:
    text, edges = document.text, [0]
    for number in range(1, count):
        edge = cut_before(text, len(text) * number // count)
        if edge > edges[-1]:
            edges.append(edge)
    edges.append(len(text))
    total = len(edges) - 1
    return [
        (start, Document(text[start:end], f"{document.name} {number}/{total}".strip()))
        for number, (start, end) in enumerate(pairwise(edges), 1)
        if end > start or not text
    ]


def _moved(result: Result, document: int, start: int) -> Result:
    """A part's result with every place in the caller's own document."""
    evidence = tuple(
        replace(found, document=document, span=(found.span[0] + start, found.span[1] + start)) if found.span else found
        for found in result.evidence
    )
    findings = tuple(_finding(found, document, start) for found in result.report.findings)
    return replace(result, evidence=evidence, report=replace(result.report, findings=findings, evidence=evidence))


def _finding(found: Finding, document: int, start: int) -> Finding:
    if found.source != "document 0":
        return found
    return replace(found, source=f"document {document}", span=(found.span[0] + start, found.span[1] + start))


def _together(results: Sequence[Result], value: Any) -> Result:
    """One result: the hook's value, and the account of all parts. Tokens are summed, so that none is missing."""
    reports = [result.report for result in results]
    known = [report.counted_tokens for report in reports]
    written = [report.answer_tokens for report in reports]
    report = replace(
        reports[-1],
        predicted_tokens=sum(report.predicted_tokens for report in reports),
        counted_tokens=None if None in known else sum(count for count in known if count is not None),
        answer_tokens=None if None in written else sum(count for count in written if count is not None),
        findings=tuple(dict.fromkeys(found for report in reports for found in report.findings)),
        evidence=tuple(found for result in results for found in result.evidence),
        attempts=tuple(attempt for report in reports for attempt in report.attempts),
        notes=(f"read in {len(results)} parts", *dict.fromkeys(note for report in reports for note in report.notes)),
        seconds=sum(report.seconds for report in reports),
    )
    text = value if isinstance(value, str) else "\n".join(result.text for result in results)
    return Result(value, text, "", report, all(result.complete for result in results), evidence=report.evidence)
