"""Deadlines as people say them, against the moment of saying."""

from __future__ import annotations

import json
from calendar import monthrange
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.errors import UsageError
from ollama_kit.text.dates import deadlines as module, find_deadlines, read_deadlines, resolve_deadline
from tests.intensity import examples

DATA = Path(__file__).parents[2] / "data" / "dates"
SHANGHAI = timezone(timedelta(hours=8))
MONDAY = datetime(2026, 3, 9, 9, 7, tzinfo=SHANGHAI)


def rows(name: str) -> list[Any]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [pytest.param(json.loads(line), id=f"{number}") for number, line in enumerate(lines, start=1)]


MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(SHANGHAI))
NOISE = st.text("好的收到谢谢，。！ ok@[]、\n请", max_size=12)


@pytest.mark.parametrize("row", rows("deadlines.jsonl"))
def test_a_saying_means_its_day_or_moment(row: dict[str, Any]) -> None:
    """Each line of the vectors, alone, resolves as written there, or not at all with its reason."""
    said_at = datetime.fromisoformat(row["said_at"])
    found = resolve_deadline(row["text"], said_at)
    if row["want"] is None:
        assert found is None
        refused = read_deadlines(row["text"], said_at).refused
        assert bool(refused) == ("why" in row)
        assert all(row["why"] in one.reason for one in refused)
        return
    assert found is not None
    assert (found.at.isoformat() if found.at else str(found.day)) == row["want"]
    assert found.precision == row.get("precision", found.precision)
    assert found.text == row["text"][found.start : found.end]


@pytest.mark.parametrize("row", rows("chats.jsonl"))
def test_the_deadlines_of_real_looking_chats(row: dict[str, Any]) -> None:
    """The messages of the gold conversations give the due dates that people put down for them."""
    found = resolve_deadline(row["text"], datetime.fromisoformat(row["said_at"]))
    assert found is not None
    assert found.text == row["span"]
    assert (found.at.isoformat() if "T" in row["due"] and found.at else str(found.day)) == row["due"]


def test_a_confirmed_day_is_surer_and_a_contradicted_one_less_sure() -> None:
    """An explicit date in brackets decides, and says how far the whole can be trusted."""
    plain, agreed, differing = (
        resolve_deadline(text, MONDAY) for text in ("3月10号", "明天（3月10号）", "明天（3月11号）")
    )
    assert plain is not None
    assert agreed is not None
    assert differing is not None
    assert differing.confidence < plain.confidence < agreed.confidence
    assert str(differing.day) == "2026-03-11"


def test_a_guessed_half_of_the_day_is_less_sure() -> None:
    """3点 is read as 15:00, with less confidence than 下午3点."""
    guessed, said = resolve_deadline("明天3点", MONDAY), resolve_deadline("明天下午3点", MONDAY)
    assert guessed is not None
    assert said is not None
    assert guessed.at == said.at
    assert guessed.confidence < said.confidence


def test_several_deadlines_keep_their_places() -> None:
    """Each is found with its exact span, and a range's second time takes over the day."""
    text = "明天下午3点到5点开会，周三或下周五交；by Friday please"
    found = find_deadlines(text, MONDAY)
    assert [one.text for one in found] == ["明天下午3点", "5点", "周三", "下周五", "by Friday"]
    assert [text[one.start : one.end] for one in found] == [one.text for one in found]
    assert found[1].at == datetime(2026, 3, 10, 17, tzinfo=SHANGHAI)


def test_a_moment_without_a_zone_is_refused() -> None:
    """A naive time would be guessed at, so that it is an error with the remedy."""
    with pytest.raises(UsageError, match="no time zone"):
        resolve_deadline("明天", datetime(2026, 3, 9))


