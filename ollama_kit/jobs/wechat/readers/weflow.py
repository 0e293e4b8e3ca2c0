"""WeFlow's JSON in its two forms, EchoTrace's, which is the same without a key `weflow`, and WeFlow's WeClone CSV."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ollama_kit.jobs.wechat.message import Group, Kind
from ollama_kit.jobs.wechat.readers.csv_rows import read_csv
from ollama_kit.jobs.wechat.readers.json_items import Head, Item, read_json
from ollama_kit.jobs.wechat.readers.kinds import by_type, named, of_system
from ollama_kit.jobs.wechat.readers.marks import of_brackets, split_bracket_quote
from ollama_kit.jobs.wechat.readers.memotrace import group_of_file
from ollama_kit.jobs.wechat.readers.record import Event, Options, Record, Reply
from ollama_kit.jobs.wechat.readers.stream import Source
from ollama_kit.jobs.wechat.readers.timed_text import is_notice, weflow_content
from ollama_kit.jobs.wechat.readers.timestamps import moment, stamp

WECLONE_HEADER = ("id", "MsgSvrID", "type_name", "is_sender", "talker", "msg", "src", "CreateTime")
_WECLONE: dict[str, Kind] = {"image": "image", "video": "video", "sticker": "sticker", "voice": "voice", "file": "file"}


def read_weflow_json(source: Source, options: Options) -> Iterator[Event]:
    """The messages of a WeFlow or EchoTrace file."""
    group, senders = group_of_file(source), dict[Any, dict[str, Any]]()

    def take(head: Head) -> None:
        nonlocal group, senders
        if head.key == "session" and isinstance(head.value, dict):
            group = _group(head.value) or group
        elif head.key == "senders":
            senders = _senders(head)

    return read_json(source.blocks(), lambda item: _of_item(item, options, group, senders), take)


def _group(session: dict[str, Any]) -> Group | None:
    wxid = session.get("wxid")
    if not isinstance(wxid, str) or not wxid:
        return None
    return Group(wxid, session.get("displayName") or session.get("nickname") or wxid, not wxid.endswith("@chatroom"))


def _senders(head: Head) -> dict[Any, dict[str, Any]]:
    """The table that `senderID` of the arkme form refers to."""
    rows = head.value if isinstance(head.value, list) else []
    return {row["senderID"]: row for row in rows if isinstance(row, dict) and "senderID" in row}


def _of_item(part: Item, options: Options, group: Group, senders: dict[Any, dict[str, Any]]) -> Record:
    item: dict[str, Any] = part.value
    created = item.get("createTime")
    when = stamp(created, options.zone) if created else moment(item["formattedTime"], options.zone)
    if "senderID" in item:
        who = senders.get(item["senderID"], {})
        sender = who.get("wxid") or f"sender:{item['senderID']}"
        name = who.get("displayName") or who.get("nickname") or sender
    else:
        sender = item.get("senderUsername") or ""
        name = item.get("senderDisplayName") or sender
    number, own = str(item.get("platformMessageId") or ""), bool(item.get("isSend"))
    content = item.get("content") or ""
    kind = named(item.get("type") or "")
    if kind == "system":
        sender, name = ("", "") if sender == group.id else (sender, name)
        return Record(number, when, sender, name, own, of_system(content), content, None, group, part.number)
    if kind == "unknown":  # a word for all that is rare; the type number is trusted only here
        packed = item.get("localType")
        kind = by_type(packed & 0xFFFFFFFF, packed >> 32) if isinstance(packed, int) else kind
    text, reply, detail = content, None, ""
    if kind == "quote":
        said = (item.get("quotedSender") or "", item.get("quotedContent") or "")
        text, reply = split_bracket_quote(content, *said) or (content, Reply(*said))
        reply = reply._replace(native_id=str(item.get("replyToMessageId") or ""))
    elif kind != "text" and (marked := of_brackets(content)):
        _, text, detail = marked
        detail = "\n".join(filter(None, (detail, item.get("linkUrl"))))
    return Record(number, when, sender, name, own, kind, text, reply, group, part.number, detail)


def read_weclone_csv(source: Source, options: Options) -> Iterator[Event]:
    """The messages of a WeClone CSV: times in UTC, names only, and most kinds called `text`."""
    group, known = group_of_file(source), set[str]()

    def make(row: list[str], line: int) -> Record:
        if len(row) != len(WECLONE_HEADER):
            raise ValueError(f"{len(row)} cells instead of {len(WECLONE_HEADER)}")
        _, number, word, is_own, name, content, src, time = row
        when, own = moment(time, options.zone), is_own == "1"
        (kind, text, detail), reply = weflow_content(content)
        if word in _WECLONE and kind != _WECLONE[word]:
            kind, text, reply = _WECLONE[word], "", None
        if kind == "text" and is_notice(text, name, known):
            return Record(number, when, "", "", False, of_system(text), text, None, group, line)
        known.add(name)
        return Record(number, when, name, name, own, kind, text, reply, group, line, detail or src)

    return read_csv(source, options, make)
