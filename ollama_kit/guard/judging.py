"""Asks the judge within a guarded call: before the first attempt, and on an answer before the caller gets it.

A text that could not be judged (no answer in time, an error, a reply that is no verdict, a text beyond the judge's
window many times over) is treated by the config's `on_error`, never as safe.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ollama_kit.errors import GuardBlocked, ServerError
from ollama_kit.guard.budget import Budget
from ollama_kit.guard.control_tokens import neutralize_control_tokens
from ollama_kit.guard.conversation import Message, Request
from ollama_kit.guard.exchange import Listen, Surroundings
from ollama_kit.guard.fit import Counting
from ollama_kit.guard.judge import (
    ANSWER_TOKENS,
    JudgeCache,
    JudgeConfig,
    JudgeVerdict,
    judge_body,
    read_verdict,
    verdict_key,
)
from ollama_kit.guard.private.placeholders import Placeholders
from ollama_kit.guard.profile import Profile
from ollama_kit.guard.sanitize import Draft
from ollama_kit.guard.verdict import Restorer
from ollama_kit.guard.watch import Heard
from ollama_kit.modelfile.versions import supports
from ollama_kit.records.report import Action, Finding
from ollama_kit.server import wire
from ollama_kit.server.wire import Call, Deadline

STAGE = "judge"
OVERLAP = 200  # characters that two pieces of a long text share, so that no sentence is seen in halves only
MOST_PIECES = 32


@dataclass(frozen=True)
class Judge:
    """A policy's judge, what is known of its model, and the verdicts it has given to this client."""

    config: JudgeConfig
    profile: Profile
    cache: JudgeCache


@dataclass(frozen=True)
class Judged:
    """A text to be judged, as the model gets or gave it. `characters` is the length of the caller's own text;
    `context` is what an answer answers, None for what goes in."""

    text: str
    source: str
    characters: int
    context: str | None = None


@dataclass(frozen=True)
class Session:
    """One text before its judge, with a clock that runs from `began`."""

    judge: Judge
    around: Surroundings
    budget: Budget
    began: float

    def out_of_time(self) -> bool:
        """Whether the time for this text, or for the whole call, is up."""
        return self.left_s() <= 0 or self.budget.out_of_time()

    def left_s(self) -> float:
        return self.judge.config.timeout_s - (self.around.clock() - self.began)

    def call(self, text: str, context: str | None) -> Call:
        """The request for a verdict; the window is always explicit, and nothing is cut where a server can be told."""
        profile, body = self.judge.profile, self.body(text, context)
        body["options"] |= {"num_ctx": profile.context_tokens}
        if profile.spec is not None and profile.spec.keep_alive is not None:
            body["keep_alive"] = profile.spec.keep_alive
        if supports(profile.version, "truncate"):
            body |= {"truncate": False, "shift": False}
        overall = self.budget.deadline()
        left = min(self.left_s(), overall.left_s if overall else self.left_s())
        return replace(wire.chat(body), deadline=Deadline(max(0.001, left), self.out_of_time))

    def body(self, text: str, context: str | None) -> dict[str, Any]:
        """The chat that asks for a verdict. A model without a policy of its own gets the texts fenced."""
        fence = self.around.fence
        if self.judge.config.form == "yes-no":
            text = fence.around(text, "text")
            context = fence.around(context, "question") if context else context
        return judge_body(self.judge.config, text, context)

    def fits(self, text: str, context: str | None) -> bool:
        """Whether the judge can see the whole of it at once."""
        room = self.judge.profile.context_tokens - ANSWER_TOKENS
        messages = [Message(turn["role"], turn["content"]) for turn in self.body(text, context)["messages"]]
        return Counting(self.judge.profile).count(messages, room).tokens <= room


Judging = Generator[Listen, None, tuple[Finding, ...]]


class _NoVerdict(Exception):
    """The judge did not say whether the text is safe. The message says why, without a word of the text."""


def judge_flow(judge: Judge, judged: Judged, around: Surroundings, budget: Budget) -> Judging:
    """What the judge found in a text, as findings over the whole of it. GuardBlocked where it is unsafe and the action
    is "block", or where there is no verdict and the rule is closed. A text judged before is not asked about again."""
    config = judge.config
    if not judged.text.strip():
        return ()
    key = verdict_key(judge.profile.facts.digest, config, judged.text, judged.context)
    verdict = judge.cache.get(key)
    if verdict is None:
        try:
            verdict = yield from _verdict(Session(judge, around, budget, around.clock()), judged)
        except _NoVerdict as failure:
            if config.on_error == "closed":
                raise _unjudged(judged, config, str(failure)) from failure
            return (_finding(judged, "judge_failed", f"{config.model}: {failure}"),)
        judge.cache.put(key, verdict)
    if verdict.safe and not verdict.controversial:
        return ()
    categories = ", ".join(verdict.categories)
    if verdict.safe:
        return (_finding(judged, "controversial", categories),)
    if config.action == "block":
        raise _unsafe(judged, config, categories)
    return (_finding(judged, "unsafe", categories),)


