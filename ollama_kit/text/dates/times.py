"""Parts of the day and clock times in both languages, and the moment that they mean on a day; and what is so long from
now: 两天后, 3天内, 半小时后, 两个工作日内, in two days, within 24h.

An hour without its half of the day is read as at work: 1 to 6 in the afternoon; 7 to 11 in the morning, or in the
evening if that morning hour is over today; 12 at noon, or at midnight if noon is over today. The end of a day is
23:59 of it, so that a deadline stays on the day it names; in the evening, 1 to 4 is after midnight.

Whole days, weeks, months and years from now lead to a day; hours and minutes, and half a day (12 hours), to a moment. A
delay that runs from another event (验收后10天内, within 30 days of delivery) is refused: that moment is not known.
"""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta, timezone
from fractions import Fraction
from functools import cache
from math import ceil

from ollama_kit.text.dates.days import PAST, Clock, Day, Part, TimeRule
from ollama_kit.text.dates.reckoning import add_business_days, add_months
from ollama_kit.text.dates.written import CHINESE_UNITS, ENGLISH_UNITS, Unit
from ollama_kit.text.figures.numerals import (
    ENGLISH_NUMBER,
    NUMERAL_CLASS,
    TENS_CLASS,
    english_number,
    read_numeral,
    small_number,
)

_PARTS = {
    "凌晨": Part("small hours", (6, 0)),
    **dict.fromkeys(("清晨", "早晨", "早上", "一早", "清早", "早", "晨"), Part("early morning", (10, 0), 0.85)),
    **dict.fromkeys(("上午", "morning"), Part("morning", (12, 0))),
    **dict.fromkeys(("中午", "正午", "lunchtime", "lunch time"), Part("noon", (12, 0))),
    **dict.fromkeys(("下午", "午后", "afternoon"), Part("afternoon", (18, 0))),
    "傍晚": Part("evening", (19, 0), 0.8),
    **dict.fromkeys(("晚", "夜", "晚上", "晚间", "夜里", "evening", "night"), Part("evening", (23, 59))),
    **dict.fromkeys(("午夜", "半夜"), Part("evening", (23, 59), 0.7)),
}
_END_OF_WORK = Part("end of work", (18, 0), 0.9)
"""下班前, EOD, COB: 18:00."""

_NO_CLOCK = "建议|意见|要求|问题|说明|原因|内容|注意|需要|如下|想法|[五六七八九]|\\d|多[个条]|[个条]"
"""What follows 点 where it counts points: 3点建议."""
_COUNTED = frozenset("快慢多少好有大小高低差近远再第百千万")
"""What comes before a number of 点 that is not an hour: 快一点."""
_FLAGS = re.IGNORECASE | re.ASCII


@cache
def hour_rules() -> tuple[TimeRule, ...]:
    """Every rule for a part of the day or a clock time."""
    return (*_part_rules(), *_clock_rules())


def _part_rules() -> tuple[TimeRule, ...]:
    return (
        (
            re.compile(
                r"(?:凌晨|清晨|早晨|早上|一早|清早|上午|中午|正午|下午|午后|傍晚|晚上|晚间|夜里|午夜|半夜|"
                r"(?<=[今明昨后一二三四五六日天号])(?:晚上?|早上?|晨|夜))(?![好安餐饭班霜点些已就])"
            ),
            _chinese_part,
        ),
        (re.compile(r"下班(?=之?以?前)"), lambda found, said_at: _END_OF_WORK),
        (
            re.compile(
                r"(?<!good\s)(?:(?<![a-z])(?:morning|afternoon|evening|lunch\s?time|night)|(?<=to)night)(?![a-z])",
                _FLAGS,
            ),
            _english_part,
        ),
        (
            re.compile(
                r"(?<![a-z])(?:EOD|COB|(?:end|close)\sof\s(?:the\s|business\s?|work\s?){0,2}(?:day)?)(?<!of\s)(?<!the\s)(?![a-z])",
                _FLAGS,
            ),
            _end_of_work,
        ),
    )


def _clock_rules() -> tuple[TimeRule, ...]:
    number = rf"(?:\d{{1,2}}|[{TENS_CLASS}]{{1,3}})"
    minute = rf"(?P<minute>[0-5]\d(?![\d.%个])|[{TENS_CLASS}]{{2,3}}(?!个)|[\d{TENS_CLASS}](?=分))\s?分?"
    am_pm = r"(?:\s?(?P<half>[ap])(?:\.m\.|m)(?![a-zA-Z0-9]))"
    return (
        (
            re.compile(
                rf"(?<![\d.:])(?P<hour>{number})\s?(?P<sign>[点點时時])\s?"
                rf"(?:(?P<half_hour>半)|(?P<quarter>[一三])刻|{minute}|(?P<whole>[钟整]))?(?!{_NO_CLOCK})"
            ),
            _chinese_clock,
        ),
        (
            re.compile(
                rf"(?<![\d.:+/])(?P<hour>[01]?\d|2[0-4]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?![\d:]){am_pm}?", _FLAGS
            ),
            _digital,
        ),
        (
            re.compile(rf"(?<![a-zA-Z0-9_.:/$])(?P<hour>1[0-2]|0?[1-9])(?:[:.](?P<minute>[0-5]\d))?{am_pm}", _FLAGS),
            _digital,
        ),
        (re.compile(r"(?<![\w.:])(?P<hour>1[0-2]|[1-9])\s?o['’]clock", _FLAGS), _digital),
        (re.compile(r"(?<=at\s)(?P<hour>1\d|2[0-3]|[1-9])(?![\w:%.,/-])", _FLAGS), _bare),
        (re.compile(r"(?<![a-z])(?:12\s)?(?P<word>noon|midday|midnight)(?![a-z])", _FLAGS), _word),
    )


