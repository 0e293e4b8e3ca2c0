"""Dates as contracts write them before they are signed: with a blank day, a month only, or letters torn apart."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from ollama_kit.text.dates.written import MONTH, month_number, parse_dates


@dataclass(frozen=True, slots=True)
class Day:
    """A date at `[start:end]` of the text: `iso` is 2026-03-01, or 2026-03 or 2026 where the rest is blank."""

    start: int
    end: int
    iso: str


def days_in(plain: str, start: int, end: int) -> list[Day]:
    """Every date between two offsets of `plain`, whole ones and those with blanks, in order.

    >>> [day.iso for day in days_in("made ____, 2015, the 27t h day of March, 2017, in April 2013", 0, 60)]
    ['2015', '2017-03-27', '2013-04']
    """
    window = plain[start:end]
    found = [Day(start + one.start, start + one.end, one.day.isoformat()) for one in parse_dates(window)]
    for match in _loose().finditer(window.lower()):
        first, last = start + match.start(), start + match.end()
        if not any(day.start < last and first < day.end for day in found):
            found.append(Day(first, last, _iso(match)))
    return sorted(found, key=lambda day: day.start)


def _iso(match: re.Match[str]) -> str:
    month = match["month"] or match["only"] or match["of"]
    if match["year_cn"]:
        return f"{match['year_cn']}-{int(match['month_cn']):02}" if match["month_cn"] else match["year_cn"]
    year = match["year"] or match["year_only"] or match["blank_year"] or match["of_year"]
    if not month:
        return str(year)
    number = f"{year}-{month_number(month):02}"
    return f"{number}-{int(match['day']):02}" if match["day"] and 0 < int(match["day"]) <= 31 else number


@cache
def _loose() -> re.Pattern[str]:
    blank = r"(?:_[_ ]{1,30}|\[[\s•●*_]{0,12}\]|\.{4,30})"
    return re.compile(
        rf"(?P<day>\d{{1,2}})\s?(?:s\s?t|n\s?d|r\s?d|t\s?h)?\s(?:day\s)?(?:of\s)?(?P<month>{MONTH})\.?,?\s(?P<year>\d{{4}})(?!\d)"
        rf"|{blank}\s?(?:day\s)?(?:of\s)(?P<of>{MONTH})\.?,?\s(?P<of_year>\d{{4}})(?!\d)"
        rf"|(?<![a-z\d])(?P<only>{MONTH})\.?,?(?:\s{blank},?)?\s(?P<year_only>\d{{4}})(?!\d)"
        rf"|{blank},?\s?(?P<blank_year>(?:19|20)\d{{2}})(?!\d)"
        r"|(?P<year_cn>(?:19|20)\d{2})\s?年(?:\s?(?P<month_cn>\d{1,2})\s?月)?(?=[\s_]{1,20}[月日]|\s?$|[\s_]{1,20}月)"
    )
