"""One attempt of a guarded call: what is sent, and what became of it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from ollama_kit.guard.conversation import Message, Request
from ollama_kit.guard.fit import Fitted
from ollama_kit.guard.profile import Profile
from ollama_kit.guard.streamed_reply import StreamedReply
from ollama_kit.guard.verdict import Verdict
from ollama_kit.modelfile.versions import supports
from ollama_kit.records.report import Attempt
from ollama_kit.server import wire
from ollama_kit.server.wire import Call
from ollama_kit.structured.derivation import Grammar


def json_modes(profile: Profile) -> tuple[Grammar, ...]:
    """JSON mode as a server takes it, the surest first. Where llama-server runs the weights' own template (0.30 and
    later), `"json"` does nothing, and a schema of any object does."""
    return ({"type": "object"}, "json") if supports(profile.version, "native_templates") else ("json",)


def request_call(
    request: Request, profile: Profile, fitted: Fitted, seed: int, grammar: Grammar | None, *, tools: bool = True
) -> Call:
    """The call of one attempt: num_ctx, num_predict, seed and think are always explicit, whatever the model says.
    `tools`: whether the tools of the request are sent along; beside a grammar the server would never call one."""
    options = {**request.options, "num_ctx": profile.context_tokens, "num_predict": fitted.answer_tokens, "seed": seed}
    body: dict[str, Any] = {"model": request.model, "stream": True, "options": options, "think": request.think}
    if grammar is not None:
        body["format"] = grammar
    if profile.spec is not None and profile.spec.keep_alive is not None:
        body["keep_alive"] = profile.spec.keep_alive
    if supports(profile.version, "truncate"):
        body |= {"truncate": False, "shift": False}
    if request.raw is not None:
        return wire.generate({**body, "prompt": request.raw, "raw": True})
    if request.tools and tools:
        body["tools"] = [dict(tool) for tool in request.tools]
    return wire.chat({**body, "messages": [_turn(message) for message in fitted.messages]})


def record(number: int, heard: StreamedReply, verdict: Verdict, call: Call, seconds: float) -> Attempt:
    """The attempt as the report and the error keep it."""
    body: Mapping[str, Any] = call.body or {}
    return Attempt(
        number=number,
        outcome=verdict.outcome,
        reason=verdict.reason,
        reply=heard.text,
        thinking=verdict.thought,
        done_reason=heard.done_reason,
        request_sha256=hashlib.sha256(call.sent).hexdigest(),
        seed=body["options"]["seed"],
        prompt_tokens=heard.last.get("prompt_eval_count"),
        answer_tokens=heard.last.get("eval_count"),
        seconds=seconds,
    )


def encoded(data: bytes) -> str:
    """Bytes as JSON carries them: base64."""
    return base64.b64encode(data).decode("ascii")


def _turn(message: Message) -> dict[str, Any]:
    calls = {"tool_calls": [dict(call) for call in message.tool_calls]} if message.tool_calls else {}
    images = {"images": [encoded(image.data) for image in message.prepared_images]} if message.images else {}
    tool = {"tool_name": message.tool_name} if message.tool_name else {}
    return {"role": message.role, "content": message.content, **calls, **images, **tool}