def _chinese_part(found: re.Match[str], said_at: datetime) -> Part:
    word = found[0]
    return _PARTS.get(word) or _PARTS[word[0]]


def _english_part(found: re.Match[str], said_at: datetime) -> Part:
    return _PARTS[" ".join(found[0].lower().split())]


def _end_of_work(found: re.Match[str], said_at: datetime) -> Part | None:
    whole = found[0].lower().split()
    return _END_OF_WORK if len(whole) == 1 or whole[-1] in ("day", "business") else None


def _chinese_clock(found: re.Match[str], said_at: datetime) -> Clock | None:
    text, hour = found.string, small_number(found["hour"])
    before = text[found.start() - 1 : found.start()] if found.start() else ""
    if hour is None or hour > 24 or before in _COUNTED:
        return None
    in_words = not found["hour"][0].isdecimal()
    if (
        in_words
        and before in tuple("早晚")
        and text[max(0, found.start() - 2) : found.start() - 1] not in tuple("今明昨后")
    ):
        return None
    if found["sign"] in "时時" and (in_words or re.compile("[间候段代常刻期效长机区差装光]").match(text, found.end())):
        return None
    minute = 30 if found["half_hour"] else {"一": 15, "三": 45, None: 0}[found["quarter"]]
    minute = minute or small_number(found["minute"] or "0") or 0
    limited = text[found.end() : found.end() + 1] in tuple("前之以")
    said = bool(found["half_hour"] or found["quarter"] or found["minute"] or found["whole"])
    return Clock(
        hour,
        minute if minute < 60 else 0,
        exact=bool(minute or found["minute"]),
        plain=hour >= 13 or hour == 0 or found["hour"].startswith("0"),
        weak=in_words and not said and not limited,
    )


def _digital(found: re.Match[str], said_at: datetime) -> Clock | None:
    named = found.groupdict()
    minutes, half = named.get("minute"), named.get("half")
    hour, minute = int(named["hour"]), int(minutes or 0)
    if half and not 1 <= hour <= 12:
        return None
    # With minutes behind a colon, 10:00 is the 24-hour clock; only an hour like 3:30 leaves a doubt.
    plain = hour >= (7 if minutes else 13) or hour == 0 or (named["hour"].startswith("0") and not half)
    side = {"a": "am", "p": "pm"}.get((half or "").lower())
    return Clock(hour, minute, "am" if side == "am" else "pm" if side else None, bool(minutes), plain)


def _bare(found: re.Match[str], said_at: datetime) -> Clock:
    return Clock(int(found["hour"]), plain=int(found["hour"]) >= 13, weak=True)


def _word(found: re.Match[str], said_at: datetime) -> Clock:
    return Clock(24 if found["word"].lower() == "midnight" else 12, plain=True)


def moment(day: date, part: Part | None, clock: Clock | None, said_at: datetime) -> tuple[datetime, float]:
    """When a part of a day or a clock time on that day is, in the zone of `said_at`, and how sure that is (0 to 1)."""
    if clock is None:
        hour, minute = part.ends if part else (23, 59)
        return _at(day, hour, minute, said_at), part.confidence if part else 1.0
    hours, sure = _hours(clock, part)
    moments = [_at(day, hour, clock.minute, said_at) for hour in hours]
    if day == said_at.date():
        moments = [one for one in moments if one >= said_at] or moments
    return moments[0], sure


def _hours(clock: Clock, part: Part | None) -> tuple[tuple[int, ...], float]:
    """The hours from midnight that it can mean, likeliest first; more than 24 is after the next midnight."""
    hour = clock.hour
    if clock.half:
        return (hour % 12 + (12 if clock.half == "pm" else 0),), 1.0
    name = part.name if part else ""
    if name in ("afternoon", "noon") and 1 <= hour <= (11 if name == "afternoon" else 3):
        return (hour + 12,), 1.0
    if name == "evening" and hour < 13:
        return ((24 if hour in (0, 12) else hour + (24 if hour <= 4 else 12)),), 1.0
    if name == "small hours" and hour == 12:
        return (0,), 1.0
    if (name and name != "end of work") or clock.plain:
        return (hour,), 1.0
    if hour == 12:
        return (12, 24), 0.9
    return ((hour + 12,), 0.8) if hour <= 6 else ((hour, hour + 12), 0.85)


