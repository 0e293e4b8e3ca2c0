"""The first half of a guarded call: everything the caller gave, made safe, and laid out as the turns to send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from ollama_kit.guard.control_tokens import neutralize_control_tokens
from ollama_kit.guard.conversation import Document, Message, Request
from ollama_kit.guard.fence import Fence
from ollama_kit.guard.images.attached import findings_of
from ollama_kit.guard.passage import Passage, TextKind
from ollama_kit.guard.pipeline import Pipeline
from ollama_kit.guard.prompt_draft import Draft
from ollama_kit.records.report import Finding


@dataclass(frozen=True)
class Sanitized:
    """A draft, what was found on the way to it, in spans of the caller's own texts, and the texts themselves: turns
    oldest first, then documents, then a raw prompt; none that is trusted."""

    draft: Draft
    findings: tuple[Finding, ...]
    passages: tuple[Passage, ...]


def sanitize(request: Request, pipeline: Pipeline, system: str = "") -> Sanitized:
    """Takes every text that is not trusted through its stages. `system` is the model's own system prompt, which is
    trusted; it is sent where the caller gave none, since a server that truncates drops the one it holds itself."""
    findings: list[Finding] = list(findings_of(request.messages))
    for trusted in (system, *(message.content for message in request.messages if message.trusted)):
        pipeline.context.placeholders.reserve(trusted)
    turns: list[Message] = []
    passages: list[Passage] = []
    for at, message in enumerate(request.messages):
        if message.trusted:
            turns.append(message)
            continue
        passage = pipeline.clean(message.content, f"message {at}", _KINDS.get(message.role, "turn"))
        findings += passage.findings
        turns.append(_with_safe_calls(replace(message, content=passage.text), at, pipeline, findings))
        passages.append(passage)
    turn_keys = tuple(passage.fence_key for passage in passages if passage.fence_key)
    documents: list[Document] = []
    fenced = False
    for at, document in enumerate(request.documents):
        passage = pipeline.clean(document.text, f"document {at}", "document")
        findings += passage.findings
        fenced = fenced or bool(passage.fence_key)
        given = document.name != f"{at + 1}"  # else it is the number that we gave it
        name = _safe_name(document.name, at, pipeline, findings) if given else document.name
        documents.append(Document(passage.text, name))
        passages.append(passage)
    if request.raw is not None:
        passages.append(pipeline.clean(request.raw, "prompt", "raw"))
    if system and not any(turn.role == "system" for turn in turns):
        turns.insert(0, Message("system", system, trusted=True, keep=True))
    draft = Draft(tuple(turns), tuple(documents), pipeline.context.fence if fenced else None, turn_keys=turn_keys)
    return Sanitized(draft, tuple(findings), tuple(passages))


def _safe_name(name: str, at: int, pipeline: Pipeline, findings: list[Finding]) -> str:
    """A document's name after its stages, and safe in the line that is drawn around it: our own bracket closes no
    token that the name has begun."""
    passage = pipeline.clean(name, f"document {at} name", "name")
    findings += passage.findings
    if pipeline.context.policy.setting("control_tokens") == "off":
        return passage.text
    before, _ = Fence(b"").markers("", passage.text)
    line, _ = neutralize_control_tokens(before, pipeline.context.control_tokens, "")
    return line.text[before.index(passage.text) : -len("]\n")] if line.text != before else passage.text


_KINDS: Mapping[str, TextKind] = {"user": "user", "tool": "tool"}
"""By role. What a tool returned came from outside, and is guarded as a document is."""


def _with_safe_calls(message: Message, at: int, pipeline: Pipeline, findings: list[Finding]) -> Message:
    """The turn with its calls of tools made safe: a template writes them out as text."""
    if not (message.tool_calls or message.tool_name):
        return message
    calls = []
    for number, call in enumerate(message.tool_calls):

        def safe(value: Any, source: str = f"message {at}, tool call {number}") -> Any:
            if isinstance(value, str):
                passage = pipeline.clean(value, source, "argument")
                findings.extend(passage.findings)
                return passage.text
            if isinstance(value, Mapping):
                return {safe(key): safe(inner) for key, inner in value.items()}
            return [safe(item) for item in value] if isinstance(value, list | tuple) else value

        calls.append(safe(call))
    name = pipeline.clean(message.tool_name, f"message {at}, tool name", "argument").text
    return replace(message, tool_calls=tuple(calls), tool_name=name)
