"""What a reader yields, and what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING, NamedTuple

from ollama_kit.jobs.wechat.message import CHINA, Group, Kind

if TYPE_CHECKING:
    from ollama_kit.jobs.wechat.readers.stream import Source


class Reply(NamedTuple):
    """The quoted part of a message, before it is known which message that was. `native_id` is the exporter's."""

    name: str = ""
    text: str = ""
    native_id: str = ""
    time: datetime | None = None


class Record(NamedTuple):
    """A message as one format gives it: see Message for the fields. `native_id` is the exporter's, or empty."""

    native_id: str
    time: datetime
    sender: str
    name: str
    own: bool
    kind: Kind
    text: str
    reply: Reply | None
    group: Group
    line: int
    detail: str = ""


class Broken(NamedTuple):
    """A row that could not be read: its line or item from 1, why, and the lines it takes."""

    line: int
    reason: str


class Note(NamedTuple):
    """Something that the reader of a report should know about the file as a whole."""

    text: str


class Options(NamedTuple):
    """zone: of times that name none. day: the last day of an export whose times have lost the year or the date."""

    zone: tzinfo = CHINA
    day: date | None = None


Event = Record | Broken | Note
Reader = Callable[["Source", Options], Iterator[Event]]

ROW_PROBLEMS = (ValueError, OverflowError, OSError)
"""What one bad row of text raises while it is taken apart (OSError: a time stamp that the system cannot convert). They
become `Broken`; anything else is a fault of ours and is not hidden."""
ITEM_PROBLEMS = (*ROW_PROBLEMS, TypeError, KeyError, IndexError, AttributeError)
"""The same of an item of JSON or of a database, in which anything may stand anywhere."""


def checked(record: Record) -> Record:
    """The record, if what should be text is text. ValueError if not: JSON may hold anything anywhere."""
    group = record.group
    texts = (record.native_id, record.sender, record.name, record.text, record.detail, group.id, group.name)
    for value in (*texts, *record.reply[:3]) if record.reply else texts:
        if not isinstance(value, str):
            raise ValueError(f"text expected, got {value!r:.40}")
    return record


def problem_of(error: BaseException) -> str:
    """The reason of a broken row in one line."""
    if isinstance(error, KeyError):
        return f"no {error.args[0]!r}"
    return " ".join(str(error).split())[:200] or type(error).__name__
