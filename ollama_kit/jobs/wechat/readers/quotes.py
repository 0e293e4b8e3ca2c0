"""Which message a quote replies to, among those read before it."""

from __future__ import annotations

from ollama_kit.jobs.wechat.message import Group, Message, Quoted
from ollama_kit.jobs.wechat.readers.record import Reply

REMEMBERED = 10_000
"""Messages back to which a reply is followed at least (and at most twice as many): days of a busy group."""


class Remembered:
    """The last messages read, by the exporter's id and by their text. Two generations: when the younger is full, the
    older is forgotten whole, which costs nothing a message."""

    def __init__(self) -> None:
        self._young: dict[str, Message] = {}
        self._old: dict[str, Message] = {}

    def add(self, native_id: str, message: Message) -> None:
        """Remembers a message; the newest of two that say the same counts."""
        young = self._young
        if message.text:
            young[message.text] = message
        if native_id:
            young["\0" + native_id] = message
        if len(young) > 2 * REMEMBERED:
            self._old, self._young = young, {}

    def resolve(self, reply: Reply, group: Group) -> Quoted:
        """The quoted part, with the message's id if it is known: by the exporter's id, else by the very words (and
        their time, where the quote has one)."""
        if reply.native_id and (known := self._find("\0" + reply.native_id, group)):
            return Quoted(reply.name or known.name, reply.text or known.text, known.id)
        found = self._find(reply.text, group) if reply.text else None
        if found and (reply.time is None or abs((reply.time - found.time).total_seconds()) < 1):
            return Quoted(reply.name, reply.text, found.id)
        return Quoted(reply.name, reply.text)

    def _find(self, key: str, group: Group) -> Message | None:
        found = self._young.get(key) or self._old.get(key)
        return found if found and found.group.id == group.id else None
