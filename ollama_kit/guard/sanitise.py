"""The first half of a guarded call: everything the caller gave, made safe and laid out as the turns to send."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ollama_kit.guard.control_tokens import ControlTokens, neutralise_control_tokens
from ollama_kit.guard.conversation import Document, Message, Request, language_of
from ollama_kit.guard.fence import Fence, preface
from ollama_kit.guard.report import Finding
from ollama_kit.guard.spans import SpanMap


@dataclass(frozen=True)
class Sanitised:
    """The turns to send, oldest first, and what was found on the way. `maps[i]` leads from the text of document `i`
    as it was sent back to the caller's own."""

    messages: tuple[Message, ...]
    findings: tuple[Finding, ...]
    documents: tuple[Document, ...] = ()
    maps: tuple[SpanMap, ...] = ()


def sanitise(request: Request, tokens: ControlTokens, fence: Fence, system: str = "") -> Sanitised:
    """Breaks control tokens in every text that is not trusted, fences the documents and puts them before the last
    question. `system` is the model's own system prompt, which is trusted; it is sent where the caller gave none,
    since a server that has to truncate drops the one it holds itself."""
    findings: list[Finding] = []
    messages = [_clean_message(message, at, tokens, findings) for at, message in enumerate(request.messages)]
    documents, maps = [], []
    for at, document in enumerate(request.documents):
        changed, found = neutralise_control_tokens(document.text, tokens, f"document {at}")
        name, _ = neutralise_control_tokens(document.name, tokens, f"document {at}")
        findings += found
        documents.append(Document(changed.text, name.text))
        maps.append(changed.map)
    turns = _with_documents(messages, documents, fence)
    if system and not any(message.role == "system" for message in turns):
        turns.insert(0, Message("system", system, trusted=True, keep=True))
    return Sanitised(tuple(turns), tuple(findings), tuple(documents), tuple(maps))


def _clean_message(message: Message, at: int, tokens: ControlTokens, findings: list[Finding]) -> Message:
    if message.trusted:
        return message
    changed, found = neutralise_control_tokens(message.content, tokens, f"message {at}")
    findings += found
    return replace(message, content=changed.text)


def _with_documents(messages: list[Message], documents: list[Document], fence: Fence) -> list[Message]:
    """The documents go first in the last user turn: what is asked about them stays nearest to the answer."""
    if not documents:
        return messages
    last = next((at for at in reversed(range(len(messages))) if messages[at].role == "user"), None)
    question = "" if last is None else messages[last].content
    language = language_of(question or documents[0].text)
    parts = [preface(language), *(fence.around(document.text, document.name) for document in documents), question]
    content = "\n\n".join(part for part in parts if part)
    if last is None:
        return [*messages, Message("user", content, keep=True)]
    return [*messages[:last], replace(messages[last], content=content, keep=True), *messages[last + 1 :]]
