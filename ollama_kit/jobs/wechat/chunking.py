"""Cuts a conversation into chunks that fit a model's window, where a conversation itself has its pauses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise

from ollama_kit.jobs.wechat.message import Group, Message
from ollama_kit.jobs.wechat.transcript import Line, Transcript, line_of, lines_of

STILL_TALKING = timedelta(minutes=30)
"""After a shorter pause the conversation goes on, and a chunk starts with what was said last before it."""
CONTEXT_MESSAGES = 3
CONTEXT_SHARE = 5  # at most this part of a chunk is context


@dataclass(frozen=True)
class Chunk:
    """Messages that are read together. Each message is in exactly one chunk; `context` repeats earlier ones that these
    reply to or follow closely. `tokens` is the exact count of `transcript.text`."""

    number: int
    group: Group
    messages: tuple[Message, ...]
    context: tuple[Message, ...]
    transcript: Transcript
    tokens: int

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids that an answer may cite, context first."""
        return tuple(message.id for message in (*self.context, *self.messages))

    @property
    def members(self) -> tuple[str, ...]:
        """The names of those who speak, in order of appearance."""
        speakers = (message.name for message in (*self.context, *self.messages) if message.name)
        return tuple(dict.fromkeys(speakers))


@dataclass
class Chunker:
    """Makes chunks of at most `limit_tokens`, as `count` counts them. Feed it messages in the order of each chat."""

    count: Callable[[str], int]
    limit_tokens: int
    _waiting: dict[str, list[Message]] = field(default_factory=dict)
    _sizes: dict[str, int] = field(default_factory=dict)
    _totals: dict[str, int] = field(default_factory=dict)
    _said: dict[str, Message] = field(default_factory=dict)
    _number: int = 0

    def chunks(self, messages: Iterable[Message]) -> Iterator[Chunk]:
        """The chunks of all conversations among `messages`, each as soon as it is full."""
        for message in messages:
            chat = message.group.id
            waiting = self._waiting.setdefault(chat, [])
            if waiting and self._is_full(waiting, message):
                yield self._cut(waiting, _best_cut(waiting, message, self._totals[chat], self._size))
                self._totals[chat] = sum(map(self._size, waiting))
            waiting.append(message)
            self._totals[chat] = self._totals.get(chat, 0) + self._size(message)
        for waiting in self._waiting.values():
            while waiting:
                yield self._cut(waiting, len(waiting))

    def _is_full(self, waiting: Sequence[Message], coming: Message) -> bool:
        budget = self.limit_tokens - self.limit_tokens // CONTEXT_SHARE
        total = self._totals[coming.group.id]
        new_day = waiting[-1].time.date() != coming.time.date() and total * 4 >= budget
        return new_day or total + self._size(coming) > budget

    def _size(self, message: Message) -> int:
        """The tokens of a message's line, counted once; a little more than it adds to the text that holds it."""
        if message.id not in self._sizes:
            self._sizes[message.id] = self.count(line_of(message, named_day="2026-01-01") + "\n")
        return self._sizes[message.id]

    def _cut(self, waiting: list[Message], at: int) -> Chunk:
        """The chunk of the first messages that wait; fewer, should they turn out too many when counted together."""
        while True:
            taken = tuple(waiting[:at])
            context = self._context(taken)
            transcript = Transcript.of((*_context_lines(context), *lines_of(taken)))
            tokens = self.count(transcript.text)
            if tokens <= self.limit_tokens or at == 1:
                break
            at -= max(1, at // 10)
        del waiting[:at]
        for message in taken:
            self._sizes.pop(message.id, None)
            self._said[message.id] = message
        self._forget(taken[-1])
        self._number += 1
        return Chunk(self._number, taken[0].group, taken, context, transcript, tokens)

    def _context(self, taken: Sequence[Message]) -> tuple[Message, ...]:
        """What these messages reply to, and what was said right before them."""
        own = {message.id for message in taken}
        replied = (message.quoted.message_id for message in taken if message.quoted and message.quoted.message_id)
        wanted = [self._said[key] for key in dict.fromkeys(replied) if key not in own and key in self._said]
        before = [said for said in self._said.values() if said.group.id == taken[0].group.id][-CONTEXT_MESSAGES:]
        wanted += [said for said in before if taken[0].time - said.time < STILL_TALKING and said not in wanted]
        room, context = self.limit_tokens // CONTEXT_SHARE, []
        for message in wanted:
            room -= self.count(line_of(message, named_day="2026-01-01") + "\n")
            if room >= 0:
                context.append(message)
        return tuple(sorted(context, key=lambda message: message.time))

    def _forget(self, last: Message) -> None:
        """Keeps what later messages may reply to: the last two days of the chat, at most 2,000 messages."""
        if len(self._said) > 2000:
            recent = [said for said in self._said.values() if last.time - said.time < timedelta(days=2)][-1000:]
            self._said = {said.id: said for said in recent}


def _best_cut(waiting: Sequence[Message], coming: Message, total: int, size: Callable[[Message], int]) -> int:
    """After how many messages to cut: at the longest pause of the second half, between a reply and what it replies to
    only where there is no other place."""
    spoken, candidates = 0, []
    open_replies = _reply_spans((*waiting, coming))
    for at, (earlier, later) in enumerate(pairwise((*waiting, coming)), 1):
        spoken += size(earlier)
        if spoken * 2 >= total:
            splits_reply = any(start < at <= end for start, end in open_replies)
            candidates.append((not splits_reply, later.time - earlier.time, at))
    return max(candidates)[2] if candidates else len(waiting)


def _reply_spans(messages: Sequence[Message]) -> list[tuple[int, int]]:
    where = {message.id: at for at, message in enumerate(messages)}
    return [
        (where[message.quoted.message_id], at)
        for at, message in enumerate(messages)
        if message.quoted and message.quoted.message_id in where
    ]


def _context_lines(context: Sequence[Message]) -> list[Line]:
    return [Line(f"(…) {line.text}", line.messages) for line in lines_of(context)]
