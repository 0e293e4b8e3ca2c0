"""Which format a file is in, by what is in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ollama_kit.errors import ChatError
from ollama_kit.jobs.wechat.readers.bot_log import LINE as LOG_LINE, read_bot_log
from ollama_kit.jobs.wechat.readers.chatlab import read_chatlab_json, read_chatlab_jsonl
from ollama_kit.jobs.wechat.readers.chatlog import CSV_HEADER as CHATLOG_HEADER, read_chatlog_csv, read_chatlog_json
from ollama_kit.jobs.wechat.readers.chatlog_text import header as chatlog_header, read_chatlog_text
from ollama_kit.jobs.wechat.readers.csv_rows import header_of
from ollama_kit.jobs.wechat.readers.daily_text import DAY, read_daily_text
from ollama_kit.jobs.wechat.readers.memotrace import V1_HEADER, V2_HEADER, read_v1_csv, read_v2_csv
from ollama_kit.jobs.wechat.readers.paste import header as paste_header, read_paste
from ollama_kit.jobs.wechat.readers.pywxdump import CSV_HEADER as PYWXDUMP_HEADER, read_pywxdump_csv, read_pywxdump_json
from ollama_kit.jobs.wechat.readers.record import Event, Note, Options, Reader
from ollama_kit.jobs.wechat.readers.stream import Source, open_source
from ollama_kit.jobs.wechat.readers.timed_text import HEADER as TIMED_HEADER, dialect_of, read_timed_text
from ollama_kit.jobs.wechat.readers.weflow import WECLONE_HEADER, read_weclone_csv, read_weflow_json

_CSV: dict[tuple[str, ...], tuple[str, Reader]] = {
    V2_HEADER: ("memotrace-v2-csv", read_v2_csv),
    V1_HEADER: ("wechatmsg-v1-csv", read_v1_csv),
    PYWXDUMP_HEADER: ("pywxdump-csv", read_pywxdump_csv),
    CHATLOG_HEADER: ("chatlog-csv", read_chatlog_csv),
    WECLONE_HEADER: ("weclone-csv", read_weclone_csv),
}
_KNOWN = (
    "MemoTrace and WeChatMsg CSV and TXT, PyWxDump CSV and JSON, chatlog CSV, JSON and TXT, WeFlow JSON, TXT and"
    " WeClone CSV, ChatLab JSON and JSONL, decrypted WeChat databases, and pasted text (`name 2026-03-09 09:02`"
    " above each message)"
)
_HINT = (
    f"What can be read: {_KNOWN}. An encrypted WeChat database has to be decrypted by its owner first.",
    f"可读取的格式:{_KNOWN}。加密的微信数据库需先由本人解密导出。",
)
_FEW_LINES = 400
_FIRST_KEY = re.compile(r'\s*\[\s*\{\s*"')


@dataclass(frozen=True)
class Recognized:
    """A file and how it is read: the format's name, what its lines count, and its events."""

    format: str
    unit: str
    source: Source | None
    events: Iterator[Event]

    @property
    def encoding(self) -> str:
        return self.source.encoding if self.source else ""


def recognize(path: Path, options: Options) -> Recognized:
    """How the file is read. ChatError where it is in none of the formats, or cannot be opened."""
    try:
        with path.open("rb") as stream:
            magic = stream.read(16)
        if magic == b"SQLite format 3\0":
            return _database(path, options)
        source = open_source(path)
    except OSError as problem:
        raise ChatError(f"cannot be read: {problem.strerror or problem}", path=path) from problem
    if source is None:
        raise ChatError("neither a text in UTF-8, UTF-16 or GB18030 nor a database", path=path, hint=_HINT)
    name, unit, reader = _reader_of(source)
    return Recognized(name, unit, source, reader(source, options))


def _database(path: Path, options: Options) -> Recognized:
    from ollama_kit.jobs.wechat.readers import database  # sqlite3 is for these files only

    tables = database.tables_of(path)
    if "MSG" in tables:
        return Recognized("wechat-v3-db", "item", None, database.read_v3(path, options))
    if "Name2Id" in tables and any(name.startswith("Msg_") for name in tables):
        return Recognized("wechat-v4-db", "item", None, database.read_v4(path, options))
    shown = ", ".join(sorted(tables)[:8]) or "no table at all"
    raise ChatError(f"a database without WeChat's messages: it has {shown}", path=path, hint=_HINT)


def _reader_of(source: Source) -> tuple[str, str, Reader]:
    """(format, unit, reader). ChatError where none fits."""
    head = source.head
    if not head.strip():
        return "empty", "line", _read_nothing
    cells, _ = header_of(head)
    if found := _CSV.get(tuple(cells)):
        return found[0], "line", found[1]
    if head.lstrip()[0] in "[{#" and (json := _json_reader(head.lstrip())):
        return json
    if text := _text_reader(head):
        return (text[0], "line", text[1])
    first = head.strip().partition("\n")[0]
    raise ChatError(f"in none of the formats known; it begins with {first!r:.80}", path=source.path, line=1, hint=_HINT)


def _json_reader(head: str) -> tuple[str, str, Reader] | None:
    if head.startswith("["):
        if head[1:].lstrip().startswith("]"):
            return "json-empty", "item", read_chatlog_json
        if _FIRST_KEY.match(head):
            first = head[:4096]
            if '"MsgSvrID"' in first:
                return "pywxdump-json", "item", read_pywxdump_json
            if '"talker"' in first and '"seq"' in first:
                return "chatlog-json", "item", read_chatlog_json
        return None
    lines = (line for line in head.splitlines() if line.strip() and not line.startswith("#"))
    first = next(lines, "")
    if first.startswith("{") and '"_type"' in first:
        return "chatlab-jsonl", "line", read_chatlab_jsonl
    if not head.startswith("{"):
        return None
    if '"chatlab"' in head:
        return "chatlab-json", "item", read_chatlab_json
    if '"session"' in head or '"weflow"' in head:
        name = (
            ("weflow-arkme-json" if '"senderID"' in head else "weflow-json") if '"weflow"' in head else "echotrace-json"
        )
        return name, "item", read_weflow_json
    return None


def _text_reader(head: str) -> tuple[str, Reader] | None:
    """By the first line that begins a message in one of the formats."""
    blank = True
    for line in head.splitlines()[:_FEW_LINES]:
        if DAY.fullmatch(line):
            return "memotrace-v2-daily-txt", read_daily_text
        if LOG_LINE.match(line):
            return "chatgpt-on-wechat-log", read_bot_log
        if blank and TIMED_HEADER.fullmatch(line):
            return dialect_of(head), read_timed_text
        found = chatlog_header(line, blank)
        if found and (found["id"] or found["who"] == "系统消息"):
            return "chatlog-txt", read_chatlog_text
        if paste_header(line, blank):
            return "paste", read_paste
        if found:
            return "chatlog-txt", read_chatlog_text
        blank = not line.strip()
    return None


def _read_nothing(source: Source, options: Options) -> Iterator[Event]:
    """An empty file: no messages, which is said."""
    yield Note("an empty file: no messages")
