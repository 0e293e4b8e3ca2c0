"""The open to-dos as iCalendar tasks (RFC 5545)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta, timezone
from hashlib import sha256
from typing import TYPE_CHECKING

from ollama_kit.documents.pages.escaping import one_line
from ollama_kit.errors import UsageError
from ollama_kit.jobs.wechat.summary import Summary, Todo
from ollama_kit.jobs.wechat.writers.view import urgency
from ollama_kit.jobs.wechat.writers.wording import wording

if TYPE_CHECKING:
    from icalendar import Todo as Task

REMIND_BEFORE = timedelta(minutes=30)
NO_TIME = datetime(1970, 1, 1, tzinfo=timezone.utc)


def write_ics(summary: Summary) -> str:
    """One VTODO for each open to-do; lines end with CR LF. UsageError where `icalendar` is not installed.

    A day is `DUE;VALUE=DATE`, the same day everywhere; a time is written in UTC, so that no reader needs to know the
    zone, and has an alarm half an hour before. The UID comes from the chat, the person, the task and the first message
    it rests on, so that importing a later summary of the same chat updates the task.
    """
    try:
        from icalendar import Calendar
    except ImportError as problem:
        raise UsageError(
            "calendars need the package icalendar, which is not installed",
            hint=("Install it with pip install ollama-kit[wechat].", "请安装：pip install ollama-kit[wechat]。"),
        ) from problem
    calendar = Calendar()
    calendar.add("prodid", "-//ollama-kit//wechat//EN")
    calendar.add("version", "2.0")
    calendar.add("x-wr-calname", one_line(summary.chat))
    open_ones = [todo for todo in summary.todos if not todo.done]
    for todo, uid in zip(open_ones, _uids(summary, open_ones), strict=True):
        calendar.add_component(_task(summary, todo, uid))
    written: bytes = calendar.to_ical()
    return written.decode("utf-8")


def _task(summary: Summary, todo: Todo, uid: str) -> Task:
    from icalendar import Alarm, Todo as Task

    task = Task()
    task.add("uid", uid)
    # The time of the chat's last message stands for the clock: a later summary has a later stamp.
    task.add("dtstamp", _utc(summary.last or NO_TIME))
    title = one_line(f"{todo.person}: {todo.task}" if todo.person else todo.task)
    task.add("summary", title)
    task.add("description", "\n".join(_description(summary, todo)))
    task.add("status", "NEEDS-ACTION")
    if todo.due is not None:
        task.add("due", _utc(todo.due) if isinstance(todo.due, datetime) else todo.due)
    if isinstance(todo.due, datetime):
        alarm = Alarm()
        alarm.add("action", "DISPLAY")
        alarm.add("description", title)
        alarm.add("trigger", -REMIND_BEFORE, parameters={"RELATED": "END"})
        task.add_component(alarm)
    return task


def _description(summary: Summary, todo: Todo) -> Iterable[str]:
    words = wording(summary.language, summary.last)
    if todo.deadline:
        yield words.words["said_on"].format(deadline=one_line(todo.deadline))
    yield words.words["from_chat"].format(chat=one_line(summary.chat))
    for key in todo.messages:
        if (said := summary.texts.get(key)) is not None:
            yield f"{one_line(said.name or said.sender)} {words.moment(said.time)}: {one_line(said.text)}"


def _uids(summary: Summary, todos: Sequence[Todo]) -> list[str]:
    """A name for each to-do, the same in every summary that has it. The deadline is left out, for it may change, and
    so are the messages' ids, for they count from wherever the reading began."""
    uids: list[str] = []
    for todo in todos:
        first = next((summary.texts[key] for key in todo.messages if key in summary.texts), None)
        said = (first.time.isoformat(), first.text) if first else ("", "")
        letters = "".join(character for character in todo.task.casefold() if character.isalnum())
        parts = "\0".join((summary.chat, todo.person, letters, *said))
        uids.append(sha256(parts.encode("utf-8", "replace")).hexdigest()[:32])
    # Two that nothing tells apart are counted in the order of the most urgent, which the summary's order is not.
    order = sorted(range(len(uids)), key=lambda at: urgency(todos[at]))
    seen: dict[str, int] = {}
    for at in order:
        seen[uids[at]] = count = seen.get(uids[at], 0) + 1
        uids[at] = f"{uids[at]}{f'-{count}' if count > 1 else ''}@ollama-kit"
    return uids


def _utc(when: datetime) -> datetime:
    return when.astimezone(timezone.utc)
