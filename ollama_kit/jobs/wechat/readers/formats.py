"""The formats of chats that ship, each by what begins it. `ollama_kit.plugins` gives them their names.

A CSV is known by its whole first row, a JSON by its first keys, a database by its tables. A text is in the format in
which the first line is written that begins a message in any.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal

from ollama_kit.errors import ChatError
from ollama_kit.jobs.wechat.readers.bot_log import LINE as LOG_LINE, read_bot_log
from ollama_kit.jobs.wechat.readers.chatlab import read_chatlab_json, read_chatlab_jsonl
from ollama_kit.jobs.wechat.readers.chatlog import CSV_HEADER as CHATLOG_HEADER, read_chatlog_csv, read_chatlog_json
from ollama_kit.jobs.wechat.readers.chatlog_text import header as chatlog_header, read_chatlog_text
from ollama_kit.jobs.wechat.readers.daily_text import DAY, read_daily_text
from ollama_kit.jobs.wechat.readers.memotrace import V1_HEADER, V2_HEADER, read_v1_csv, read_v2_csv
from ollama_kit.jobs.wechat.readers.paste import header as paste_header, read_paste
from ollama_kit.jobs.wechat.readers.pywxdump import CSV_HEADER as PYWXDUMP_HEADER, read_pywxdump_csv, read_pywxdump_json
from ollama_kit.jobs.wechat.readers.recognize import ChatFile, ChatReader
from ollama_kit.jobs.wechat.readers.record import Event, Options, Reader
from ollama_kit.jobs.wechat.readers.timed_text import HEADER as TIMED_HEADER, dialect_of, read_timed_text
from ollama_kit.jobs.wechat.readers.weflow import WECLONE_HEADER, read_weclone_csv, read_weflow_json

_FEW_LINES = 400
_FIRST_KEY = re.compile(r'\s*\[\s*\{\s*"')
_FIRST_ITEM_CHARS = 4096


def _text(recognizes: Callable[[ChatFile], int | None], read: Reader, unit: Literal["line", "item"]) -> ChatReader:
    def reads(file: ChatFile, options: Options) -> Iterator[Event]:
        if file.source is None:
            raise ChatError("not a text", path=file.path)
        return read(file.source, options)

    return ChatReader(recognizes, reads, unit)


def _csv(header: tuple[str, ...], read: Reader) -> ChatReader:
    """By all cells of the first row."""
    return _text(lambda file: 0 if file.csv_header == header else None, read, "line")


def _array(is_it: Callable[[str], bool], read: Reader) -> ChatReader:
    """By the head of a JSON array, which begins with its bracket."""

    def recognizes(file: ChatFile) -> int | None:
        head = file.head.lstrip()
        return 0 if head.startswith("[") and is_it(head) else None

    return _text(recognizes, read, "item")


def _object(*keys: str, read: Reader) -> ChatReader:
    """By the head of a JSON object that has these keys, at whatever depth."""
    quoted = [f'"{key}"' for key in keys]

    def recognizes(file: ChatFile) -> int | None:
        head = file.head.lstrip()
        return 0 if head.startswith("{") and all(key in head for key in quoted) else None

    return _text(recognizes, read, "item")


def _lines(begins: Callable[[str, bool], object], read: Reader, dialect: str = "") -> ChatReader:
    """By the first line that begins a message: `begins` is given the line and whether the one before it is blank."""

    def recognizes(file: ChatFile) -> int | None:
        blank = True
        for number, line in enumerate(file.head.splitlines()[:_FEW_LINES], 1):
            if begins(line, blank):
                return None if dialect and dialect_of(file.head) != dialect else number
            blank = not line.strip()
        return None

    return _text(recognizes, read, "line")


def _database(of_these: Callable[[frozenset[str]], bool], reader: Literal["read_v3", "read_v4"]) -> ChatReader:
    def reads(file: ChatFile, options: Options) -> Iterator[Event]:
        from ollama_kit.jobs.wechat.readers import wechat_database  # sqlite3 is for these files only

        read = wechat_database.read_v3 if reader == "read_v3" else wechat_database.read_v4
        return read(file.path, options)

    return ChatReader(lambda file: 0 if of_these(file.tables) else None, reads, "item")


def _is_pywxdump(head: str) -> bool:
    return _FIRST_KEY.match(head) is not None and '"MsgSvrID"' in head[:_FIRST_ITEM_CHARS]


def _is_chatlog(head: str) -> bool:
    first = head[:_FIRST_ITEM_CHARS]
    return _FIRST_KEY.match(head) is not None and '"talker"' in first and '"seq"' in first


def _chatlab_lines(file: ChatFile) -> int | None:
    """ChatLab's JSON lines: comments may stand above the first."""
    head = file.head.lstrip()
    if head[:1] not in ("{", "#"):
        return None
    first = next((line for line in head.splitlines() if line.strip() and not line.startswith("#")), "")
    return 0 if first.startswith("{") and '"_type"' in first else None


def _timed(line: str, after_blank: bool) -> bool:
    return after_blank and TIMED_HEADER.fullmatch(line) is not None


def _chatlog(line: str, after_blank: bool) -> bool:
    """A header of chatlog's; one without an id or the name of the system can be what somebody pasted."""
    found = chatlog_header(line, after_blank)
    if found is None:
        return False
    return bool(found["id"]) or found["who"] == "系统消息" or not paste_header(line, after_blank)


MEMOTRACE_V2_CSV = _csv(V2_HEADER, read_v2_csv)
WECHATMSG_V1_CSV = _csv(V1_HEADER, read_v1_csv)
PYWXDUMP_CSV = _csv(PYWXDUMP_HEADER, read_pywxdump_csv)
CHATLOG_CSV = _csv(CHATLOG_HEADER, read_chatlog_csv)
WECLONE_CSV = _csv(WECLONE_HEADER, read_weclone_csv)

JSON_EMPTY = _array(lambda head: head[1:].lstrip().startswith("]"), read_chatlog_json)
PYWXDUMP_JSON = _array(_is_pywxdump, read_pywxdump_json)
CHATLOG_JSON = _array(_is_chatlog, read_chatlog_json)
CHATLAB_JSONL = _text(_chatlab_lines, read_chatlab_jsonl, "line")
CHATLAB_JSON = _object("chatlab", read=read_chatlab_json)
WEFLOW_ARKME_JSON = _object("weflow", "senderID", read=read_weflow_json)
WEFLOW_JSON = _object("weflow", read=read_weflow_json)
ECHOTRACE_JSON = _object("session", read=read_weflow_json)

MEMOTRACE_V2_DAILY_TXT = _lines(lambda line, _: DAY.fullmatch(line), read_daily_text)
CHATGPT_ON_WECHAT_LOG = _lines(lambda line, _: LOG_LINE.match(line), read_bot_log)
MEMOTRACE_V2_TXT = _lines(_timed, read_timed_text, "memotrace-v2-txt")
WECHATMSG_V1_TXT = _lines(_timed, read_timed_text, "wechatmsg-v1-txt")
WEFLOW_TXT = _lines(_timed, read_timed_text, "weflow-txt")
CHATLOG_TXT = _lines(_chatlog, read_chatlog_text)
PASTE = _lines(paste_header, read_paste)

WECHAT_V3_DB = _database(lambda tables: "MSG" in tables, "read_v3")
WECHAT_V4_DB = _database(
    lambda tables: "Name2Id" in tables and any(name.startswith("Msg_") for name in tables), "read_v4"
)
