"""Times as exports write them, made into times with a zone."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone, tzinfo
from functools import lru_cache

_MILLISECONDS_FROM = 10**11
"""A stamp from here on counts milliseconds: as seconds it would be past the year 5000."""

_PLAIN = len("2026-03-09 09:02:11")
_CLOCK_ONLY = len("09:02:11")
_day = lru_cache(maxsize=1024)(date.fromisoformat)

_WRITTEN = re.compile(
    r"(?:(?P<year>\d{4})[-/.年](?P<month>\d{1,2})[-/.月](?P<day>\d{1,2})日?[ \tT]*)?"
    r"(?P<half>上午|下午|中午|晚上|凌晨|AM|PM)?\s?(?P<hour>\d{1,2})[:：](?P<minute>\d{2})(?:[:：](?P<second>\d{2}))?"
    r"(?:[.,]\d{1,9})?(?P<zone>Z|[+-]\d{2}:?\d{2})?(?:\s?(?P<after>AM|PM))?",
    re.IGNORECASE,
)


def moment(text: str, zone: tzinfo) -> datetime:
    """The time that an export wrote, in `zone`; a time that names its own zone is converted. ValueError if it is none.

    >>> from ollama_kit.jobs.wechat.message import CHINA
    >>> str(moment("2026-03-09T01:02:11.000Z", CHINA))
    '2026-03-09 09:02:11+08:00'
    >>> str(moment("2026/3/9 9:02", CHINA)), str(moment("2026年3月9日 下午9:02", CHINA))
    ('2026-03-09 09:02:00+08:00', '2026-03-09 21:02:00+08:00')
    >>> str(moment("2026-03-09T01:02:11.000000000-01:00", CHINA))
    '2026-03-09 10:02:11+08:00'
    """
    try:
        if len(text) == _PLAIN and text[10] in " T":  # four times as fast as reading it whole and setting the zone
            return datetime.combine(_day(text[:10]), time.fromisoformat(text[11:]), zone)
        read = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
    except ValueError:
        return _written(text, zone)
    return read.replace(tzinfo=zone) if read.tzinfo is None else read.astimezone(zone)


def stamp(value: object, zone: tzinfo) -> datetime:
    """The time of a Unix stamp in seconds or milliseconds. ValueError if the value is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"no time stamp: {value!r:.40}")
    number = float(value) if isinstance(value, str) else value
    return datetime.fromtimestamp(number / 1000 if abs(number) >= _MILLISECONDS_FROM else number, zone)


def dated(text: str, last_day: date, zone: tzinfo) -> datetime:
    """The time of `MM-DD HH:MM:SS` or `HH:MM:SS`, where an export left out what its reader knew: on `last_day`, or in
    the latest year that does not put it after that day. ValueError if it is neither.

    >>> from ollama_kit.jobs.wechat.message import CHINA
    >>> str(dated("12-31 23:59:59", date(2026, 3, 1), CHINA)), str(dated("08:00:00", date(2026, 3, 1), CHINA))
    ('2025-12-31 23:59:59+08:00', '2026-03-01 08:00:00+08:00')
    """
    if len(text) == _CLOCK_ONLY:
        return datetime.combine(last_day, time.fromisoformat(text), zone)
    return datetime.combine(_latest(text[:5], last_day), time.fromisoformat(text[6:]), zone)


@lru_cache(maxsize=1024)
def _latest(month_and_day: str, last_day: date) -> date:
    """The latest day of that month and day which is not after `last_day`."""
    month, day = int(month_and_day[:2]), int(month_and_day[3:])
    year = last_day.year - ((month, day) > (last_day.month, last_day.day))
    while (month, day) == (2, 29) and not _is_leap(year):
        year -= 1
    return date(year, month, day)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _written(text: str, zone: tzinfo) -> datetime:
    """What people and spreadsheets write: slashes, 年月日, no leading zeros, halves of a day; and the nine digits of a
    second that Go writes, which Python 3.10 does not read."""
    found = _WRITTEN.fullmatch(text.strip())
    if found is None or found["year"] is None:
        raise ValueError(f"no time: {text!r:.40}")
    day, named = date(int(found["year"]), int(found["month"]), int(found["day"])), found["zone"]
    return datetime.combine(day, _clock_of(found), _offset(named) if named else zone).astimezone(zone)


def _offset(written: str) -> tzinfo:
    hours, minutes = (int(written[1:3]), int(written[-2:])) if written.upper() != "Z" else (0, 0)
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(-offset if written.startswith("-") else offset)


def _clock_of(found: re.Match[str]) -> time:
    """The time of day of a match that has the groups hour, minute, second, half and after."""
    hour = int(found["hour"])
    half = (found["half"] or found["after"] or "").upper()
    if half in ("下午", "晚上", "PM", "中午") and hour < 12 and not (half == "中午" and hour > 10):
        hour += 12
    elif half in ("上午", "凌晨", "AM") and hour == 12:
        hour = 0
    return time(hour, int(found["minute"]), int(found["second"] or 0))
