"""What is so long from now: 两天后, 3天内, 半小时后, 两个工作日内, in two days, within 24h.

Whole days, weeks, months and years lead to a day; hours and minutes, and half a day (12 hours), to a moment. A delay
that runs from something else than now (验收后10天内, within 30 days of delivery) is refused: that moment is not known.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from functools import cache
from math import ceil

from ollama_kit.text.dates.days import PAST
from ollama_kit.text.dates.pieces import Day, Rule
from ollama_kit.text.dates.reckoning import add_business_days, add_months
from ollama_kit.text.dates.terms import CHINESE_UNITS, ENGLISH_UNITS, Unit
from ollama_kit.text.figures.numerals import NUMERAL_CLASS, read_numeral
from ollama_kit.text.figures.words import ENGLISH_NUMBER, english_number

_ELSEWHERE = "it runs from another event"
_LONGEST_DAYS = 36500
_HOURS = {"minute": Fraction(1, 60), "hour": Fraction(1)}
_DAYS = {"day": 1, "business_day": 1, "week": 7, "month": 30, "quarter": 91, "year": 365}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_FLAGS = re.IGNORECASE | re.ASCII


@cache
def delay_rules() -> tuple[Rule, ...]:
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
            _chinese,
        ),
        (
            re.compile(
                rf"(?<![a-zA-Z])(?:in|within|after)\s(?:the\s(?:next|coming)\s)?{amount}(?:['’]?\s?time)?"
                r"(?:\sfrom\s(?:now|today)|(?=\s(?P<event>of|from|after|following|before)\s))?",
                _FLAGS,
            ),
            _english,
        ),
        (re.compile(rf"(?<![a-zA-Z0-9.]){amount}\s(?:from\s(?:now|today)|(?P<ago>ago))(?![a-zA-Z])", _FLAGS), _english),
    )


def _chinese(found: re.Match[str], said_at: datetime) -> Day | str | None:
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
    return _after(said_at, count + (Fraction(1, 2) if found["half"] or found["and_half"] else 0), unit)


def _english(found: re.Match[str], said_at: datetime) -> Day | str | None:
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
        count = Fraction(word) if word[0].isdecimal() else _whole(english_number(word))
    return None if count is None else _after(said_at, count, ENGLISH_UNITS[" ".join(named["unit"].lower().split())])


def _whole(number: int | None) -> Fraction | None:
    return None if number is None else Fraction(number)


def _after(said_at: datetime, count: Fraction, unit: Unit) -> Day | str:
    """The day or moment `count` units after `said_at`."""
    today = said_at.date()
    if count * _DAYS.get(unit, 1) > _LONGEST_DAYS:
        return "it is more than a hundred years away"
    if unit in _HOURS or (unit == "day" and count.denominator != 1):
        seconds = float(count * _HOURS.get(unit, Fraction(24)) * 3600)
        at = (said_at.astimezone(timezone.utc) + timedelta(seconds=seconds)).astimezone(said_at.tzinfo)
        if unit == "day":
            return Day(at.date(), "part_of_day", 0.6, at=at)
        return Day(at.date(), "minute" if unit == "minute" or count.denominator != 1 else "hour", 0.9, at=at)
    if unit == "business_day":
        return Day(add_business_days(today, ceil(count)), confidence=0.75)
    months = count * _MONTHS.get(unit, 0)
    if months and months.denominator == 1:
        return Day(add_months(today, int(months)), confidence=0.85)
    return Day(today + timedelta(days=ceil(count * _DAYS[unit])), confidence=0.85)
