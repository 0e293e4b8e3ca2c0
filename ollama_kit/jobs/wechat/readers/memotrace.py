"""MemoTrace (WeChatMsg 2 and later) and WeChatMsg 1: their CSV files. Their texts are read by timed_text.py."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ollama_kit.jobs.wechat.message import Group
from ollama_kit.jobs.wechat.readers.appmsg import of_xml
from ollama_kit.jobs.wechat.readers.csv_rows import read_csv
from ollama_kit.jobs.wechat.readers.kinds import by_type, named, of_system
from ollama_kit.jobs.wechat.readers.marks import memotrace_part, of_memotrace, split_memotrace_quote
from ollama_kit.jobs.wechat.readers.record import Event, Note, Options, Record, Reply
from ollama_kit.jobs.wechat.readers.stream import Source
from ollama_kit.jobs.wechat.readers.timestamps import moment, stamp

V2_HEADER = ("消息ID", "类型", "发送人", "时间", "内容", "备注", "昵称", "更多信息")
V1_HEADER = (
    *("localId", "TalkerId", "Type", "SubType", "IsSender", "CreateTime"),
    *("Status", "StrContent", "StrTime", "Remark", "NickName", "Sender"),
)
V1_PRIVATE_CELLS = 9
"""Cells of a row of a private chat under the header of twelve: who wrote is only in IsSender."""

_MANGLED = re.compile(r'[\\/:*?"<>|\s.]')


def group_of_file(source: Source, private: bool = False) -> Group:
    """The group of a file that does not name one: its path, and for people its name without the ending."""
    return Group(f"file:{source.path}", source.path.stem, private)


@lru_cache(maxsize=4096)
def true_name(shown: str, nickname: str) -> str:
    """The nickname where MemoTrace's shown name is that nickname made fit for a file name, else the name shown.

    >>> true_name("Kevin_Wu", "Kevin Wu"), true_name("林知远", "知远")
    ('Kevin Wu', '林知远')
    """
    return nickname if shown != nickname and _MANGLED.sub("_", nickname) == shown else shown


def read_v2_csv(source: Source, options: Options) -> Iterator[Event]:
    """The messages of a MemoTrace 2 CSV. It has no wxid, no group and does not say which messages are one's own."""
    group, zone = group_of_file(source), options.zone

    def make(row: list[str], line: int) -> Record:
        if len(row) != len(V2_HEADER):
            raise ValueError(f"{len(row)} cells instead of {len(V2_HEADER)}")
        number, word, sender, time, content, _, nickname, _ = row
        when = moment(time, zone)
        kind, detail, reply = named(word), "", None
        if kind == "text":
            name = true_name(sender, nickname)
            return Record(number, when, sender, name, False, kind, content, None, group, line)
        name = true_name(sender, nickname) if sender else ""
        if kind == "system" or kind == "recall":
            return Record(number, when, sender, name, False, of_system(content), content, None, group, line)
        text = content
        if kind == "quote":
            text, reply = split_memotrace_quote(content) or (content, Reply())
        elif marked := of_memotrace(content):
            _, text, detail = marked
        elif content.startswith("【") and kind != "unknown":
            _, text, detail = memotrace_part(kind, content.partition("】")[2])
        return Record(number, when, sender, name, False, kind, text, reply, group, line, detail)

    return read_csv(source, options, make)


def read_v1_csv(source: Source, options: Options) -> Iterator[Event]:
    """The messages of a WeChatMsg 1 CSV. What is an app message (a file, a link, a quote) has lost its text."""
    groups = {private: group_of_file(source, private) for private in (False, True)}
    lost = 0

    def make(row: list[str], line: int) -> Record:
        nonlocal lost
        if len(row) not in (len(V1_HEADER), V1_PRIVATE_CELLS):
            raise ValueError(f"{len(row)} cells instead of {len(V1_HEADER)} or {V1_PRIVATE_CELLS}")
        number, talker, kind_number, subtype, is_own, created, _, content, _ = row[:9]
        own, private = is_own == "1", len(row) == V1_PRIVATE_CELLS
        if private:
            sender, name = ("self", "我") if own else (f"talker:{talker}", "对方")
        else:
            remark, nickname, sender = row[9:]
            name = remark or nickname or sender
        kind, detail = by_type(int(kind_number), int(subtype or 0)), ""
        if kind == "system":
            sender, name = (sender, name) if row[9:] and sender else ("", "")
            kind = of_system(content)
        elif kind != "text":
            lost += not content
            _, content, detail = of_xml(kind, content)
        when = stamp(created, options.zone) if created else moment(row[8], options.zone)
        reply = Reply() if kind == "quote" else None
        return Record(number, when, sender, name, own, kind, content, reply, groups[private], line, detail)

    yield from read_csv(source, options, make)
    if lost:
        yield Note(f"{lost} messages (files, links, quotes and the like) have no text in this format")
