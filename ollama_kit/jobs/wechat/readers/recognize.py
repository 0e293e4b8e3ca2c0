"""Which format a file is in, by what is in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from ollama_kit import plugins
from ollama_kit.errors import ChatError, PlugInError
from ollama_kit.jobs.wechat.readers.csv_rows import header_of
from ollama_kit.jobs.wechat.readers.record import Event, Note, Options, Record, checked
from ollama_kit.jobs.wechat.readers.stream import Source, open_source

_KNOWN = (
    "MemoTrace and WeChatMsg CSV and TXT, PyWxDump CSV and JSON, chatlog CSV, JSON and TXT, WeFlow JSON, TXT and"
    " WeClone CSV, ChatLab JSON and JSONL, decrypted WeChat databases, and pasted text (`name 2026-03-09 09:02`"
    " above each message)"
)
_DATABASE = b"SQLite format 3\0"


@dataclass(frozen=True)
class ChatFile:
    """A file whose format is sought. `first_bytes` are 16; `source` is its text, None where it is not a text."""

    path: Path
    first_bytes: bytes
    source: Source | None

    @property
    def head(self) -> str:
        """The text of its first 64 KB; empty where it is not a text."""
        return self.source.head if self.source else ""

    @cached_property
    def csv_header(self) -> tuple[str, ...]:
        """The cells of its first row, read as CSV."""
        return tuple(header_of(self.head)[0])

    @cached_property
    def tables(self) -> frozenset[str]:
        """The names of its tables, if it is a database of SQLite. ChatError where that is damaged."""
        if not self.is_database:
            return frozenset()
        from ollama_kit.jobs.wechat.readers import wechat_database  # sqlite3 is for these files only

        return wechat_database.tables_of(self.path)

    @property
    def is_database(self) -> bool:
        return self.first_bytes == _DATABASE


@dataclass(frozen=True)
class ChatReader:
    """One format of exported chats: what an entry point of `ollama_kit.chat_readers` loads to. Its name is that of the
    format.

    recognizes  the line, from 1, at which the first message in this format begins within the file's head; 0 where the
                head as a whole is of this format and can be of no other; None where it is not of it. The smallest of
                all readers' has the file; of two alike, what ships
    reads       a generator of the file's Records, and in between of its Broken rows and of Notes; memory may not grow
                with the file
    unit        what `Record.line` counts"""

    recognizes: Callable[[ChatFile], int | None]
    reads: Callable[[ChatFile, Options], Iterator[Event]]
    unit: Literal["line", "item"] = "line"


@dataclass(frozen=True)
class Recognized:
    """A file and how it is read: the format's name, what its lines count, and its events. `escaped`: its texts may hold
    what no text in UTF-8 can, half of a surrogate pair."""

    format: str
    unit: str
    source: Source | None
    events: Iterator[Event]
    escaped: bool = False

    @property
    def encoding(self) -> str:
        return self.source.encoding if self.source else ""


def recognize(path: Path, options: Options) -> Recognized:
    """How the file is read. ChatError where it is in none of the formats, or cannot be opened."""
    file = _opened(path)
    if file.source and not file.head.strip():
        return Recognized("empty", "line", file.source, iter([Note("an empty file: no messages")]))
    best: tuple[int, plugins.PlugIn, ChatReader] | None = None
    for plug_in, reader in plugins.loaded(plugins.CHAT_READERS, ChatReader).items():
        line = _line(plug_in, reader, file)
        if line is not None and (best is None or line < best[0]):
            best = line, plug_in, reader
    if best is None:
        raise _refused(file)
    _, plug_in, reader = best
    events = reader.reads(file, options) if plug_in.ships else _checked(plug_in, reader, file, options)
    escaped = "json" in plug_in.name or not plug_in.ships
    return Recognized(plug_in.name, reader.unit, file.source, events, escaped)


def _opened(path: Path) -> ChatFile:
    try:
        with path.open("rb") as stream:
            first_bytes = stream.read(len(_DATABASE))
        return ChatFile(path, first_bytes, None if first_bytes == _DATABASE else open_source(path))
    except OSError as problem:
        raise ChatError(f"cannot be read: {problem.strerror or problem}", path=path) from problem


def _line(plug_in: plugins.PlugIn, reader: ChatReader, file: ChatFile) -> int | None:
    """What the reader says of the file; one of a plug-in that fails at it is named, and has not recognized it."""
    try:
        with plug_in.blamed():
            return reader.recognizes(file)
    except PlugInError as error:
        plugins.name_on_stderr(error)
        return None


def _checked(plug_in: plugins.PlugIn, reader: ChatReader, file: ChatFile, options: Options) -> Iterator[Event]:
    """The events of a plug-in's reader, each Record being what the rest relies on. PlugInError where one is not."""
    with plug_in.blamed():
        for event in reader.reads(file, options):
            if isinstance(event, Record) and checked(event).time.tzinfo is None:
                raise ValueError(f"the time of the message in {reader.unit} {event.line} has no zone")
            yield event


def _refused(file: ChatFile) -> ChatError:
    """Why no reader has the file."""
    others = [name for name, one in plugins.found(plugins.CHAT_READERS).items() if not one.ships]
    known = "; ".join((_KNOWN, *others))
    hint = (
        f"What can be read: {known}. An encrypted WeChat database has to be decrypted by its owner first.",
        f"可读取的格式：{known}。加密的微信数据库需先由本人解密导出。",
    )
    if file.is_database:
        shown = ", ".join(sorted(file.tables)[:8]) or "no table at all"
        return ChatError(f"a database without WeChat's messages: it has {shown}", path=file.path, hint=hint)
    if file.source is None:
        return ChatError("neither a text in UTF-8, UTF-16 or GB18030 nor a database", path=file.path, hint=hint)
    first = file.head.strip().partition("\n")[0]
    return ChatError(f"in none of the formats known; it begins with {first!r:.80}", path=file.path, line=1, hint=hint)
