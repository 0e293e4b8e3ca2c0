"""Which messages are meant."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, strategies as st

from ollama_kit.errors import UsageError
from ollama_kit.jobs.wechat import CHINA, Selection, read_chat, select, selection_of, zone_named
from ollama_kit.jobs.wechat.selection import span_of
from tests.jobs.wechat.renderings import CHATS

NOW = datetime(2026, 3, 10, 8, 30, tzinfo=CHINA)  # a Tuesday


@pytest.mark.parametrize(
    ("written", "start", "end"),
    [
        ("2026-03-01", "03-01 00:00", "03-02 00:00"),
        ("2026年3月1日", "03-01 00:00", "03-02 00:00"),
        ("2026/3/1", "03-01 00:00", "03-02 00:00"),
        ("3月1日", "03-01 00:00", "03-02 00:00"),
        ("03-01", "03-01 00:00", "03-02 00:00"),
        ("today", "03-10 00:00", "03-11 00:00"),
        ("今天", "03-10 00:00", "03-11 00:00"),
        ("Yesterday", "03-09 00:00", "03-10 00:00"),
        ("昨天", "03-09 00:00", "03-10 00:00"),
        ("前天", "03-08 00:00", "03-09 00:00"),
        ("this week", "03-09 00:00", "03-16 00:00"),
        ("上周", "03-02 00:00", "03-09 00:00"),
        ("24h", "03-09 08:30", "03-09 08:30"),
        ("7d", "03-03 08:30", "03-03 08:30"),
        ("2 days ago", "03-08 08:30", "03-08 08:30"),
        ("3小时前", "03-10 05:30", "03-10 05:30"),
        ("90分钟", "03-10 07:00", "03-10 07:00"),
        ("now", "03-10 08:30", "03-10 08:30"),
        ("07:15", "03-10 07:15", "03-10 07:15"),
        ("昨天 18:00", "03-09 18:00", "03-09 18:00"),
        ("昨天18:00", "03-09 18:00", "03-09 18:00"),
        ("yesterday 18:00:30", "03-09 18:00", "03-09 18:00"),
        ("2026-03-01 09:00", "03-01 09:00", "03-01 09:00"),
        ("2026-03-01T09:00", "03-01 09:00", "03-01 09:00"),
        ("2026-03-01T01:00:00Z", "03-01 09:00", "03-01 09:00"),
        ("2026-03-01T09:00+08:00", "03-01 09:00", "03-01 09:00"),
    ],
)
def test_times_as_people_write_them(written: str, start: str, end: str) -> None:
    """Dates are days, times and distances are instants, in the zone of now."""
    span = span_of(written, NOW)
    assert [f"{at.astimezone(CHINA):%m-%d %H:%M}" for at in (span.start, span.end)] == [start, end]


@pytest.mark.parametrize("written", ["soon", "2026-13-01", "25:00", "", "99999999999d", "999999w", "24x", "昨", "-1h"])
def test_what_is_no_time_is_refused(written: str) -> None:
    """The error names the flag and shows what can be written."""
    with pytest.raises(UsageError, match="--since") as caught:
        span_of(written, NOW, "--since")
    assert "2026-03-01" in caught.value.hint


def test_a_day_as_the_end_is_meant_whole() -> None:
    """--since yesterday --until yesterday is one day."""
    selection = selection_of(NOW, since="昨天", until="yesterday")
    assert selection.until is not None
    assert selection.since is not None
    assert selection.until - selection.since == timedelta(days=1)


def test_an_end_before_the_beginning_is_refused() -> None:
    """It would select nothing, which nobody means."""
    with pytest.raises(UsageError, match="is not after"):
        selection_of(NOW, since="today", until="昨天")


def test_messages_of_a_stretch_of_time() -> None:
    """From its beginning to before its end."""
    messages = read_chat(CHATS / "chatlog" / "synthetic_zh_group_delivery.json").messages
    picked = list(select(messages, selection_of(NOW, since="2026-03-09 09:18:40", until="2026-03-09 09:20:26")))
    assert [f"{message.time:%H:%M:%S}" for message in picked] == ["09:18:40", "09:19:58"]
    assert list(select(messages, selection_of(NOW))) == list(messages)


def test_messages_of_a_group_or_with_a_person() -> None:
    """By id or a part of the name; --with is for private chats."""
    messages = read_chat(CHATS / "sqlite" / "synthetic_MSG0.db").messages
    group = list(select(messages, selection_of(NOW, groups=["49000000001@chatroom"])))
    private = list(select(messages, selection_of(NOW, people=["synsun"])))
    assert (len(group), len(private)) == (50, 26)
    assert len(list(select(messages, Selection(groups=("49000000001",), people=("synsun",))))) == 76
    assert not list(select(messages, selection_of(NOW, groups=["别的群"])))
    assert not list(select(group, selection_of(NOW, people=["synlin"])))


@given(
    st.datetimes(datetime(2011, 1, 1), datetime(2100, 1, 1)),
    st.sampled_from(["today", "昨天", "24h", "2天前", "12-31"]),
)
def test_nothing_written_reaches_into_tomorrow(naive: datetime, written: str) -> None:
    """What lies behind us begins at or before now, whatever now is."""
    now = naive.replace(tzinfo=CHINA)
    assert span_of(written, now).start <= now


def test_zones_by_name_and_offset() -> None:
    """Shanghai needs no zone data; what is no zone is refused."""
    assert zone_named("Asia/Shanghai") is CHINA
    assert zone_named("utc") is timezone.utc
    assert zone_named("-03:30") == timezone(-timedelta(hours=3, minutes=30))
    for wrong in ("Mars/Olympus", "+99:00", "", "../etc"):
        with pytest.raises(UsageError, match="no time zone"):
            zone_named(wrong)
