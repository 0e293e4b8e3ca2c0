"""chatlog: the CSV and JSON of its HTTP interface, and what its texts are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ollama_kit.jobs.wechat.message import Group
from ollama_kit.jobs.wechat.readers.csv_rows import read_csv
from ollama_kit.jobs.wechat.readers.json_items import Item, read_json
from ollama_kit.jobs.wechat.readers.kinds import by_type, named, of_system
from ollama_kit.jobs.wechat.readers.marks import BARE, Content
from ollama_kit.jobs.wechat.readers.record import Event, Options, Record, Reply
from ollama_kit.jobs.wechat.readers.stream import Source
from ollama_kit.jobs.wechat.readers.timestamps import moment

SYSTEM = "系统消息"
CSV_HEADER = ("Time", "SenderName", "Sender", "TalkerName", "Talker", "Content")

_QUOTE_HEAD = re.compile(r"> (.{0,128}?)\(([^()\n]{1,64})\) ((?:\d{4}-)?(?:\d{2}-\d{2} )?\d{2}:\d{2}:\d{2})")
_FORWARD_HEAD = re.compile(r"  (.*?) (?:\d{4}-)?(?:\d{2}-\d{2} )?\d{2}:\d{2}:\d{2}")


_MARK_BEGINS = ("[", "!", ">")


@lru_cache(maxsize=1024)
def _group(talker: str, name: str) -> Group:
    return Group(talker, name or talker, not talker.endswith("@chatroom"))


def of_text(content: str) -> tuple[Content, Reply | None]:
    """What one of chatlog's texts is: plain, with a mark (`![图片](url)`, `[文件|name](url)`), or a quote.

    >>> of_text("[文件|a.docx](http://127.0.0.1:5030/file/1)")
    (('file', 'a.docx', 'http://127.0.0.1:5030/file/1'), None)
    >>> of_text("> 周若彤(wxid_a) 03-09 09:05:18\\n> 复现了\\n看到了")
    (('quote', '看到了', ''), Reply(name='周若彤', text='复现了', native_id='', time=None))
    """
    if content.startswith("> ") and (quote := _split_quote(content)):
        return ("quote", quote[0], ""), quote[1]
    if content.startswith(("[", "![")):
        return _marked(content) or ("text", content, ""), None
    return ("text", content, ""), None


def _split_quote(content: str) -> tuple[str, Reply] | None:
    head, *lines = content.split("\n")
    found = _QUOTE_HEAD.fullmatch(head.rstrip("\r"))
    if found is None:
        return None
    quoted = 0
    while quoted < len(lines) and lines[quoted].startswith(">"):
        quoted += 1
    text = "\n".join(line.removeprefix(">").removeprefix(" ") for line in lines[:quoted])
    (kind, _, _), _ = of_text(text) if not text.startswith("> ") else (("text", text, ""), None)
    return "\n".join(lines[quoted:]), Reply(found[1], text if kind == "text" else "")


def _marked(content: str) -> Content | None:
    """`[word]`, `[word|title]` and either with `(address)` behind it; a forward goes on with its messages."""
    body = content[content.index("[") + 1 :]
    word = re.match(r"[^|\]\n]{1,12}", body)
    kind = named(word[0]) if word else "unknown"
    if word is None or kind in ("unknown", "text", "quote"):
        return None
    rest = body[word.end() :]
    if kind == "forward":
        title, _, lines = rest.lstrip("|").partition("]\n")
        return "forward", _forwarded(lines), title.removesuffix("]")
    address = ""
    if rest.endswith(")") and "](" in rest:
        rest, _, address = rest[:-1].rpartition("](")
    elif rest.endswith("]"):
        rest = rest[:-1]
    else:
        return None
    return (kind, "" if kind in BARE else rest.removeprefix("|"), address)


def _forwarded(text: str) -> str:
    """`name: words` lines of a forward's blocks, each a line of name and time with the words, indented, below."""
    lines: list[str] = []
    fresh = False
    for line in text.split("\n"):
        if found := _FORWARD_HEAD.fullmatch(line.rstrip("\r")):
            lines.append(found[1] + ":")
            fresh = True
        elif line.strip() and lines:
            lines[-1] += (" " if fresh else "\n") + line.removeprefix("  ").rstrip("\r")
            fresh = False
    return "\n".join(lines)


def read_chatlog_csv(source: Source, options: Options) -> Iterator[Event]:
    """The messages of a chatlog CSV. It does not say which are one's own."""
    zone = options.zone

    def make(row: list[str], line: int) -> Record:
        if len(row) != len(CSV_HEADER):
            raise ValueError(f"{len(row)} cells instead of {len(CSV_HEADER)}")
        time, name, sender, room, talker, content = row
        group, when = _group(talker, room), moment(time, zone)
        if content[:1] not in _MARK_BEGINS and sender != SYSTEM:
            return Record("", when, sender, name or sender, False, "text", content, None, group, line)
        if sender == SYSTEM:
            return Record("", when, "", "", False, of_system(content), content, None, group, line)
        (kind, text, detail), reply = of_text(content)
        return Record("", when, sender, name or sender, False, kind, text, reply, group, line, detail)

    return read_csv(source, options, make)


def read_chatlog_json(source: Source, options: Options) -> Iterator[Event]:
    """The messages of chatlog's JSON list."""
    return read_json(source.blocks(), lambda item: _of_item(item, options))


def _of_item(part: Item, options: Options) -> Record:
    item: dict[str, Any] = part.value
    group = _group(item["talker"], item.get("talkerName") or "")
    when, content = moment(item["time"], options.zone), item.get("content") or ""
    sender = item["sender"]
    kind = by_type(item["type"], item.get("subType") or 0)
    if sender == SYSTEM or kind == "system":
        shown = "" if sender == SYSTEM else sender
        return Record("", when, shown, "", False, of_system(content), content, None, group, part.number)
    own, name = bool(item.get("isSelf")), item.get("senderName") or sender
    if kind == "text":
        return Record("", when, sender, name, own, kind, content, None, group, part.number)
    contents = item.get("contents") or {}
    reply, detail = None, ""
    if kind == "quote":
        refer = contents.get("refer") or {}
        written = refer.get("time") or ""
        at = moment(written, options.zone) if written else None
        text_of_it = refer.get("content") or "" if refer.get("type", 1) == 1 else ""
        reply = Reply(refer.get("senderName") or refer.get("sender") or "", text_of_it, "", at)
    elif kind == "forward":
        content, detail = _record_info(contents), contents.get("title") or ""
    else:
        content = content or contents.get("title") or ""
        detail = "\n".join(filter(None, (contents.get("desc"), contents.get("url"), contents.get("path"))))
    return Record("", when, sender, name, own, kind, content, reply, group, part.number, detail)


def _record_info(contents: dict[str, Any]) -> str:
    items = ((contents.get("recordInfo") or {}).get("DataList") or {}).get("DataItems") or []
    lines = [f"{item.get('SourceName', '')}: {item.get('DataDesc') or item.get('DataTitle', '')}" for item in items]
    return "\n".join(lines) or contents.get("desc") or ""