def _at(day: date, hour: int, minute: int, said_at: datetime) -> datetime:
    if hour == 24 and not minute:
        hour, minute = 23, 59
    day += timedelta(days=hour // 24)
    return datetime.combine(day, time(hour % 24, minute), said_at.tzinfo)


_ELSEWHERE = "it runs from another event"
_LONGEST_DAYS = 36500
_HOURS_OF_UNIT = {"minute": Fraction(1, 60), "hour": Fraction(1)}
_DAYS_OF_UNIT = {"day": 1, "business_day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}
_MONTHS_OF_UNIT = {"month": 1, "quarter": 3, "year": 12}


@cache
def delay_rules() -> tuple[TimeRule, ...]:
    """Every rule for a time from now."""
    units = "|".join(sorted(CHINESE_UNITS, key=len, reverse=True))
    number = rf"(?:\d{{1,4}}(?:\.\d)?|[{NUMERAL_CLASS}半俩]{{1,5}})"
    english = "|".join(sorted((re.sub(" ", r"\\s", unit) for unit in ENGLISH_UNITS), key=len, reverse=True))
    words = rf"half\san?|an?\scouple\sof|an?|{ENGLISH_NUMBER}"
    amount = rf"(?P<number>\d{{1,4}}(?:\.\d)?|{words})[\s-]?(?P<unit>{english})s?(?![a-zA-Z])"
    return (
        (
            re.compile(
                rf"(?P<over>再?过)?(?<![\d.第{NUMERAL_CLASS}])(?P<number>{number})\s?(?P<measure>个)?(?P<half>半)?\s?"
                rf"(?P<unit>{units})(?P<and_half>半)?\s?(?P<end>[之以]?内|[之以]?后|[之以]?前)?"
            ),
            _chinese_delay,
        ),
        (
            re.compile(
                rf"(?<![a-zA-Z])(?:in|within|after)\s(?:the\s(?:next|coming)\s)?{amount}(?:['’]?\s?time)?"
                r"(?:\sfrom\s(?:now|today)|(?=\s(?P<event>of|from|after|following|before)\s))?",
                _FLAGS,
            ),
            _english_delay,
        ),
        (
            re.compile(rf"(?<![a-zA-Z0-9.]){amount}\s(?:from\s(?:now|today)|(?P<ago>ago))(?![a-zA-Z])", _FLAGS),
            _english_delay,
        ),
    )


def _chinese_delay(found: re.Match[str], said_at: datetime) -> Day | str | None:
    unit, end = CHINESE_UNITS[found["unit"]], found["end"] or ""
    before = found.string[max(0, found.start() - 4) : found.start()].rstrip(" ,，")
    dated = found["unit"] in ("日", "月", "年") and end.endswith("前")
    if not (end or found["over"]) or (found["unit"] == "月" and not found["measure"]) or dated:
        return None
    if end.endswith("前"):
        return None if before.endswith("提") else PAST
    count = read_numeral(found["number"])
    if count is None or (found["unit"] == "年" and len(found["number"]) == 4):
        return None
    if before.endswith(("后", "起", "之日")) and not before.endswith(("然后", "今后", "以后")):
        return _ELSEWHERE
    return _time_after(said_at, count + (Fraction(1, 2) if found["half"] or found["and_half"] else 0), unit)


def _english_delay(found: re.Match[str], said_at: datetime) -> Day | str | None:
    named = found.groupdict()
    word = " ".join(named["number"].lower().split())
    if named.get("ago"):
        return PAST
    if named.get("event"):
        return _ELSEWHERE
    if word.startswith("half"):
        count: Fraction | None = Fraction(1, 2)
    elif word.startswith("a"):
        count = Fraction(2 if "couple" in word else 1)
    else:
        count = Fraction(word) if word[0].isdecimal() else _as_fraction(english_number(word))
    return (
        None if count is None else _time_after(said_at, count, ENGLISH_UNITS[" ".join(named["unit"].lower().split())])
    )


def _as_fraction(number: int | None) -> Fraction | None:
    return None if number is None else Fraction(number)


def _time_after(said_at: datetime, count: Fraction, unit: Unit) -> Day | str:
    """The day or moment `count` units after `said_at`."""
    today = said_at.date()
    if count * _DAYS_OF_UNIT.get(unit, 1) > _LONGEST_DAYS:
        return "it is more than a hundred years away"
    if unit in _HOURS_OF_UNIT or (unit == "day" and count.denominator != 1):
        seconds = float(count * _HOURS_OF_UNIT.get(unit, Fraction(24)) * 3600)
        at = (said_at.astimezone(timezone.utc) + timedelta(seconds=seconds)).astimezone(said_at.tzinfo)
        if unit == "day":
            return Day(at.date(), "part_of_day", 0.6, at=at)
        return Day(at.date(), "minute" if unit == "minute" or count.denominator != 1 else "hour", 0.9, at=at)
    if unit == "business_day":
        return Day(add_business_days(today, ceil(count)), confidence=0.75)
    months = count * _MONTHS_OF_UNIT.get(unit, 0)
    if months and months.denominator == 1:
        return Day(add_months(today, int(months)), confidence=0.85)
    return Day(today + timedelta(days=ceil(count * _DAYS_OF_UNIT[unit])), confidence=0.85)
