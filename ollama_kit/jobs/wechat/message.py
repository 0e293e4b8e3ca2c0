"""One message of a chat, whatever it was exported with."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Literal, NamedTuple

Kind = Literal[
    "text",
    "image",
    "voice",
    "video",
    "file",
    "link",
    "quote",
    "recall",
    "system",
    "transfer",
    "red_packet",
    "mini_program",
    "location",
    "card",
    "call",
    "sticker",
    "forward",
    "unknown",
]

CHINA = timezone(timedelta(hours=8), "Asia/Shanghai")
"""The zone of an export that names none. China has kept +08:00 all year since before WeChat, so no zone data is
needed for it (Windows has none)."""


class Group(NamedTuple):
    """The conversation a message is of: a group, or the two people of a private chat.

    `id` is the exporter's (`…@chatroom`, a wxid); where the export has none it is `file:` and the path, so that two
    files never count as one conversation. `name` is for people."""

    id: str
    name: str
    private: bool = False


class Place(NamedTuple):
    """Where a message stands: the file, and its line or its item from 1 (the report says which is counted)."""

    file: str
    line: int


@dataclass(frozen=True)
class Quoted:
    """What a message replies to: who said it, the words (empty for a picture and the like), and the id of the message
    where it is among those read before."""

    name: str
    text: str
    message_id: str | None = None


@dataclass(frozen=True)
class Message:
    """One message. The texts are those of the exporter, except that a name is on one line without invisible
    characters, U+2005 (WeChat's blank after a mention) is a plain blank, and half a surrogate pair is U+FFFD.

    id       m1, m2 … in the order read; unique among the messages of one reading
    time     with its zone
    sender   stable within the export: the wxid where it has one, else the name; empty for the system
    name     as shown in the chat; empty for the system
    own      whether the owner of the export sent it; False where the format does not say
    text     text and quote: the words; voice: the transcript; file: its name; link, mini_program: the title;
             forward: a line `name: words` for each message; sticker, red_packet, transfer, call, location, card:
             what the export says of it; empty where it says nothing
    quoted   what a quote replies to
    detail   what only some formats have: a link's description and address, a file's path, a forward's title
    """

    id: str
    time: datetime
    sender: str
    name: str
    own: bool
    kind: Kind
    text: str
    quoted: Quoted | None
    group: Group
    source: Place
    detail: str = ""
