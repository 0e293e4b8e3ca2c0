"""Which messages are meant: from when, until when, of which chats."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone, tzinfo

from ollama_kit.errors import UsageError
from ollama_kit.jobs.wechat.message import CHINA, Group, Message

_UNITS = {
    **dict.fromkeys(("m", "min", "minute", "minutes", "分", "分钟"), timedelta(minutes=1)),
    **dict.fromkeys(("h", "hour", "hours", "小时", "个小时"), timedelta(hours=1)),
    **dict.fromkeys(("d", "day", "days", "天", "日"), timedelta(days=1)),
    **dict.fromkeys(("w", "week", "weeks", "周", "星期"), timedelta(weeks=1)),
}
_DAYS = {
    **dict.fromkeys(("today", "今天", "今日"), 0),
    **dict.fromkeys(("yesterday", "昨天", "昨日"), 1),
    **dict.fromkeys(("day before yesterday", "前天"), 2),
}
_WEEKS = {**dict.fromkeys(("this week", "本周", "这周"), 0), **dict.fromkeys(("last week", "上周"), 1)}
_AGO = re.compile(r"(\d{1,6}) ?([a-z]+|[^\W\da-z_]+?) ?(?:ago|前|以前|之前)?")
_CLOCK = re.compile(r"(.*?)[ t]?(\d{1,2}):(\d{2})(?::(\d{2}))?")
_DATE = re.compile(r"(?:(\d{4})[-/.年])?(\d{1,2})[-/.月](\d{1,2})日?号?")
_OFFSET = re.compile(r"(?:UTC)?([+-])(\d{1,2})(?::?(\d{2}))?", re.IGNORECASE)
_WHAT = (
    (
        "Write a date (2026-03-01, 2026年3月1日, 03-01), yesterday, today, this week, a time (18:00, yesterday 18:00),"
        " or how long ago (24h, 7d)."
    ),
    "请写日期（2026-03-01、2026年3月1日、3月1日）、昨天、今天、本周、时间（18:00、昨天18:00），或多久以前（24h、7d、24小时）。",
)


@dataclass(frozen=True)
class Selection:
    """since ≤ time < until; groups and people are names or ids of chats. What is empty selects everything.

    groups   chats whose id it is, or in whose name it stands
    people   the same of private chats (and of files that do not say what chat they hold)"""

    since: datetime | None = None
    until: datetime | None = None
    groups: tuple[str, ...] = ()
    people: tuple[str, ...] = ()


@dataclass(frozen=True)
class Span:
    """A stretch of time that a person named: a day is one, an instant has no length."""

    start: datetime
    end: datetime


def select(messages: Iterable[Message], selection: Selection) -> Iterator[Message]:
    """The messages that are meant, in their order."""
    since, until = selection.since, selection.until
    chats: dict[Group, bool] = {}
    for message in messages:
        if (since is not None and message.time < since) or (until is not None and message.time >= until):
            continue
        meant = chats.get(message.group)
        if meant is None:
            meant = chats[message.group] = _is_meant(message.group, selection)
        if meant:
            yield message


def _is_meant(group: Group, selection: Selection) -> bool:
    if not selection.groups and not selection.people:
        return True
    one_to_one = group.private or group.id.startswith("file:")
    return any(_names(wanted, group) for wanted in selection.groups) or (
        one_to_one and any(_names(wanted, group) for wanted in selection.people)
    )


def _names(wanted: str, group: Group) -> bool:
    return wanted == group.id or wanted.casefold() in group.name.casefold()


def selection_of(
    now: datetime,
    *,
    since: str = "",
    until: str = "",
    groups: Iterable[str] = (),
    people: Iterable[str] = (),
) -> Selection:
    """The selection that a person wrote. Words like `yesterday` are of the zone of `now`; a day as `until` is meant
    whole. UsageError where a time cannot be understood, or the end is before the beginning."""
    start = span_of(since, now, "--since").start if since.strip() else None
    end = span_of(until, now, "--until").end if until.strip() else None
    if start is not None and end is not None and end <= start:
        raise UsageError(
            f"--until {until} ({end:%Y-%m-%d %H:%M}) is not after --since {since} ({start:%Y-%m-%d %H:%M})"
        )
    return Selection(start, end, tuple(filter(None, groups)), tuple(filter(None, people)))


def span_of(written: str, now: datetime, flag: str = "time") -> Span:
    """The day, week or instant that a person wrote. UsageError, naming the flag, if it is none.

    >>> now = datetime(2026, 3, 10, 8, 30, tzinfo=CHINA)
    >>> [str(span_of(text, now).start)[:16] for text in ("昨天", "24h", "2026年3月1日", "昨天18:00", "12-31")]
    ['2026-03-09 00:00', '2026-03-09 08:30', '2026-03-01 00:00', '2026-03-09 18:00', '2025-12-31 00:00']
    """
    text = " ".join(written.split()).casefold()
    try:
        found = _ago(text, now) or _day(text, now) or _instant(text, now)
    except (ValueError, OverflowError) as problem:
        raise UsageError(f"{flag} {written!r}: {problem}", hint=_WHAT) from problem
    if found is None:
        raise UsageError(f"{flag}: cannot parse {written!r} as a time", hint=_WHAT)
    return found


def _ago(text: str, now: datetime) -> Span | None:
    if text in ("now", "现在"):
        return Span(now, now)
    found = _AGO.fullmatch(text)
    if found is None or found[2] not in _UNITS:
        return None
    at = now - int(found[1]) * _UNITS[found[2]]
    return Span(at, at)


def _day(text: str, now: datetime) -> Span | None:
    """A whole day or week, from midnight to midnight."""
    if text in _WEEKS:
        monday = now.date() - timedelta(days=now.weekday(), weeks=_WEEKS[text])
        return Span(_midnight(monday, now), _midnight(monday + timedelta(weeks=1), now))
    day = _date(text, now)
    return Span(_midnight(day, now), _midnight(day + timedelta(days=1), now)) if day else None


def _date(text: str, now: datetime) -> date | None:
    if text in _DAYS:
        return now.date() - timedelta(days=_DAYS[text])
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, month, day = found.groups()
    if year:
        return date(int(year), int(month), int(day))
    past = (int(month), int(day)) <= (now.month, now.day)
    return date(now.year if past else now.year - 1, int(month), int(day))


def _midnight(day: date, now: datetime) -> datetime:
    return datetime.combine(day, time(), now.tzinfo)


def _instant(text: str, now: datetime) -> Span | None:
    """A time of today or of a day that is named, or an ISO time, with a zone of its own if it says so."""
    found = _CLOCK.fullmatch(text)
    day = _date(found[1].strip(), now) if found and found[1] else now.date()
    if found and day:
        at = datetime.combine(day, time(int(found[2]), int(found[3]), int(found[4] or 0)), now.tzinfo)
        return Span(at, at)
    try:
        at = datetime.fromisoformat(text.upper().replace("Z", "+00:00"))
    except ValueError:
        return None
    at = at.replace(tzinfo=now.tzinfo) if at.tzinfo is None else at
    return Span(at, at)


def zone_named(name: str) -> tzinfo:
    """The zone of a name (`Asia/Shanghai`, `Europe/Berlin`) or an offset (`+08:00`). UsageError if there is none.

    >>> zone_named("+05:30").utcoffset(None)
    datetime.timedelta(seconds=19800)
    """
    wanted = name.strip()
    if wanted.casefold() in ("asia/shanghai", "china", "prc", "beijing", "北京", "中国"):
        return CHINA
    if wanted.casefold() in ("utc", "z"):
        return timezone.utc
    if found := _OFFSET.fullmatch(wanted):
        offset = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
        if offset < timedelta(hours=24):
            return timezone(offset if found[1] == "+" else -offset)
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(wanted)
    except (ZoneInfoNotFoundError, ValueError, OSError) as problem:
        raise UsageError(
            f"no time zone {name!r}",
            hint=(
                (
                    "Write a name like Asia/Shanghai or an offset like +08:00. On Windows the names other than"
                    " Asia/Shanghai need `pip install tzdata`."
                ),
                "请写 Asia/Shanghai 这样的名称，或 +08:00 这样的偏移。Windows 上其他名称需要 `pip install tzdata`。",
            ),
        ) from problem
