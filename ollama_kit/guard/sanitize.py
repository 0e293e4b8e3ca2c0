"""The first half of a guarded call: everything the caller gave, made safe, and laid out as the turns to send."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ollama_kit.guard.conversation import Document, Message, Request
from ollama_kit.guard.fence import Fence, preface
from ollama_kit.guard.images.attached import findings_of
from ollama_kit.guard.passage import Passage
from ollama_kit.guard.stages import Guards
from ollama_kit.records.report import Finding
from ollama_kit.text.language import language_of


@dataclass(frozen=True)
class Draft:
    """What is to be sent, before it is known to fit: the turns, oldest first, and the documents that go before the
    last question. `feedback` is what is said about the last answer; it comes after everything else. `turn_keys` are
    the keys of the fences that stand in turns, around what tools returned."""

    turns: tuple[Message, ...]
    documents: tuple[Document, ...] = ()
    fence: Fence | None = None
    feedback: str = ""
    turn_keys: tuple[str, ...] = ()

    def keys(self) -> tuple[str, ...]:
        """The keys of all fences, as they are sent."""
        documents = [self.fence.key(document.text) for document in self.documents] if self.fence else []
        return (*documents, *self.turn_keys)

    def messages(self) -> tuple[Message, ...]:
        """The turns as the server gets them."""
        last = (Message("user", self.feedback, keep=True),) if self.feedback else ()
        return (*self._with_documents(), *last)

    @property
    def question(self) -> int | None:
        """Where the last user turn stands, None if there is none."""
        return next((at for at in reversed(range(len(self.turns))) if self.turns[at].role == "user"), None)

    def _with_documents(self) -> Sequence[Message]:
        """The documents go first in the last user turn: what is asked about them stays nearest to the answer."""
        if not self.documents:
            return self.turns
        at = self.question
        asked = "" if at is None else self.turns[at].content
        fenced = [_set_apart(document, self.fence) for document in self.documents]
        words = preface(language_of(asked or self.documents[0].text)) if self.fence else ""
        content = "\n\n".join(part for part in (words, *fenced, asked) if part)
        if at is None:
            return (*self.turns, Message("user", content, keep=True))
        return (*self.turns[:at], replace(self.turns[at], content=content, keep=True), *self.turns[at + 1 :])


@dataclass(frozen=True)
class Sanitized:
    """A draft, and what was found on the way to it, in spans of the caller's own texts."""

    draft: Draft
    findings: tuple[Finding, ...]


def sanitize(request: Request, guards: Guards, fence: Fence, system: str = "") -> Sanitized:
    """Takes every text that is not trusted through its stages. `system` is the model's own system prompt, which is
    trusted; it is sent where the caller gave none, since a server that truncates drops the one it holds itself."""
    apart = fence if guards.policy.fence == "on" else None
    findings: list[Finding] = list(findings_of(request.messages))
    for trusted in (system, *(message.content for message in request.messages if message.trusted)):
        guards.placeholders.reserve(trusted)
    keys: list[str] = []
    turns = []
    for at, message in enumerate(request.messages):
        passage = _turn(message, at, guards)
        findings += passage.findings
        turns.append(_set_in(message, passage.text, at, guards, findings))
        if message.role == "tool" and apart and not message.trusted:
            keys.append(apart.key(passage.text))
            turns[-1] = replace(turns[-1], content=_set_apart(Document(passage.text, "tool result"), apart))
    documents = []
    for at, document in enumerate(request.documents):
        passage = guards.document(document.text, f"document {at}")
        findings += passage.findings
        given = document.name != f"{at + 1}"  # else it is the number that we gave it
        name = guards.document(document.name, "name").text if given else document.name
        documents.append(Document(passage.text, name))
    if system and not any(turn.role == "system" for turn in turns):
        turns.insert(0, Message("system", system, trusted=True, keep=True))
    return Sanitized(Draft(tuple(turns), tuple(documents), apart, turn_keys=tuple(keys)), tuple(findings))


def _turn(message: Message, at: int, guards: Guards) -> Passage:
    """What a turn says, made safe. What a tool returned came from outside, and is a document."""
    source = f"message {at}"
    if message.trusted:
        return Passage(message.content, source)
    return (guards.document if message.role == "tool" else guards.message)(message.content, source)


def _set_in(message: Message, text: str, at: int, guards: Guards, findings: list[Finding]) -> Message:
    """The turn with its safe text, and with its calls of tools made as safe: a template writes them out as text."""
    if message.trusted or not (message.tool_calls or message.tool_name):
        return replace(message, content=text)
    calls = []
    for number, call in enumerate(message.tool_calls):

        def safe(value: Any, source: str = f"message {at}, tool call {number}") -> Any:
            if isinstance(value, str):
                passage = guards.message(value, source)
                findings.extend(passage.findings)
                return passage.text
            if isinstance(value, Mapping):
                return {safe(key): safe(inner) for key, inner in value.items()}
            return [safe(item) for item in value] if isinstance(value, list | tuple) else value

        calls.append(safe(call))
    name = guards.message(message.tool_name, f"message {at}, tool name").text
    return replace(message, content=text, tool_calls=tuple(calls), tool_name=name)


def _set_apart(document: Document, fence: Fence | None) -> str:
    return fence.around(document.text, document.name) if fence else document.text
