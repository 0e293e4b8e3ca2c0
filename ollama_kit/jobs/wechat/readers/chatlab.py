"""ChatLab 0.0.2: one JSON object, or a JSON line for the head, each member and each message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ollama_kit.jobs.wechat.message import Group, Kind
from ollama_kit.jobs.wechat.readers.json_items import Head, read_json
from ollama_kit.jobs.wechat.readers.kinds import of_system
from ollama_kit.jobs.wechat.readers.marks import of_brackets
from ollama_kit.jobs.wechat.readers.memotrace import group_of_file
from ollama_kit.jobs.wechat.readers.record import (
    ITEM_PROBLEMS,
    Broken,
    Event,
    Note,
    Options,
    Record,
    Reply,
    checked,
    problem_of,
)
from ollama_kit.jobs.wechat.readers.stream import Source
from ollama_kit.jobs.wechat.readers.timestamps import stamp

_KINDS: dict[int, Kind] = {
    0: "text",
    1: "image",
    2: "voice",
    3: "video",
    4: "file",
    5: "sticker",
    7: "link",
    8: "location",
    20: "red_packet",
    21: "transfer",
    22: "system",
    23: "call",
    24: "mini_program",
    25: "quote",
    26: "forward",
    27: "card",
    80: "system",
    81: "recall",
}
_SYSTEM = "system"


class _Chat:
    """What the head and the members say, for the messages that follow."""

    def __init__(self, source: Source, options: Options) -> None:
        self.group, self.owner, self.options = group_of_file(source), "", options
        self._names: dict[str, str] = {}

    def meta(self, meta: Any) -> None:
        if isinstance(meta, dict):
            self.owner = meta.get("ownerId") or ""
            private = meta.get("type") == "private"
            name = meta.get("name") or self.group.name
            self.group = Group(meta.get("groupId") or (f"private:{name}" if private else self.group.id), name, private)

    def member(self, member: Any) -> None:
        """A member's name: the remark (the first alias), else the one in this group, else their own."""
        if isinstance(member, dict) and isinstance(wxid := member.get("platformId"), str):
            aliases = member.get("aliases")
            alias = aliases[0] if isinstance(aliases, list) and aliases else ""
            self._names[wxid] = alias or member.get("groupNickname") or member.get("accountName") or wxid

    def message(self, item: dict[str, Any], line: int) -> Record:
        when = stamp(item["timestamp"], self.options.zone)
        sender, number = item["sender"], str(item.get("platformMessageId") or "")
        name = self._names.get(sender) or item.get("groupNickname") or item.get("accountName") or sender
        kind, content = _KINDS.get(item["type"], "unknown"), item.get("content") or ""
        if kind in ("system", "recall"):
            sender, name = ("", "") if sender == _SYSTEM else (sender, name)
            kind = "recall" if kind == "recall" else of_system(content)
            return Record(number, when, sender, name, False, kind, content, None, self.group, line)
        reply = Reply(native_id=str(item.get("replyToMessageId") or "")) if kind == "quote" else None
        text, detail = _text_of(kind, content)
        own = bool(self.owner) and sender == self.owner
        return Record(number, when, sender, name, own, kind, text, reply, self.group, line, detail)


def _text_of(kind: Kind, content: str) -> tuple[str, str]:
    """Text and detail; a link is `[title](address)`, other kinds may have a mark before the text."""
    if kind in ("text", "quote", "voice", "forward") or not content.startswith("["):
        return content, ""
    if kind in ("link", "mini_program") and content.endswith(")") and "](" in content:
        title, _, address = content[1:-1].rpartition("](")
        return title, address
    marked = of_brackets(content)
    return (marked[1], marked[2]) if marked else (content, "")


def read_chatlab_json(source: Source, options: Options) -> Iterator[Event]:
    """The messages of a ChatLab JSON. Members that come behind them cannot name them."""
    chat = _Chat(source, options)

    def take(head: Head) -> None:
        if head.key == "meta":
            chat.meta(head.value)
        elif head.key == "members" and isinstance(head.value, list):
            for member in head.value:
                chat.member(member)

    return read_json(source.blocks(), lambda item: chat.message(item.value, item.number), take)


def read_chatlab_jsonl(source: Source, options: Options) -> Iterator[Event]:
    """The messages of a ChatLab JSONL; lines that begin with # are comments."""
    chat, empty = _Chat(source, options), True
    for number, line in enumerate(source.lines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            item = json.loads(line)
            what = item["_type"]
            if what == "message":
                empty = False
                yield checked(chat.message(item, number))
            elif what == "member":
                chat.member(item)
            elif what == "header":
                chat.meta(item.get("meta"))
            else:
                raise ValueError(f"unknown _type {what!r:.40}")
        except json.JSONDecodeError as problem:
            yield Broken(number, f"not JSON: {problem.msg} at character {problem.pos}")
        except (*ITEM_PROBLEMS, RecursionError) as problem:
            yield Broken(number, problem_of(problem))
    if empty:
        yield Note("no messages in this file")
