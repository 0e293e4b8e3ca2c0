"""PyWxDump: CSV and JSON, with the people's names in a `users.json` beside them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ollama_kit.jobs.wechat.message import Group
from ollama_kit.jobs.wechat.readers.csv_rows import read_csv
from ollama_kit.jobs.wechat.readers.json_items import read_json
from ollama_kit.jobs.wechat.readers.kinds import named, of_system
from ollama_kit.jobs.wechat.readers.record import Event, Note, Options, Record, Reply, problem_of
from ollama_kit.jobs.wechat.readers.stream import Source, open_source
from ollama_kit.jobs.wechat.readers.timestamps import moment

CSV_HEADER = ("id", "MsgSvrID", "type_name", "is_sender", "talker", "room_name", "msg", "src", "CreateTime")
USERS = "users.json"
LARGEST_USERS = 1 << 28
"""Bytes of a users.json that are still read: it is held whole."""

_SYSTEM = "系统"
_QUOTE = "\n\n[引用]("
_TRANSCRIPT = "翻译结果："
_LINK = re.compile(r'\n*<a href="[^"\n]*"[^>\n]*>[^<\n]*</a>\s*$')


def read_pywxdump_csv(source: Source, options: Options) -> Iterator[Event]:
    """The messages of a PyWxDump CSV."""
    names, note = _names(source.path)
    if note:
        yield note
    make = _maker(names, options)
    yield from read_csv(source, options, lambda row, line: make(_checked(row), line))


def _checked(row: list[str]) -> list[str]:
    if len(row) != len(CSV_HEADER):
        raise ValueError(f"{len(row)} cells instead of {len(CSV_HEADER)}")
    return row


def read_pywxdump_json(source: Source, options: Options) -> Iterator[Event]:
    """The messages of a PyWxDump JSON."""
    names, note = _names(source.path)
    if note:
        yield note
    make = _maker(names, options)
    yield from read_json(source.blocks(), lambda item: make([item.value.get(key) for key in CSV_HEADER], item.number))


def _names(path: Path) -> tuple[dict[str, str], Note | None]:
    """Names by wxid: the remark, else the nickname. A note where there is no users.json that can be read."""
    beside = path.with_name(USERS)
    try:
        if beside.stat().st_size > LARGEST_USERS or (source := open_source(beside)) is None:
            raise ValueError("too large, or no text")
        people = json.loads("".join(source.blocks()))
        return {wxid: who.get("remark") or who.get("nickname") or wxid for wxid, who in people.items()}, None
    except OSError:
        return {}, Note(f"no {USERS} beside this file: people are shown by their wxid")
    except (ValueError, AttributeError) as problem:
        return {}, Note(f"{USERS} could not be read ({problem_of(problem)}): people are shown by their wxid")


def _maker(names: dict[str, str], options: Options) -> Callable[[list[Any], int], Record]:
    """Makes a message of the nine values of a row."""
    groups: dict[str, Group] = {}
    with_colon = sorted((name for name in names.values() if ":" in name), key=len, reverse=True)

    def make(row: list[Any], line: int) -> Record:
        _, number, word, is_own, talker, room, content, src, time = row
        number = str(number or "")
        when = moment(time, options.zone)
        group = groups.get(room)
        if group is None:
            group = groups.setdefault(room, Group(room, names.get(room, room), not room.endswith("@chatroom")))
        if talker == _SYSTEM:
            return Record(number, when, "", "", False, of_system(content), content, None, group, line)
        kind, own, name = named(word), str(is_own) == "1", names.get(talker, talker)
        if kind == "text":
            return Record(number, when, talker, name, own, kind, content, None, group, line)
        if kind == "system":
            return Record(number, when, talker, name, own, of_system(content), content, None, group, line)
        if kind == "quote":
            text, reply = _split_quote(content, options, with_colon)
            return Record(number, when, talker, name, own, kind, text, reply, group, line)
        text, detail = _text_of(kind, content, src)
        return Record(number, when, talker, name, own, kind, text, None, group, line, detail)

    return make


def _split_quote(content: str, options: Options, with_colon: Sequence[str]) -> tuple[str, Reply]:
    """The words and the reply of `words\\n\\n[引用](time)name:original`; a name that holds a colon has to be known."""
    text, found, quote = content.rpartition(_QUOTE)
    written, closed, rest = quote.partition(")")
    name = next((known for known in with_colon if rest.startswith(f"{known}:")), rest.partition(":")[0])
    colon, original = rest[len(name) : len(name) + 1], rest[len(name) + 1 :]
    if not (found and closed and colon):
        return content, Reply()
    try:
        at = moment(written, options.zone)
    except ValueError:
        at = None
    return text, Reply(name, original, "", at)


def _text_of(kind: str, content: str, src: Any) -> tuple[str, str]:
    """Text and detail. A file's name stands in `src` alone, a forward's source there as a Python dict."""
    where = src if isinstance(src, str) else ""
    if kind == "file":
        return where.rpartition("\\" if "\\" in where else "/")[2], where
    if kind == "voice":
        _, found, words = content.partition(_TRANSCRIPT)
        return (words if found else ""), where
    if kind in ("link", "mini_program"):
        title, _, rest = _LINK.sub("", content).partition("\n")
        return title, "\n".join(filter(None, (rest.strip("\n"), where)))
    if kind == "forward":
        title, _, lines = content.partition("\n")
        return lines, title
    if kind in ("image", "video", "sticker"):
        return "", where
    return ("" if content == "未知" else content), where
