"""The first half of a guarded call: everything the caller gave, made safe, and laid out as the turns to send."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ollama_kit.guard.conversation import Document, Message, Request, language_of
from ollama_kit.guard.fence import Fence, preface
from ollama_kit.guard.images.attached import findings_of
from ollama_kit.guard.report import Finding
from ollama_kit.guard.stages import Guards


@dataclass(frozen=True)
class Draft:
    """What is to be sent, before it is known to fit: the turns, oldest first, and the documents that go before the
    last question. `feedback` is what is said about the last answer; it comes after everything else."""

    turns: tuple[Message, ...]
    documents: tuple[Document, ...] = ()
    fence: Fence | None = None
    feedback: str = ""

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
class Sanitised:
    """A draft, and what was found on the way to it, in spans of the caller's own texts."""

    draft: Draft
    findings: tuple[Finding, ...]


def sanitise(request: Request, guards: Guards, fence: Fence, system: str = "") -> Sanitised:
    """Takes every text that is not trusted through its stages. `system` is the model's own system prompt, which is
    trusted; it is sent where the caller gave none, since a server that truncates drops the one it holds itself."""
    apart = fence if guards.policy.fence == "on" else None
    findings: list[Finding] = list(findings_of(request.messages))
    for trusted in (system, *(message.content for message in request.messages if message.trusted)):
        guards.placeholders.reserve(trusted)
    turns = [_turn(message, at, guards, apart, findings) for at, message in enumerate(request.messages)]
    documents = []
    for at, document in enumerate(request.documents):
        passage = guards.document(document.text, f"document {at}")
        findings += passage.findings
        documents.append(Document(passage.text, guards.document(document.name, "name").text))
    if system and not any(turn.role == "system" for turn in turns):
        turns.insert(0, Message("system", system, trusted=True, keep=True))
    return Sanitised(Draft(tuple(turns), tuple(documents), apart), tuple(findings))


def _turn(message: Message, at: int, guards: Guards, fence: Fence | None, findings: list[Finding]) -> Message:
    """A turn made safe. What a tool returned came from outside, and is a document."""
    if message.trusted:
        return message
    from_tool = message.role == "tool"
    passage = (guards.document if from_tool else guards.message)(message.content, f"message {at}")
    findings += passage.findings
    text = _set_apart(Document(passage.text, "tool result"), fence) if from_tool else passage.text
    return replace(message, content=text)


def _set_apart(document: Document, fence: Fence | None) -> str:
    return fence.around(document.text, document.name) if fence else document.text
