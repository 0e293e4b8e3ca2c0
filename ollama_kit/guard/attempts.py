"""One attempt of a guarded call: what is sent, and what became of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ollama_kit.guard.conversation import Message, Request
from ollama_kit.guard.fit import Fitted
from ollama_kit.guard.profile import Profile
from ollama_kit.guard.report import Attempt, Outcome
from ollama_kit.guard.watch import Heard
from ollama_kit.server.features import supports
from ollama_kit.structured.feedback import failing_part, feedback, feedback_on_no_json
from ollama_kit.structured.find import NotFound, find_json, strip_thinking
from ollama_kit.structured.schema import Schema
from ollama_kit.structured.validate import Problem, validate


@dataclass(frozen=True)
class Verdict:
    """What an attempt gave. `value` is the checked data where `outcome` is "valid"; where it is "schema" it is the
    data that has the `problems`; where it is "not_json", `missing` says what was read instead."""

    outcome: Outcome
    reason: str = ""
    value: Any = None
    text: str = ""
    thinking: str = ""
    problems: tuple[Problem, ...] = ()
    missing: NotFound | None = None

    def feedback(self, language: str) -> str:
        """What the model is told before it tries again, in "zh" or "en"; empty where there is nothing it could mend."""
        if self.missing is not None:
            return feedback_on_no_json(self.missing, self.text, language=language)
        if not self.problems:
            return ""
        return feedback(self.problems, failing_part(self.value, self.problems[0].path), language=language)


def chat_body(
    request: Request, profile: Profile, messages: Sequence[Message], fitted: Fitted, seed: int, schema: Schema | None
) -> dict[str, Any]:
    """The body of /api/chat: num_ctx, num_predict, seed and think are always explicit, whatever the model says."""
    options = {**request.options, "num_ctx": profile.context_tokens, "num_predict": fitted.answer_tokens, "seed": seed}
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [_turn(message) for message in messages],
        "stream": True,
        "options": options,
        "think": bool(request.think),
    }
    if schema is not None:
        body["format"] = schema.grammar
    if request.tools:
        body["tools"] = [dict(tool) for tool in request.tools]
    if profile.spec is not None and profile.spec.keep_alive is not None:
        body["keep_alive"] = profile.spec.keep_alive
    if supports(profile.version, "truncate"):
        body |= {"truncate": False, "shift": False}
    return body


def judge(heard: Heard, schema: Schema | None) -> Verdict:
    """The verdict on an answer: first why it ended, then whether there is one, then whether the schema holds."""
    inline, text = strip_thinking(heard.text)
    thinking = "\n".join(part for part in (heard.thinking, inline) if part)
    if heard.stopped:
        return Verdict("runaway", f"the answer ran away: {heard.stopped}", text=text, thinking=thinking)
    if heard.done_reason == "length":
        spent = " while it was still thinking" if thinking and not text.strip() else ""
        return Verdict("length", f"the answer was cut off{spent}", text=text, thinking=thinking)
    if not text.strip() and not heard.tool_calls:
        return Verdict("empty", "the answer is empty", text=text, thinking=thinking)
    if schema is None or heard.tool_calls:
        return Verdict("valid", value=text, text=text, thinking=thinking)
    return _judge_json(text, thinking, schema)


def _judge_json(text: str, thinking: str, schema: Schema) -> Verdict:
    """The first candidate that the whole schema accepts; where none is, the problems of the likeliest one."""
    found = find_json(text)
    if isinstance(found, NotFound):
        return Verdict("not_json", found.reason, text=text, thinking=thinking, missing=found)
    failed: list[Verdict] = []
    for candidate in found.candidates:
        problems = validate(schema, candidate.value)
        if not problems:
            return Verdict("valid", value=schema.to_python(candidate.value), text=text, thinking=thinking)
        failed.append(Verdict("schema", problems[0].message, candidate.value, text, thinking, problems))
    return failed[0]


def record(number: int, heard: Heard, verdict: Verdict, body: Mapping[str, Any], seconds: float) -> Attempt:
    """The attempt as the report and the error keep it."""
    sent = json.dumps(body, sort_keys=True, ensure_ascii=True).encode()
    return Attempt(
        number=number,
        outcome=verdict.outcome,
        reason=verdict.reason,
        reply=heard.text,
        thinking=verdict.thinking,
        done_reason=heard.done_reason,
        request_sha256=hashlib.sha256(sent).hexdigest(),
        seed=body["options"]["seed"],
        prompt_tokens=heard.last.get("prompt_eval_count"),
        answer_tokens=heard.last.get("eval_count"),
        seconds=seconds,
    )


def _turn(message: Message) -> dict[str, Any]:
    calls = {"tool_calls": [dict(call) for call in message.tool_calls]} if message.tool_calls else {}
    return {"role": message.role, "content": message.content, **calls}
