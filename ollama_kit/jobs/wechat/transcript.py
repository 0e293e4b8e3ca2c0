"""Messages as the lines that a model reads: a short id, the time, who, what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ollama_kit.jobs.wechat.message import Message

QUOTED_CHARACTERS = 60
NOISE = frozenset({"system", "recall", "sticker"})
"""Kinds that say nothing by themselves; a run of them is one line."""

_KINDS = {
    "image": "图片",
    "voice": "语音",
    "video": "视频",
    "file": "文件",
    "link": "链接",
    "transfer": "转账",
    "red_packet": "红包",
    "mini_program": "小程序",
    "location": "位置",
    "card": "名片",
    "call": "通话",
    "forward": "转发",
}


@dataclass(frozen=True)
class Line:
    """One line of a transcript and the messages it stands for: one, or a run of noise."""

    text: str
    messages: tuple[Message, ...]


@dataclass(frozen=True)
class Transcript:
    """Lines joined; `spans` says where in `text` each message stands."""

    text: str
    spans: tuple[tuple[int, int, tuple[str, ...]], ...]

    @staticmethod
    def of(lines: Iterable[Line]) -> Transcript:
        parts, spans, at = [], [], 0
        for line in lines:
            parts.append(line.text)
            spans.append((at, at + len(line.text), tuple(message.id for message in line.messages)))
            at += len(line.text) + 1
        return Transcript("\n".join(parts), tuple(spans))

    def messages_at(self, start: int, end: int) -> tuple[str, ...]:
        """The ids of the messages that a span of the text touches."""
        return tuple(key for begins, ends, keys in self.spans if begins < end and start < ends for key in keys)


def lines_of(messages: Sequence[Message]) -> list[Line]:
    """The lines of a run of messages, oldest first; each day is named once."""
    lines: list[Line] = []
    noise: list[Message] = []
    day = ""
    for message in messages:
        if message.kind in NOISE:
            noise.append(message)
            continue
        lines += _folded(noise)
        noise = []
        today = f"{message.time:%Y-%m-%d}"
        lines.append(Line(line_of(message, named_day=today if today != day else ""), (message,)))
        day = today
    return [*lines, *_folded(noise)]


def line_of(message: Message, *, named_day: str = "") -> str:
    """One message on one line. Line ends inside it become a mark, so that nobody can write a line of their own."""
    when = f"{named_day} {message.time:%H:%M}" if named_day else f"{message.time:%H:%M}"
    kind = _KINDS.get(message.kind, "")
    said = " ".join(part for part in (f"[{kind}]" if kind else "", message.text) if part)
    if message.quoted is not None:
        said += _reply(message)
    name = message.name or message.sender
    return f"[{message.id}] {when} {_one_line(name)}: {_one_line(said)}"


def _reply(message: Message) -> str:
    quoted = message.quoted
    if quoted is None:
        return ""
    if quoted.message_id:
        return f" (→ {quoted.message_id})"
    words = quoted.text if len(quoted.text) <= QUOTED_CHARACTERS else quoted.text[: QUOTED_CHARACTERS - 1] + "…"
    return f" (→ {quoted.name}: {words})"


def _folded(noise: Sequence[Message]) -> list[Line]:
    if not noise:
        return []
    words = "; ".join(dict.fromkeys(_one_line(message.text)[:40] for message in noise if message.text))
    span = noise[0].id if len(noise) == 1 else f"{noise[0].id}–{noise[-1].id}"
    return [Line(f"({span}: {words[:120] or '…'})", tuple(noise))]


def _one_line(text: str) -> str:
    return " ⏎ ".join(part.strip() for part in text.splitlines() if part.strip())
