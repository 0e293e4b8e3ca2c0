"""The English words for days: tomorrow, next Tuesday, March 10, 3/10, end of month, Q2, next week."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

from ollama_kit.text.dates import days
from ollama_kit.text.dates.days import Day, TimeRule
from ollama_kit.text.dates.written import MONTH, month_number

_RELATIVE = {"yesterday": -1, "today": 0, "this": 0, "to": 0, "tonight": 0, "tomorrow": 1, "tmr": 1, "tmrw": 1}
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_AHEAD = {"last": -1, "this": 0, "coming": 0, "this coming": 0, "next": 1, "the": 0}

_FLAGS = re.IGNORECASE | re.ASCII
_AHEAD_WORDS = "(?P<ahead>last|this coming|coming|this|next)"
_WORDS_TOO = {"mar(?:ch)?": "(?-i:Mar(?:ch)?|MAR(?:CH)?)", "may": "(?-i:May|MAY)"}
"""Months that are everyday words in small letters."""
_MONTH = "(?P<month>" + "|".join(_WORDS_TOO.get(name, name) for name in MONTH.split("|")) + ")"
_SPAN = r"(?:(?P<ahead>this|next|the|last)\s)?(?P<span>week|month|quarter|year)"
_PLACE = r"(?P<place>end|close|middle|beginning|start)\sof\s"
_PLACES = {**dict.fromkeys(("end", "close", "late"), "end"), **dict.fromkeys(("middle", "mid"), "middle")}


def _rule(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-zA-Z0-9_]){pattern}(?![a-zA-Z0-9_])", _FLAGS)


@cache
def english_rules() -> tuple[TimeRule, ...]:
    """Every rule for a day in English."""
    full = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    short = "(?-i:Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun)"
    ordinal = r"(?:st|nd|rd|th)"
    return (
        (_rule(r"(?:the\s)?day\safter\stomorrow"), lambda found, said_at: days.days_from(said_at, 2)),
        (_rule(r"(?P<word>today|tomorrow|tmrw?|yesterday|this(?=\s(?:morning|afternoon|evening)))"), _relative),
        (re.compile(r"(?<![a-zA-Z])to(?=night(?![a-zA-Z]))", _FLAGS), _tonight),
        (_rule(rf"(?:{_AHEAD_WORDS}\s)?(?P<day>{full}|{short})(?!s)"), _weekday),
        (_rule(rf"(?:every|each)\s(?:{full}|{short}|day|week|month|morning|quarter)"), _again),
        (_rule(rf"(?:{full})s"), _again),
        (_rule(rf"{_MONTH}\.?\s(?P<day>\d{{1,2}}){ordinal}?(?!\s?[:%]|[.,]\d)"), _month_and_day),
        (_rule(rf"(?:the\s)?(?P<day>\d{{1,2}}){ordinal}?(?:\sof)?\s{_MONTH}\.?"), _month_and_day),
        (_rule(rf"(?:the\s(?P<day>\d{{1,2}}){ordinal})(?!\s(?:of|day|time|floor|street|item|version))"), _day_of_month),
        (re.compile(r"(?<![\w/.:-])(?P<first>\d{1,2})/(?P<second>\d{1,2})(?![\w/:%]|\.\d|-\d)", _FLAGS), _slashed),
        *_longer_rules(),
    )


def _longer_rules() -> tuple[TimeRule, ...]:
    quarter = r"q(?P<quarter>[1-4])(?:\s?(?P<year>20\d\d))?"
    return (
        (_rule(rf"(?:{_PLACE})(?:{_SPAN}|{quarter}|{_MONTH}(?:\s(?P<of_year>20\d\d))?)"), _place_of),
        (_rule(r"(?:(?P<span>month|year|quarter)[ -]end|(?P<short>EOM|EOW|EOQ|EOY))"), _end_of),
        (_rule(rf"(?P<place>early|mid|late)[\s-](?:{_AHEAD_WORDS}\s)?(?:{_MONTH}|(?P<span>month))"), _place_of),
        (_rule(r"(?P<ahead>this|next|last)\s(?P<span>week|month|quarter|year)"), _span),
        (_rule(r"the\sweek\safter\snext"), lambda found, said_at: days.week(said_at, 2)),
        (_rule(r"(?P<before>before\s)?(?P<ahead>this|next|the|last)\sweekend"), _weekend),
        (_rule(quarter), _quarter),
        (
            _rule(rf"(?:by|in|before|until|till|through|during)\s{_MONTH}(?:\s(?P<of_year>20\d\d))?(?!\.?\s\d)"),
            _in_month,
        ),
        (_rule(r"(?:by|in|before|until)\s(?P<number>20\d\d)(?![-/.]\d)"), _year),
    )


def _again(found: re.Match[str], said_at: datetime) -> str:
    return days.AGAIN


def _relative(found: re.Match[str], said_at: datetime) -> Day | str:
    return days.days_from(said_at, _RELATIVE[found["word"].lower()])


def _tonight(found: re.Match[str], said_at: datetime) -> Day | str:
    return days.days_from(said_at, 0)


def _weekday(found: re.Match[str], said_at: datetime) -> Day | str:
    ahead = found["ahead"]
    number = _WEEKDAYS.index(found["day"][:3].lower())
    if ahead and "coming" in ahead.lower():
        return days.weekday(said_at, number, None)
    return days.weekday(said_at, number, _AHEAD[ahead.lower()] if ahead else None)


def _month_and_day(found: re.Match[str], said_at: datetime) -> Day | str:
    return days.month_and_day(said_at, month_number(found["month"].lower()), int(found["day"]))


def _day_of_month(found: re.Match[str], said_at: datetime) -> Day | str | None:
    """the 15th, where nothing follows that it could count (the 2nd attempt), or a word for a limit comes before."""
    limited = re.search(
        r"\b(?:by|before|until|till|on|than|due)\s\Z", found.string[max(0, found.start() - 8) : found.start()]
    )
    counts = re.match(r"\s[a-z]", found.string[found.end() : found.end() + 2])
    if not 1 <= int(found["day"]) <= 31 or (counts and not limited):
        return None
    return days.day_of_month(said_at, int(found["day"]))


def _slashed(found: re.Match[str], said_at: datetime) -> Day | str | None:
    """3/10 is March 10; 13/4, which can only be the day first, the 13th of April."""
    first, second = int(found["first"]), int(found["second"])
    if found[0] == "24/7" or not (first and second) or min(first, second) > 12:
        return None
    month, day = (second, first) if first > 12 else (first, second)
    read = days.month_and_day(said_at, month, day)
    if isinstance(read, str):
        return None if day > 31 else read
    return Day(read.day, confidence=min(read.confidence, 0.7), rank=read.rank)


def _place_of(found: re.Match[str], said_at: datetime) -> Day | str:
    named = found.groupdict()
    place = _PLACES.get(named["place"].lower(), "beginning")
    if named.get("month"):
        return _in_month(found, said_at, place)
    if named.get("quarter"):
        return _quarter(found, said_at, place)
    return _of_span(said_at, named["span"].lower(), _AHEAD[(named["ahead"] or "this").lower()], place)


def _end_of(found: re.Match[str], said_at: datetime) -> Day | str:
    short = {"m": "month", "w": "week", "q": "quarter", "y": "year"}
    span = found["span"] or short[found["short"][-1].lower()]
    return _of_span(said_at, span.lower(), 0, "end")


def _span(found: re.Match[str], said_at: datetime) -> Day | str:
    return _of_span(said_at, found["span"].lower(), _AHEAD[found["ahead"].lower()], None)


def _of_span(said_at: datetime, span: str, ahead: int, place: str | None) -> Day | str:
    if span == "week":
        # The end of a week at work is its Friday.
        numbers = {"end": 4, "middle": 2, "beginning": 0}
        return days.weekday(said_at, numbers[place], ahead or None) if place else days.week(said_at, ahead)
    if span == "month":
        return days.month(said_at, ahead, place)
    if span == "quarter":
        return days.quarter_from(said_at, ahead, place)
    return days.year(said_at, said_at.year + ahead, place)


def _weekend(found: re.Match[str], said_at: datetime) -> Day | str:
    return days.weekend(said_at, _AHEAD[found["ahead"].lower()], before=bool(found["before"]))


def _quarter(found: re.Match[str], said_at: datetime, place: str | None = None) -> Day | str:
    return days.quarter(said_at, int(found["quarter"]), int(found["year"]) if found["year"] else None, place)


def _in_month(found: re.Match[str], said_at: datetime, place: str | None = None) -> Day | str:
    year = found.groupdict().get("of_year")
    years = int(year) - said_at.year if year else None
    return days.named_month(said_at, month_number(found["month"].lower()), place, years)


def _year(found: re.Match[str], said_at: datetime) -> Day | str:
    return days.year(said_at, int(found["number"]), None)
