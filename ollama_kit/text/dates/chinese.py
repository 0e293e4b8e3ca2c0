"""The Chinese words for days: 明天, 下周五, 3月10号, 月底, 二季度, 明年."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache

from ollama_kit.text.dates import days
from ollama_kit.text.dates.days import Day, TimeRule
from ollama_kit.text.figures.numerals import NUMERAL_CLASS, TENS_CLASS, small_number

_RELATIVE = {
    "大前天": -3,
    "前天": -2,
    "昨天": -1,
    "昨日": -1,
    "昨": -1,
    "今天": 0,
    "今日": 0,
    "今儿": 0,
    "今": 0,
    "本日": 0,
    "明天": 1,
    "明日": 1,
    "明儿": 1,
    "明": 1,
    "后天": 2,
    "后": 2,
    "大后天": 3,
}
_WEEKDAYS = {**{c: i for i, c in enumerate("一二三四五六日")}, "天": 6, **{str(i + 1): i for i in range(7)}}
_AHEAD = {"上上": -2, "上": -1, "本": 0, "这": 0, "下": 1, "下下": 2}
_YEARS = {"去年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_PLACES = {**dict.fromkeys("初", "beginning"), **dict.fromkeys("中", "middle"), **dict.fromkeys("底末", "end")}

_NUMBER = rf"(?:\d{{1,2}}|[{TENS_CLASS}]{{1,4}})"
_AHEAD_WORDS = "(?P<ahead>上上|上|本|这|下下|下)个?"
_YEAR = r"(?:(?P<year>今年|明年|后年|去年|(?<!\d)(?:19|20)\d\d\s?年)的?\s?)"
_NOT_A_DAY = "楼线机位门院馆厅店桌岗文柜库车口厂房仓梯舱坑人令码牌段角子召称"
"""What follows 号 where it counts something else than days: 8号楼, 10号线."""


@cache
def chinese_rules() -> tuple[TimeRule, ...]:
    """Every rule for a day in Chinese."""
    words = "|".join(sorted((word for word in _RELATIVE if len(word) > 1), key=len, reverse=True))
    place = "(?P<place>初|中旬?|底|末|上旬|下旬)"
    return (
        (re.compile(rf"(?:{words})|[今明](?=[晚早晨夜])|(?<![以之今然而])后(?=晚[上]?)|昨(?=[晚夜])"), _relative),
        (
            re.compile(
                rf"(?<![每隔{NUMERAL_CLASS}\d])(?:{_AHEAD_WORDS})?(?:周|星期|礼拜|週)(?P<day>[一二三四五六日天]|[1-7](?!\d))"
                r"(?![年月.%般样些致])"
            ),
            _weekday,
        ),
        (re.compile(r"每(?:周|星期|礼拜|个?月|天|日|年)(?:[一二三四五六日天])?"), _again),
        (re.compile(rf"(?:{_AHEAD_WORDS})?周末(?![愉快好])(?P<before>之?前)?"), _weekend),
        (
            re.compile(rf"{_AHEAD_WORDS}(?:周|星期|礼拜)(?![一二三四五六日天末1-7年期报会刊])(?:[之以]?内|里)?"),
            _week,
        ),
        (
            re.compile(
                rf"{_YEAR}?(?<![\d.{TENS_CLASS}])(?P<month>{_NUMBER})\s?月\s?(?P<day>{_NUMBER})\s?"
                r"(?:[日号號]|(?![\d.,%个年月\u4e07\u4ebf\u4ef6\u4eba\u5143\u6b21\u70b9]))"
            ),
            _month_and_day,
        ),
        (re.compile(rf"(?P<ahead>上上|上|本|这|下下|下)个?月的?\s?(?P<day>{_NUMBER})\s?[日号號]"), _day_of_month_ahead),
        (
            re.compile(
                rf"(?<![第\d.a-zA-Z{TENS_CLASS}-])(?P<day>\d{{1,2}}\s?[日号號]|[{TENS_CLASS}]{{1,3}}号)(?![{_NOT_A_DAY}])"
            ),
            _day_of_month,
        ),
        (
            re.compile(
                rf"(?:{_YEAR}?(?<![\d.{TENS_CLASS}])(?P<month>{_NUMBER})\s?月份?|{_AHEAD_WORDS}月){place}?(?:[之以]?内|里)?"
            ),
            _month,
        ),
        *_longer_rules(),
    )


def _longer_rules() -> tuple[TimeRule, ...]:
    return (
        (re.compile(r"(?<![个岁年日\d])月(?P<place>初|中|底|末)(?![之])"), _month_place),
        (
            re.compile(
                rf"(?:{_YEAR}?(?:第?(?P<number>[一二三四1-4])季度|[qQ](?P<latin>[1-4])(?![\d.a-zA-Z]))|{_AHEAD_WORDS}季度?)"
                r"(?P<place>初|底|末)?(?:[之以]?内|里)?"
            ),
            _quarter,
        ),
        (re.compile(rf"{_YEAR}(?P<place>年?[初底末])?(?:[之以]?内|里)?(?![\d一二三四五六七八九十]+\s?[月季])"), _year),
        (
            re.compile(rf"(?<![\d{NUMERAL_CLASS}几多今明后去往每半\s年过新])年(?P<place>底|末|内|前)(?![之])"),
            _year_place,
        ),
    )


def _again(found: re.Match[str], said_at: datetime) -> str:
    return days.AGAIN


def _relative(found: re.Match[str], said_at: datetime) -> Day | str:
    return days.days_from(said_at, _RELATIVE[found[0]])


def _ahead(found: re.Match[str]) -> int | None:
    named = found["ahead"]
    return _AHEAD[named] if named else None


def _weekday(found: re.Match[str], said_at: datetime) -> Day | str:
    return days.weekday(said_at, _WEEKDAYS[found["day"]], _ahead(found))


def _weekend(found: re.Match[str], said_at: datetime) -> Day | str:
    return days.weekend(said_at, _ahead(found), before=bool(found["before"]))


def _week(found: re.Match[str], said_at: datetime) -> Day | str:
    return days.week(said_at, _ahead(found) or 0)


def _years(found: re.Match[str], said_at: datetime) -> int | None:
    named = found["year"]
    if not named:
        return None
    return _YEARS[named] if named in _YEARS else int(named[:4]) - said_at.year


def _month_and_day(found: re.Match[str], said_at: datetime) -> Day | str | None:
    month, day = small_number(found["month"]), small_number(found["day"])
    if month is None or day is None:
        return None
    return days.month_and_day(said_at, month, day, _years(found, said_at))


def _day_of_month_ahead(found: re.Match[str], said_at: datetime) -> Day | str | None:
    day = small_number(found["day"])
    return None if day is None else days.day_of_month(said_at, day, _AHEAD[found["ahead"]])


def _day_of_month(found: re.Match[str], said_at: datetime) -> Day | str | None:
    day = small_number(found["day"].rstrip("日号號 "))
    behind_street = found.string[max(0, found.start() - 3) : found.start()].rstrip()[-1:]
    if day is None or not 1 <= day <= 31 or behind_street in tuple("路街巷弄道"):
        return None
    return days.day_of_month(said_at, day)


def _place(found: re.Match[str]) -> str | None:
    named = found["place"]
    if not named:
        return None
    return {"上旬": "beginning", "下旬": "end"}.get(named) or _PLACES.get(named.strip("年")[0])


def _month(found: re.Match[str], said_at: datetime) -> Day | str | None:
    ahead = _ahead(found)
    if ahead is not None:
        return days.month(said_at, ahead, _place(found))
    month = small_number(found["month"])
    return None if month is None else days.named_month(said_at, month, _place(found), _years(found, said_at))


def _month_place(found: re.Match[str], said_at: datetime) -> Day | str:
    return days.bare_month_place(said_at, _PLACES[found["place"]])


def _quarter(found: re.Match[str], said_at: datetime) -> Day | str | None:
    ahead = _ahead(found)
    if ahead is not None:
        return days.quarter_from(said_at, ahead, _place(found)) if "季度" in found[0] else None
    number = small_number(found["number"] or found["latin"]) or 0
    years = _years(found, said_at)
    return days.quarter(said_at, number, None if years is None else said_at.year + years, _place(found))


def _year(found: re.Match[str], said_at: datetime) -> Day | str:
    return days.year(said_at, said_at.year + (_years(found, said_at) or 0), _place(found))


def _year_place(found: re.Match[str], said_at: datetime) -> Day | str:
    """年底 and 年内 of this year. 年前 is before the lunar new year, which is not known here: in January and February
    it is refused, later in the year it is read as the year's end with little confidence."""
    if found["place"] != "前":
        return days.year(said_at, said_at.year, "end")
    if said_at.month <= 2:
        return "the lunar new year is not known"
    return Day(datetime(said_at.year, 12, 31).date(), "month", 0.4)
