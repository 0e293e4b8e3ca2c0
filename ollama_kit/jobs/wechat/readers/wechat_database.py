"""WeChat's own databases, decrypted: the table MSG of version 3, the tables Msg_<md5 of the talker> of version 4.

They are opened read-only and as unchanging, so that nothing is written beside them, not even a lock.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from ollama_kit.errors import ChatError
from ollama_kit.jobs.wechat.message import Group, Kind
from ollama_kit.jobs.wechat.readers.appmsg import of_xml, reply_of, system_text
from ollama_kit.jobs.wechat.readers.kinds import APP, by_type, of_system
from ollama_kit.jobs.wechat.readers.packed import ZSTD_MAGIC, sender_in_extra, unpack_lz4, unpack_zstd
from ollama_kit.jobs.wechat.readers.record import (
    ITEM_PROBLEMS,
    Broken,
    Event,
    Note,
    Options,
    Record,
    checked,
    problem_of,
)
from ollama_kit.jobs.wechat.readers.timestamps import stamp

MAGIC = b"SQLite format 3\0"

_V3_QUERY = (
    "SELECT localId, MsgSvrID, Type, SubType, IsSender, CreateTime, StrTalker, StrContent, CompressContent, BytesExtra"
    " FROM MSG ORDER BY localId"
)
_V4_QUERY = (
    "SELECT m.local_id, m.server_id, m.local_type, m.status, m.create_time, n.user_name, m.message_content,"
    " m.compress_content FROM {table} AS m LEFT JOIN Name2Id AS n ON n.rowid = m.real_sender_id ORDER BY m.local_id"
)
_CONTACTS = (
    ("Contact", "SELECT UserName, Remark, NickName FROM Contact"),
    ("contact", "SELECT username, remark, nick_name FROM contact"),
)
_CONTACT_FILES = ("MicroMsg.db", "contact.db")
_OWN_STATUS = 2


@contextmanager
def open_read_only(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that can only read. ChatError where the file is no database, or is damaged where it is read."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    connection.text_factory = _text
    try:
        with closing(connection):
            yield connection
    except sqlite3.Error as problem:
        raise ChatError(f"the database cannot be read: {problem}", path=path) from problem


def _text(data: bytes) -> str | bytes:
    """A text cell; WeChat 4 puts packed bytes into columns that are declared as text."""
    return data if data.startswith(ZSTD_MAGIC) else data.decode("utf-8", "replace")


def tables_of(path: Path) -> frozenset[str]:
    """The names of the tables."""
    with open_read_only(path) as connection:
        return frozenset(name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))


def read_v3(path: Path, options: Options) -> Iterator[Event]:
    """The messages of a version 3 database in the order they were stored, all chats among one another."""
    yield from _not_yet_written(path)
    with open_read_only(path) as connection:
        names = _names(path, connection)
        for row in connection.execute(_V3_QUERY):
            try:
                yield checked(_of_v3(row, names, options))
            except ITEM_PROBLEMS as problem:
                yield Broken(row[0], problem_of(problem))


def read_v4(path: Path, options: Options) -> Iterator[Event]:
    """The messages of a version 4 database, one chat after the other."""
    yield from _not_yet_written(path)
    with open_read_only(path) as connection:
        names = _names(path, connection)
        known = [name for (name,) in connection.execute("SELECT user_name FROM Name2Id") if isinstance(name, str)]
        talkers = {_table_of(name): name for name in known}
        order = {table: number for number, table in enumerate(talkers)}
        tables = sorted(tables_of(path), key=lambda name: (order.get(name, len(order)), name))
        for table in (name for name in tables if name.startswith("Msg_")):
            talker = talkers.get(table, table)
            group = Group(talker, names.get(talker, talker), not talker.endswith("@chatroom"))
            quoted = table.replace('"', '""')
            for row in connection.execute(_V4_QUERY.format(table=f'"{quoted}"')):
                try:
                    yield checked(_of_v4(row, group, names, options))
                except ITEM_PROBLEMS as problem:
                    yield Broken(row[0], f"{table}: {problem_of(problem)}")


def _not_yet_written(path: Path) -> Iterator[Note]:
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        yield Note(f"{log.name} holds changes that are not in the database yet: the newest messages may be missing")


def _names(path: Path, connection: sqlite3.Connection) -> dict[str, str]:
    """Remarks and nicknames by wxid: of this database, else of the contact database that stands beside it."""
    here = _contacts(connection)
    for name in _CONTACT_FILES:
        beside = path.with_name(name)
        if not here and beside.is_file() and beside != path:
            with open_read_only(beside) as other:
                here = _contacts(other)
    return here


def _contacts(connection: sqlite3.Connection) -> dict[str, str]:
    for table, query in _CONTACTS:
        if connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
            return {user: remark or nickname or user for user, remark, nickname in connection.execute(query)}
    return {}


def _table_of(talker: str) -> str:
    return "Msg_" + hashlib.md5(talker.encode("utf-8"), usedforsecurity=False).hexdigest()


def _of_v3(row: tuple[Any, ...], names: dict[str, str], options: Options) -> Record:
    line, number, kind_number, subtype, is_own, created, talker, content, packed, extra = row
    group = Group(talker, names.get(talker, talker), not talker.endswith("@chatroom"))
    own, sender = bool(is_own), sender_in_extra(extra) if extra else ""
    if not sender and not own and group.private:
        sender = talker
    if kind_number == APP and packed:
        content = unpack_lz4(packed).rstrip(b"\0").decode("utf-8", "replace")
    when = stamp(created, options.zone)
    return _record((str(number), when, line), (sender, own), by_type(kind_number, subtype), content or "", group, names)


def _of_v4(row: tuple[Any, ...], group: Group, names: dict[str, str], options: Options) -> Record:
    line, number, local_type, status, created, sender, content, packed = row
    content = content or packed or ""
    if isinstance(content, bytes):
        content = unpack_zstd(content).decode("utf-8", "replace")
    sender = "" if sender == group.id and not group.private else sender or ""
    own = status == _OWN_STATUS or (group.private and bool(sender) and sender != group.id)
    if not group.private and sender and content.startswith(f"{sender}:\n"):
        content = content[len(sender) + 2 :]
    kind, when = by_type(local_type & 0xFFFFFFFF, local_type >> 32), stamp(created, options.zone)
    return _record((str(number), when, line), (sender, own), kind, content, group, names)


def _record(
    place: tuple[str, Any, int], who: tuple[str, bool], kind: Kind, content: str, group: Group, names: dict[str, str]
) -> Record:
    """The message of (server id, time, row) and (sender, own)."""
    number, when, line = place
    sender, own = who
    name = names.get(sender, sender) if sender else "我" if own else ""
    if kind == "system":
        text = system_text(content)
        named = not group.private and bool(sender)
        return Record(
            number,
            when,
            sender if named else "",
            name if named else "",
            False,
            of_system(text),
            text,
            None,
            group,
            line,
        )
    sender = sender or ("self" if own else "")
    if kind == "text":
        return Record(number, when, sender, name, own, kind, content, None, group, line)
    _, text, detail = of_xml(kind, content)
    reply = reply_of(content) if kind == "quote" else None
    return Record(number, when, sender, name, own, kind, text, reply, group, line, detail)