WEEKDAYS = list(
    zip("一二三四五六日", ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"], strict=True)
)


@given(MOMENTS, st.sampled_from(WEEKDAYS), NOISE, NOISE)
@settings(deadline=None, max_examples=examples(150))
def test_a_weekday_is_that_weekday_within_a_week(
    said_at: datetime, names: tuple[str, str], before: str, after: str
) -> None:
    """周五 and Friday: the right day of the week, today at the earliest, in less than seven days."""
    for text in (f"{before} 周{names[0]}{after}", f"{before} {names[1]} {after}"):
        (found,) = find_deadlines(text, said_at)
        assert found.day is not None
        assert found.day.weekday() == WEEKDAYS.index(names)
        assert 0 <= (found.day - said_at.date()).days < 7


@given(MOMENTS, st.sampled_from(WEEKDAYS), st.sampled_from([("这", "this", 0), ("下", "next", 1)]))
@settings(deadline=None, max_examples=examples(150))
def test_a_weekday_of_a_week_is_of_that_calendar_week(
    said_at: datetime, names: tuple[str, str], week: tuple[str, str, int]
) -> None:
    """下周五 and next Friday: the ISO week after the one of the saying."""
    for text in (f"{week[0]}周{names[0]}", f"{week[1]} {names[1]}"):
        found = resolve_deadline(text, said_at)
        assert found is not None
        assert found.day is not None
        wanted = (said_at + timedelta(weeks=week[2])).isocalendar()
        assert found.day.isocalendar() == (wanted.year, wanted.week, WEEKDAYS.index(names) + 1)


@given(MOMENTS, st.integers(0, 23), st.integers(0, 59), NOISE)
@settings(deadline=None, max_examples=examples(150))
def test_a_bare_clock_time_is_the_next_such_time(said_at: datetime, hour: int, minute: int, noise: str) -> None:
    """24-hour times lie within one day after the saying, never before it."""
    (found,) = find_deadlines(f"{noise} {hour:02}:{minute:02}", said_at)
    assert found.at is not None
    assert (found.at.hour, found.at.minute) == (hour, minute)
    assert timedelta(0) <= found.at - said_at < timedelta(days=1)


FREE = [
    "周三",
    "周五下午3点",
    "3点",
    "10点半",
    "12点",
    "晚上8点",
    "下午",
    "今晚",
    "15:30",
    "10号",
    "3月10号",
    "月底",
    "年底",
    "3天内",
    "两小时后",
    "Friday",
    "5pm",
    "noon",
    "tonight",
    "Q2",
]


@given(MOMENTS, st.lists(st.sampled_from([one for one in FREE if one != "今晚"]), min_size=1, max_size=4))
@settings(deadline=None, max_examples=examples(200))
def test_nothing_is_before_the_saying_unless_the_text_says_so(said_at: datetime, sayings: list[str]) -> None:
    """Words that fix no day never lead to the past, and the moment lies on the day that is given with it."""
    for saying in sayings:
        if saying == "10号" and monthrange(said_at.year, said_at.month)[1] < 10:
            continue
        for found in find_deadlines(f"，{saying}，", said_at):
            assert found.day is not None
            assert found.day >= said_at.date()
            if found.at is not None:
                assert found.at.date() == found.day
                assert found.at >= said_at or saying == "tonight"


@given(MOMENTS, st.dates(datetime(1990, 1, 1).date(), datetime(2090, 1, 1).date()))
@settings(deadline=None, max_examples=examples(150))
def test_a_day_and_month_is_the_next_such_day(said_at: datetime, day: Any) -> None:
    """3月10号 and March 10: the first from the saying on, where this year and the next have that day."""
    for text in (f"{day.month}月{day.day}号", f"{day:%B} {day.day}"):
        found = resolve_deadline(text, said_at)
        if found is None:
            assert (day.month, day.day) == (2, 29)
            continue
        assert found.day is not None
        assert (found.day.month, found.day.day) == (day.month, day.day)
        assert 0 <= (found.day - said_at.date()).days <= 366


@given(
    st.text("明天下周五3月10号点半前内by the Friday 2026-03-01,，（）(Q2 in two days%后起年底", max_size=60), MOMENTS
)
@settings(deadline=None, max_examples=examples(300))
def test_any_text_gives_spans_in_order(text: str, said_at: datetime) -> None:
    """No text is an error; finds do not overlap, and each stands where it says."""
    at = 0
    for found in find_deadlines(text, said_at):
        assert at <= found.start < found.end <= len(text)
        assert text[found.start : found.end] == found.text
        assert 0 < found.confidence < 1
        at = found.end


@pytest.mark.parametrize("unit", ["明天", "3月", "每日", "周五（", "3点到", "one ", "by ", "10号 ", "万分之"])
def test_work_grows_with_the_text(unit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice the text asks at most about twice as many questions of joining and framing."""
    asked = 0
    joins = module._joins

    def counted(gap: str, group: list[Any], piece: Any) -> bool:
        nonlocal asked
        asked += 1 + len(gap) + len(group)
        return joins(gap, group, piece)

    monkeypatch.setattr(module, "_joins", counted)
    counts = []
    for times in (200, 400):
        asked = 0
        find_deadlines(unit * times, MONDAY)
        counts.append(asked)
    assert counts[1] <= 2.2 * counts[0] + 20