def judge_inputs(judge: Judge | None, request: Request, draft: Draft, around: Surroundings, budget: Budget) -> Judging:
    """What the judge found in the texts of a call, where it looks at them."""
    findings: tuple[Finding, ...] = ()
    if judge is not None and judge.config.looks_at("input"):
        for judged in inputs(request, draft):
            findings += yield from judge_flow(judge, judged, around, budget)
    return findings


def judge_answer(judge: Judge | None, answer: str, draft: Draft, around: Surroundings, budget: Budget) -> Judging:
    """What the judge found in an answer, where it looks at them."""
    if judge is None or not judge.config.looks_at("output"):
        return ()
    asked = "" if draft.question is None else draft.turns[draft.question].content
    return (yield from judge_flow(judge, Judged(answer, "answer", len(answer), asked), around, budget))


def said_in(text: str, tool_calls: Sequence[Mapping[str, Any]]) -> str:
    """All that an answer says: its text, and the calls of tools that it asks for."""
    return "\n".join(part for part in (text, json.dumps(tool_calls, ensure_ascii=False) if tool_calls else "") if part)


def inputs(request: Request, draft: Draft) -> Iterator[Judged]:
    """The texts of a call that its judge looks at, as they will be sent: documents, what users wrote and what tools
    returned, and a raw prompt; nothing that is trusted."""
    own = len(draft.turns) - len(request.messages)  # the model's own system prompt, put before them
    for at, message in enumerate(request.messages):
        if message.role in ("user", "tool") and not message.trusted:
            yield Judged(draft.turns[own + at].content, f"message {at}", len(message.content))
    for at, document in enumerate(request.documents):
        yield Judged(draft.documents[at].text, f"document {at}", len(document.text))
    if request.raw is not None:
        yield Judged(request.raw, "prompt", len(request.raw))


def pieces(text: str, fits: Callable[[str], bool]) -> list[str]:
    """The text in as few overlapping pieces as halving gives, each of which fits; none where it cannot be done."""
    if fits(text):
        return [text]
    middle = len(text) // 2
    if middle <= 2 * OVERLAP:
        return []
    halves = [pieces(half, fits) for half in (text[: middle + OVERLAP], text[middle - OVERLAP :])]
    return [piece for half in halves for piece in half] if all(halves) else []


def _verdict(session: Session, judged: Judged) -> Generator[Listen, None, JudgeVerdict]:
    """The verdict on a whole text: the first unsafe piece's, else the last that was controversial, else safe."""
    tokens = session.judge.profile.control_tokens
    text, context = (
        None if given is None else neutralize_control_tokens(given, tokens, judged.source)[0].text
        for given in (judged.text, judged.context)
    )
    parts = pieces(text or "", lambda part: session.fits(part, context))
    if not parts and context:  # what was asked is too long to be shown beside the answer
        context = ""
        parts = pieces(text or "", lambda part: session.fits(part, context))
    if not 0 < len(parts) <= MOST_PIECES:
        raise _NoVerdict("the text is too long for its window")
    whole = JudgeVerdict(True)
    for part in parts:
        verdict = yield from _ask(session, part, context)
        if not verdict.safe:
            return verdict
        whole = verdict if verdict.controversial else whole
    return whole


def _ask(session: Session, text: str, context: str | None) -> Generator[Listen, None, JudgeVerdict]:
    config = session.judge.config
    if session.out_of_time():
        raise _NoVerdict(f"no verdict within {config.timeout_s:g} s")
    heard = Heard(None, session.out_of_time, most_lines=2 * ANSWER_TOKENS + 64)
    try:
        yield Listen(session.call(text, context), heard, 0, Restorer(Placeholders()), aside=True)
    except ServerError as error:
        late = session.out_of_time()
        raise _NoVerdict(f"no verdict within {config.timeout_s:g} s" if late else error.message) from error
    if heard.timed_out:
        raise _NoVerdict(f"no verdict within {config.timeout_s:g} s")
    verdict = read_verdict(config.form, heard.text)
    if not heard.last or verdict.safe is None:
        raise _NoVerdict("its reply is no verdict")
    return verdict


def _finding(judged: Judged, rule: str, detail: str) -> Finding:
    action: Action = "flagged"
    severity = {"unsafe": "high", "judge_failed": "medium", "controversial": "low"}[rule]
    return Finding(STAGE, rule, severity, action, judged.source, (0, judged.characters), detail)  # type: ignore[arg-type]


def _unsafe(judged: Judged, config: JudgeConfig, categories: str) -> GuardBlocked:
    reason = f"{config.model} finds {judged.source} unsafe{f' ({categories})' if categories else ''}"
    return GuardBlocked(f"refused by the guard: {reason}", stage=STAGE, reason=reason)


def _unjudged(judged: Judged, config: JudgeConfig, why: str) -> GuardBlocked:
    reason = f"{config.model} could not judge {judged.source}: {why}"
    return GuardBlocked(
        f"refused by the guard: {reason}",
        stage=STAGE,
        reason=reason,
        hint=(
            "See that the judge's model runs; `on_error: open` lets texts pass unjudged, with a finding.",
            "请确认审查模型可用；`on_error: open` 会放行未经审查的文本，并在报告中注明。",
        ),
    )
