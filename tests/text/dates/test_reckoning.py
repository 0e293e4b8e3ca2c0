"""The calendar's arithmetic against the standard library's calendar."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta

from hypothesis import given, settings, strategies as st

from ollama_kit.text.dates.reckoning import add_business_days, add_months, day_of_week, next_weekday

DAYS = st.dates(date(1950, 1, 1), date(2100, 1, 1))


@given(DAYS, st.integers(0, 40))
@settings(deadline=None)
def test_business_days_skip_weekends(day: date, count: int) -> None:
    """Counting Monday to Friday one by one gives the same."""
    at, left = day, count
    while left:
        at += timedelta(days=1)
        left -= at.weekday() < 5
    assert add_business_days(day, count) == at


@given(DAYS, st.integers(0, 60))
@settings(deadline=None)
def test_months_keep_the_day_where_they_can(day: date, months: int) -> None:
    """The month is so many on, the day the same or the month's last."""
    found = add_months(day, months)
    assert (found.year * 12 + found.month) - (day.year * 12 + day.month) == months
    assert found.day == min(day.day, monthrange(found.year, found.month)[1])


@given(DAYS, st.integers(0, 6), st.integers(0, 3))
@settings(deadline=None)
def test_weekdays_of_weeks(day: date, weekday: int, weeks: int) -> None:
    """ISO weeks are the oracle."""
    wanted = (day + timedelta(weeks=weeks)).isocalendar()
    assert day_of_week(day, weekday, weeks).isocalendar() == (wanted.year, wanted.week, weekday + 1)
    assert next_weekday(day, weekday).weekday() == weekday
