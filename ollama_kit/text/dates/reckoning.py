"""The calendar's arithmetic, as people count: months keep the day where they can, weeks begin on Monday."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta


def calendar_day(year: int, month: int, day: int) -> date | None:
    """The date, or None where it is not in the calendar (30 February, month 13)."""
    try:
        return date(year, month, day)
    except ValueError:
        return None


def month_from(day: date, months: int) -> tuple[int, int]:
    """(year, month) so many months from the one of `day`.

    >>> month_from(date(2026, 12, 31), 2)
    (2027, 2)
    """
    at = day.year * 12 + day.month - 1 + months
    return at // 12, at % 12 + 1


def last_of_month(year: int, month: int) -> date:
    """The last day of a month."""
    return date(year, month, monthrange(year, month)[1])


def add_months(day: date, months: int) -> date:
    """The same day so many months on, or the last one of a month that is shorter.

    >>> add_months(date(2026, 1, 31), 1)
    datetime.date(2026, 2, 28)
    """
    year, month = month_from(day, months)
    return date(year, month, min(day.day, monthrange(year, month)[1]))


def add_business_days(day: date, count: int) -> date:
    """The `count`-th Monday to Friday after `day`; holidays are not known.

    >>> add_business_days(date(2026, 3, 13), 1)
    datetime.date(2026, 3, 16)
    """
    weeks, rest = divmod(count, 5)
    at = day + timedelta(weeks=weeks)
    if weeks and not rest and at.weekday() > 4:
        return at - timedelta(days=at.weekday() - 4)
    for _ in range(rest):
        at += timedelta(days=1)
        while at.weekday() > 4:
            at += timedelta(days=1)
    return at


def monday(day: date) -> date:
    """The Monday of the calendar week of `day`."""
    return day - timedelta(days=day.weekday())


def day_of_week(day: date, weekday: int, weeks: int = 0) -> date:
    """The weekday (Monday is 0) of the calendar week of `day`, or of one so many weeks on."""
    return monday(day) + timedelta(days=weekday, weeks=weeks)


def next_weekday(day: date, weekday: int) -> date:
    """The first such weekday from `day` on, `day` itself among them."""
    return day + timedelta(days=(weekday - day.weekday()) % 7)


def quarter_of(day: date) -> int:
    """1 to 4."""
    return (day.month - 1) // 3 + 1
