"""The turns of a call as they will be sent: documents in their markers, in front of the last question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ollama_kit.guard.conversation import Document, Message
from ollama_kit.guard.fence import Fence, preface
from ollama_kit.text.language import language_of

NOTHING_SAID = "…"
"""Stands for an answer that was empty, or that does not fit: user and assistant stay in turn."""


@dataclass(frozen=True)
class Draft:
    """What is to be sent, before it is known to fit: the turns, oldest first, and the documents that go before the
    last question. `feedback` is what is said about the last answer, `answered`, which stands before it as the
    assistant's turn; both come after everything else. `turn_keys` are the keys of the fences that stand in turns,
    around what tools returned."""

    turns: tuple[Message, ...]
    documents: tuple[Document, ...] = ()
    fence: Fence | None = None
    feedback: str = ""
    answered: str = ""
    turn_keys: tuple[str, ...] = ()

    def keys(self) -> tuple[str, ...]:
        """The keys of all fences, as they are sent."""
        documents = [self.fence.key(document.text) for document in self.documents] if self.fence else []
        return (*documents, *self.turn_keys)

    def messages(self) -> tuple[Message, ...]:
        """The turns as the server gets them."""
        if not self.feedback:
            return tuple(self._with_documents())
        answered = Message("assistant", self.answered or NOTHING_SAID, keep=True)
        return (*self._with_documents(), answered, Message("user", self.feedback, keep=True))

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
        fenced = [_apart(document, self.fence) for document in self.documents]
        words = preface(language_of(asked or self.documents[0].text)) if self.fence else ""
        content = "\n\n".join(part for part in (words, *fenced, asked) if part)
        if at is None:
            return (*self.turns, Message("user", content, keep=True))
        return (*self.turns[:at], replace(self.turns[at], content=content, keep=True), *self.turns[at + 1 :])


def _apart(document: Document, fence: Fence | None) -> str:
    return fence.around(document.text, document.name) if fence else document.text
