"""The calendar, read back by icalendar and looked at byte by byte."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime, timedelta, timezone
from typing import Any

from hypothesis import given, settings, strategies as st
from icalendar import Calendar

from ollama_kit.documents.pages.escaping import one_line
from ollama_kit.jobs.wechat.message import CHINA, Message
from ollama_kit.jobs.wechat.summary import Summary, Todo
from ollama_kit.jobs.wechat.writers import write_ics
from tests.intensity import examples
from tests.jobs.wechat.summaries import at, delivery


def tasks(summary: Summary) -> list[Any]:
    return list(Calendar.from_ical(write_ics(summary)).walk("VTODO"))


def with_todos(*todos: Todo) -> Summary:
    return replace(delivery(), todos=todos)


def todo(
    task: str = "交报告", *, person: str = "何嘉树", due: date | datetime | None = None, message: str = "m4"
) -> Todo:
    return Todo(task, person, "", due, False, "high", (message,))


def test_every_open_todo_is_a_task_and_no_done_one() -> None:
    """What is done is not put into anybody's list."""
    titles = [str(task["SUMMARY"]) for task in tasks(delivery())]
    assert len(titles) == 5
    assert titles[0] == "周若彤-测试: 提交支付回调回归测试报告"
    assert not [title for title in titles if "提测" in title]


def test_a_time_is_the_same_instant_in_utc() -> None:
    """12:00 in China is 04:00 in UTC, whatever zone the reader's calendar is in; an alarm comes before it."""
    text = write_ics(with_todos(todo(due=datetime(2026, 3, 11, 12, 0, tzinfo=CHINA))))
    assert "DUE:20260311T040000Z" in text
    assert "TRIGGER;RELATED=END:-PT30M" in text
    (task,) = Calendar.from_ical(text).walk("VTODO")
    assert task.decoded("DUE") == datetime(2026, 3, 11, 4, 0, tzinfo=timezone.utc)
    west = datetime(2026, 3, 11, 12, 0, tzinfo=timezone(timedelta(hours=-7)))
    assert "DUE:20260311T190000Z" in write_ics(with_todos(todo(due=west)))


def test_a_day_stays_a_day() -> None:
    """A whole day has no time and no alarm, and cannot move to the day before in another zone."""
    text = write_ics(with_todos(todo(due=date(2026, 3, 12))))
    assert "DUE;VALUE=DATE:20260312" in text
    assert "VALARM" not in text


def test_lines_are_folded_by_octets_between_characters() -> None:
    """No line is longer than 75 octets, and none ends inside a character (RFC 5545, 3.1)."""
    data = write_ics(with_todos(todo("把验收单和盖章报价单、翻译稿、合同、会议纪要一起发给华澜😀" * 5))).encode()
    lines = data.split(b"\r\n")
    assert max(map(len, lines)) <= 75
    for line in lines:
        line.decode("utf-8")
    assert b"\n" not in data.replace(b"\r\n", b"")


@settings(deadline=None, max_examples=examples(80))
@given(st.text(alphabet='ab中😀,;:\\"\n\r\t\x00\x0b\x85\u2028\ud800', max_size=60))
def test_text_comes_back_as_it_was(text: str) -> None:
    """Commas, semicolons, backslashes and line ends in a chat begin no property of their own."""
    (task,) = tasks(with_todos(todo(text, person="")))
    assert str(task["SUMMARY"]) == one_line(text)
    assert sorted(task) == ["DESCRIPTION", "DTSTAMP", "STATUS", "SUMMARY", "UID"]


def uids(summary: Summary) -> list[str]:
    return [str(task["UID"]) for task in tasks(summary)]


def test_a_later_summary_updates_the_task() -> None:
    """The same to-do has the same UID though the deadline moved, the ids are others and the chat went on."""
    first = with_todos(todo("提交报告", due=date(2026, 3, 12)))
    moved: dict[str, Message] = {f"m{int(key[1:]) + 500}": said for key, said in first.texts.items()}
    later = replace(
        with_todos(todo("提交报告。", due=at("03-13 10:00"), message="m504")), texts=moved, last=at("03-12 20:00")
    )
    assert uids(first) == uids(later)
    stamps = [tasks(summary)[0].decoded("DTSTAMP") for summary in (first, later)]
    assert stamps[0] < stamps[1]


def test_different_todos_have_different_uids() -> None:
    """Another task, person, message or chat is another to-do; two that nothing tells apart are counted."""
    some = with_todos(
        todo(), todo("订车"), todo(person="林知远"), todo(message="m5"), todo(), todo(due=date(2026, 3, 12))
    )
    found = [*uids(some), *uids(replace(with_todos(todo()), chat="另一个群"))]
    assert len(set(found)) == len(found) == 7


def test_the_same_summary_gives_the_same_bytes() -> None:
    """No clock and no chance: a run that is done again writes the same file."""
    assert write_ics(delivery()) == write_ics(delivery())
