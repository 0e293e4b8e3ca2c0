"""Absolute dates, lengths of time and periods, written in every form and read back."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.text.dates import Period, Term, parse_dates, parse_terms
from tests.intensity import examples

DIGITS, CAPITALS = "〇一二三四五六七八九", "零壹贰叁肆伍陆柒捌玖"
NOISE = st.text("本合同自签订之日起，。；（）\n the of and ABC", max_size=12).map(lambda text: text + " ")
DAYS = st.dates(date(1950, 1, 1), date(2099, 12, 31))


def small(number: int, digits: str = DIGITS, ten: str = "十") -> str:
    """A number below a hundred as it is said."""
    tens, ones = divmod(number, 10)
    head = "" if not tens else (digits[tens] if tens > 1 or ten == "拾" else "") + ten
    return head + (digits[ones] if ones else "")


def ordinal(number: int) -> str:
    return f"{number}{'th' if 10 < number < 20 else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


FORMS: dict[str, Callable[[date], str]] = {
    "figures": lambda day: f"{day.year}年{day.month}月{day.day}日",
    "spaced": lambda day: f"{day.year} 年 {day.month} 月 {day.day} 日",
    "full width": lambda day: f"{day.year}年{day.month}月{day.day}日".translate(
        {48 + i: 0xFF10 + i for i in range(10)}
    ),
    "said": lambda day: f"{''.join(DIGITS[int(c)] for c in str(day.year))}年{small(day.month)}月{small(day.day)}号",
    "capitals": lambda day: (
        f"{''.join(CAPITALS[int(c)] for c in str(day.year))}年{small(day.month, CAPITALS, '拾')}月"
        f"{small(day.day, CAPITALS, '拾')}日"
    ),
    "iso": lambda day: day.isoformat(),
    "dots": lambda day: f"{day.year}.{day.month}.{day.day}",
    "slashes": lambda day: f"{day.year}/{day.month:02}/{day.day:02}",
    "american": lambda day: f"{day:%B} {day.day}, {day.year}",
    "short": lambda day: f"{day:%b}. {ordinal(day.day)} {day.year}",
    "british": lambda day: f"{day.day} {day:%B} {day.year}",
    "legal": lambda day: f"{ordinal(day.day)} day of {day:%B}, {day.year}",
}


@pytest.mark.parametrize("form", FORMS)
@given(day=DAYS, before=NOISE, after=NOISE)
@settings(deadline=None, max_examples=examples(40))
def test_a_date_is_read_back_from_any_form(form: str, day: date, before: str, after: str) -> None:
    """Whatever stands around it, the date and its exact place are found."""
    written = FORMS[form](day)
    (found,) = parse_dates(f"{before}{written} {after}")
    assert (found.day, found.text, found.start) == (day, written, len(before))


def test_what_the_calendar_has_not_is_no_date() -> None:
    """An impossible day, a contract's number and a version are not dates."""
    assert not parse_dates("2026年2月30日 2025-02-29 SYN-CG-2026-03-1 2026-031 1.2026-03-01.7 31 June 2026")


def test_a_date_that_may_be_either_is_marked() -> None:
    """3/4/2026 is read month first and marked; 13/4/2026 leaves no doubt."""
    assert [(found.day.isoformat(), found.ambiguous) for found in parse_dates("3/4/2026, 13/4/2026, 4/4/2026")] == [
        ("2026-03-04", True),
        ("2026-04-13", False),
        ("2026-04-04", False),
    ]


UNITS = [("年", "year", "year"), ("个月", "month", "month"), ("个工作日", "business day", "business_day")]
WORDS = {2: "two", 10: "ten", 30: "thirty", 36: "thirty-six", 45: "forty-five", 90: "ninety"}


@given(st.sampled_from(UNITS), st.sampled_from(sorted(WORDS)), NOISE)
@settings(deadline=None, max_examples=examples(80))
def test_a_term_is_read_back_from_any_form(unit: tuple[str, str, str], count: int, noise: str) -> None:
    """Figures, words and both, in Chinese and English."""
    said = small(count)
    for written in (
        f"{count}{unit[0]}",
        f"{said}{unit[0]}",
        f"{said}（{count}）{unit[0]}",
        f"{count} {unit[1]}s",
        f"{WORDS[count]} ({count}) {unit[1]}s",
    ):
        found = [one for one in parse_terms(f"{noise}{written}，") if isinstance(one, Term)]
        assert [(one.text, one.count, one.unit, one.conflict) for one in found] == [(written, count, unit[2], False)]


def test_words_and_figures_that_differ_are_a_conflict() -> None:
    """The words are kept."""
    found = parse_terms("thirty (60) days，三（5）年")
    assert [(one.count, one.conflict) for one in found if isinstance(one, Term)] == [(30, True), (3, True)]


def test_a_day_of_the_month_is_no_term() -> None:
    """日 needs 内, 提前 or the like; dates, months and ordinals are none either."""
    assert not parse_terms("每季度首月 5 日前，2026年3月1日，第二年，5月，2026年")
    assert [one.text for one in parse_terms("提前60日，10 日内，一年半，半年")] == ["60日", "10 日", "一年半", "半年"]


@given(DAYS, DAYS, st.sampled_from([("自", "起至", "止"), ("从", "到", ""), ("", " 至 ", ""), ("", "-", "")]), NOISE)
@settings(deadline=None, max_examples=examples(80))
def test_a_period_is_read_back(first: date, second: date, frame: tuple[str, str, str], noise: str) -> None:
    """自…起至…止 gives both days, with its frame in the span."""
    since, until = sorted((first, second))
    written = f"{frame[0]}{FORMS['figures'](since)}{frame[1]}{FORMS['figures'](until)}{frame[2]}"
    (found,) = (one for one in parse_terms(f"{noise}{written}。") if isinstance(one, Period))
    assert (found.since, found.until) == (since, until)
    assert found.text.endswith(written[1:])


def test_half_units_count() -> None:
    """两个半月 is two and a half months."""
    (found,) = parse_terms("两个半月")
    assert isinstance(found, Term)
    assert found.count == Fraction(5, 2)
