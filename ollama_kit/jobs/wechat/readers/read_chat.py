"""Reads chats of any format: as a stream of messages, or whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, tzinfo
from functools import lru_cache
from pathlib import Path

from ollama_kit.errors import ChatError
from ollama_kit.jobs.wechat.message import CHINA, Message, Place
from ollama_kit.jobs.wechat.readers.quotes import Remembered
from ollama_kit.jobs.wechat.readers.read_report import BrokenRow, ReadReport
from ollama_kit.jobs.wechat.readers.recognize import Recognized, recognize
from ollama_kit.jobs.wechat.readers.record import Broken, Event, Note, Options, Record

LIMIT_BROKEN = 100
_INVISIBLE = dict.fromkeys(
    [*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2065), *range(0x2066, 0x206A), 0xFEFF]
)
"""Zero widths, marks of direction and the byte-order mark."""


@dataclass(frozen=True)
class ReadOptions:
    """zone          of times that name none
    limit_broken  rows of a file that may be broken before the file is refused; of a file that gives nothing else, none
    own           names or ids of the owner, for the formats that do not mark one's own messages
    day           the last day of a chatlog text whose times have lost the year or the date; by default the day the
                  file was written"""

    zone: tzinfo = CHINA
    limit_broken: int = LIMIT_BROKEN
    own: frozenset[str] = frozenset()
    day: date | None = None


@dataclass(frozen=True)
class Chat:
    """Messages in the order of their files, and one report per file."""

    messages: tuple[Message, ...]
    reports: tuple[ReadReport, ...]


@dataclass
class Reading:
    """The messages of some files, one after another; `reports` has the report of each file that is read through.

    Iterating raises ChatError where a file is in no format known, or has more broken rows than the limit."""

    paths: tuple[Path, ...]
    options: ReadOptions = ReadOptions()
    reports: list[ReadReport] = field(default_factory=list)

    def __iter__(self) -> Iterator[Message]:
        self.reports.clear()
        read = 0
        for path in self.paths:
            yield from self._file(path, read)
            read += self.reports[-1].messages

    def _file(self, path: Path, before: int) -> Iterator[Message]:
        """The messages of a file, the ids going on behind the `before` messages read so far."""
        file = _File(path, recognize(path, Options(self.options.zone, self.options.day)), self.options.limit_broken)
        remembered, shown, owner = Remembered(), str(path), self.options.own
        count, blank = before, object.__new__
        escaped = file.recognized.escaped
        for event in file.recognized.events:
            if type(event) is not Record:
                file.note(event, count - before)
                continue
            native_id, time, sender, name, own, kind, text, reply, group, line, detail = event
            if not text.isascii() and ("\u2005" in text or escaped):
                text = clean_text(text)
            if name:
                name = clean_name(name)
            if owner and (name in owner or sender in owner):
                own = True
            quoted = remembered.resolve(reply, group) if reply is not None else None
            count += 1
            # Setting the fields of a frozen value one by one takes a fifth of all time spent on a large file.
            message = blank(Message)
            message.__dict__.update(
                id=f"m{count}",
                time=time,
                sender=sender,
                name=name,
                own=own,
                kind=kind,
                text=text,
                quoted=quoted,
                group=group,
                source=Place(shown, line),
                detail=detail,
            )
            remembered.add(native_id, message)
            yield message
        self.reports.append(file.report(count - before))


@dataclass
class _File:
    """What is found out about one file while it is read."""

    path: Path
    recognized: Recognized
    limit: int
    broken: list[BrokenRow] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def note(self, event: Event, read: int) -> None:
        """Keeps what is no message. ChatError where it is one broken row too many."""
        if isinstance(event, Broken):
            self.broken.append(BrokenRow(event.line, event.reason))
            if len(self.broken) > self.limit:
                raise self._refused(read)
        elif isinstance(event, Note):
            self.notes.append(event.text)

    def report(self, read: int) -> ReadReport:
        """The report of the file, read to its end. ChatError if all that it gave was broken."""
        if self.broken and not read:
            raise self._refused(read)
        source = self.recognized.source
        return ReadReport(
            path=str(self.path),
            format=self.recognized.format,
            encoding=self.recognized.encoding,
            unit=self.recognized.unit,
            messages=read,
            broken=tuple(self.broken),
            limit=self.limit,
            warnings=(*self.notes, *(source.notes if source else ())),
        )

    def _refused(self, read: int) -> ChatError:
        unit, first, last = self.recognized.unit, self.broken[0], self.broken[-1]
        several = (
            f"{len(self.broken)} broken rows, at most {self.limit} are passed over"
            if read
            else "nothing but broken rows"
        )
        return ChatError(
            f"{several} ({self.recognized.format}); {unit} {last.line}: {last.reason}",
            path=self.path,
            line=first.line if unit == "line" else 0,
            hint=(
                "Export the chat again; or raise the limit with limit_broken if the rest is what you need.",
                "请重新导出聊天记录；若其余内容可用，可调高 limit_broken。",
            ),
        )


def read_messages(paths: Path | str | Iterable[Path | str], options: ReadOptions | None = None) -> Reading:
    """The messages of a file, or of several, as a stream: memory does not grow with the files.

    The order is that of the files; in a database of version 4, one chat after the other."""
    files = [paths] if isinstance(paths, str | Path) else list(paths)
    return Reading(tuple(map(Path, files)), options or ReadOptions())


def read_chat(
    path: Path | str | Iterable[Path | str],
    *,
    zone: tzinfo = CHINA,
    limit_broken: int = LIMIT_BROKEN,
    own: Iterable[str] = (),
    day: date | None = None,
) -> Chat:
    """All messages of a file, or of several, in memory; see ReadOptions for the options. ChatError as of Reading."""
    reading = read_messages(path, ReadOptions(zone, limit_broken, frozenset(own), day))
    return Chat(tuple(reading), tuple(reading.reports))


def clean_text(text: str) -> str:
    """The text with WeChat's blank after a mention as a plain one, and half a surrogate pair as U+FFFD."""
    if "\u2005" in text:
        text = text.replace("\u2005", " ")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


@lru_cache(maxsize=4096)
def clean_name(name: str) -> str:
    """The name on one line, without characters that cannot be seen.

    >>> clean_name("若彤\\u200b🌿\\nadmin")
    '若彤🌿 admin'
    """
    return " ".join(clean_text(name).translate(_INVISIBLE).split())
