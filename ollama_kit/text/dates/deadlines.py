"""Deadlines as people say them, resolved against the moment of saying: 明天（3月10号）下午6点前, by Friday EOD."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache

from ollama_kit.errors import UsageError
from ollama_kit.text.dates.chinese import chinese_rules
from ollama_kit.text.dates.days import (
    AGAIN,
    WEEKDAY,
    Clock,
    Day,
    Meaning,
    Part,
    Precision,
    RefusedTime,
    TimeMention,
    find_mentions,
    full_date,
)
from ollama_kit.text.dates.english import english_rules
from ollama_kit.text.dates.times import delay_rules, hour_rules, moment
from ollama_kit.text.dates.written import written_dates
from ollama_kit.text.folding import FoldedViews
from ollama_kit.text.pattern_search import longest_first

_LOOK_BACK = 24
_LONGEST_GAP = 12
_MOST_PIECES = 6
_CONFIRMED = 1.1
_CONTRADICTED = 0.5
_DENIED = 0.3
_NO_DAY = 0.85
_ROLLED = 0.8


@dataclass(frozen=True, slots=True)
class Deadline:
    """A time at `[start:end]` of the caller's text, resolved.

    `day` is the day it falls on; of a week, month, quarter or year the last one. `at` is the moment, in the zone of
    the saying, where the precision is finer than a day: for a part of the day its end (下午 and 下班前 18:00, 上午 and
    中午 12:00, 晚上 23:59). `confidence` is from 0 to 1. `limit`: it is said as one (前, 内, by, before).
    """

    text: str
    start: int
    end: int
    day: date | None
    at: datetime | None
    precision: Precision
    confidence: float
    limit: bool = False


@dataclass(frozen=True, slots=True)
class FoundDeadlines:
    """All times of a text: those resolved, and those that cannot be, with the reason. Both in order of place."""

    deadlines: tuple[Deadline, ...]
    refused: tuple[RefusedTime, ...]


def resolve_deadline(text: str, said_at: datetime) -> Deadline | None:
    """The one deadline that `text` says, or None; why not is in `read_deadlines`.

    Of several, the first that is said as a limit (前, 内, by), else the first; one that is denied (不是周三) comes
    last. `said_at` needs a time zone, else UsageError.

    >>> from datetime import timezone
    >>> said_at = datetime(2026, 3, 9, 9, 7, tzinfo=timezone.utc)
    >>> found = resolve_deadline("我今天修，明天（3月10号）下午6点前提测", said_at)
    >>> found.text, found.at.isoformat()
    ('明天（3月10号）下午6点前', '2026-03-10T18:00:00+00:00')
    """
    found = find_deadlines(text, said_at)
    return min(found, key=lambda one: (one.confidence <= _DENIED, not one.limit, one.start), default=None)


def find_deadlines(text: str, said_at: datetime) -> tuple[Deadline, ...]:
    """Every time in `text` that can be resolved, in order, without overlap."""
    return read_deadlines(text, said_at).deadlines


def read_deadlines(text: str, said_at: datetime) -> FoundDeadlines:
    """Every time in `text`, resolved or refused with the reason (the past, a day that is not in the calendar)."""
    if said_at.utcoffset() is None:
        raise UsageError(
            f"the moment of a message has no time zone: {said_at.isoformat()}",
            hint=("Give the zone of the chat, for instance Asia/Shanghai.", "请给出聊天的时区，例如 Asia/Shanghai。"),
        )
    seen = FoldedViews.of(text)
    deadlines: list[Deadline] = []
    refused: list[RefusedTime] = []
    before: tuple[TimeMention, ...] = ()
    for group in _groups(seen, _mentions(seen, said_at)):
        floor = deadlines[-1].end if deadlines else 0
        found = _resolved(seen, group, _context(seen, before, group), said_at, floor)
        before = group
        if isinstance(found, Deadline):
            deadlines.append(found)
        elif found is not None:
            refused.append(found)
    return FoundDeadlines(tuple(deadlines), tuple(refused))


def _mentions(seen: FoldedViews, said_at: datetime) -> list[TimeMention]:
    rules = (*chinese_rules(), *english_rules(), *delay_rules(), *hour_rules())
    absolute = [TimeMention(one.start, one.end, full_date(one.year, one.month, one.day)) for one in written_dates(seen)]
    return longest_first([*absolute, *find_mentions(seen, said_at, rules)])


def _groups(seen: FoldedViews, pieces: list[TimeMention]) -> Iterator[tuple[TimeMention, ...]]:
    """The pieces that together say one time."""
    group: list[TimeMention] = []
    for piece in pieces:
        if group and not _joins(seen.text[group[-1].end : piece.start], group, piece):
            yield tuple(group)
            group = []
        group.append(piece)
    if group:
        yield tuple(group)


@cache
def _glue() -> re.Pattern[str]:
    words = r"的|当天|[,，]?\s?(?P<open>[(（\[【])(?:即|也就是)?|(?P<comma>,)|t|on|at|by|before|in\sthe|the|of"
    return re.compile(rf"\s{{0,2}}[)）\]】]?\s{{0,2}}(?:{words})?\s{{0,2}}", re.IGNORECASE)


@cache
def _to() -> re.Pattern[str]:
    return re.compile(r"\s?(?:-|–|—|~|～|到|至|to|and|和)\s?", re.IGNORECASE)


def _joins(gap: str, group: list[TimeMention], piece: TimeMention) -> bool:
    """Whether `piece`, behind `gap`, says more about the time that the group says."""
    glue = _glue().fullmatch(gap) if len(gap) <= _LONGEST_GAP else None
    if (
        glue is None
        or len(group) == _MOST_PIECES
        or any(isinstance(one.meaning, Day) and one.meaning.at for one in group)
    ):
        return False
    new, said = piece.meaning, [one.meaning for one in group]
    if isinstance(new, Part | Clock):
        return not any(isinstance(one, type(new)) for one in said) and not glue["open"] and not _is_break(glue, said)
    named = [one for one in said if isinstance(one, Day | str)]
    if not named:
        return not glue["open"] and not glue["comma"]
    if named[-1] == AGAIN and not gap:
        return True
    return bool(glue["open"]) or (
        isinstance(new, Day) and all(isinstance(one, Day) and _agree(one, new) for one in named)
    )


def _is_break(glue: re.Match[str], said: Sequence[Meaning]) -> bool:
    """Whether a comma parts a time from what is said before it: it does behind anything but a day."""
    return bool(glue["comma"]) and not any(isinstance(one, Day) for one in said)


def _agree(first: Day, second: Day) -> bool:
    if WEEKDAY in (first.rank, second.rank):
        return first.day.weekday() == second.day.weekday()
    return first.day == second.day


def _context(
    seen: FoldedViews, before: tuple[TimeMention, ...], group: tuple[TimeMention, ...]
) -> tuple[TimeMention, ...]:
    """What a clock time takes over from the one before it: 明天下午3点到5点."""
    if not before or not isinstance(group[0].meaning, Clock):
        return ()
    gap = seen.text[before[-1].end : group[0].start]
    return before if len(gap) <= _LONGEST_GAP and _to().fullmatch(gap) else ()


def _resolved(
    seen: FoldedViews, group: tuple[TimeMention, ...], context: tuple[TimeMention, ...], said_at: datetime, floor: int
) -> Deadline | RefusedTime | None:
    start, end, limit, denied = _frame(seen, group, floor)
    reasons = [piece.meaning for piece in group if isinstance(piece.meaning, str)]
    if reasons:
        return RefusedTime(seen.text[start:end], start, end, reasons[0])
    days = [piece.meaning for piece in (*group, *context) if isinstance(piece.meaning, Day)]
    part = next((piece.meaning for piece in (*group, *context) if isinstance(piece.meaning, Part)), None)
    clock = next((piece.meaning for piece in group if isinstance(piece.meaning, Clock)), None)
    if clock and clock.weak and not days and not part:
        return None
    day = _chosen(days) if days else None
    at, sure, rolled = _moment(day, part, clock, said_at)
    chosen = rolled or (day.day if day else None)
    if chosen is None:
        return None
    precision = _precision(day, part, clock)
    sure *= (_DENIED if denied else 1.0) * (day.confidence if day else _NO_DAY)
    return Deadline(seen.text[start:end], start, end, chosen, at, precision, round(min(sure, 0.99), 3), limit)


def _chosen(days: list[Day]) -> Day:
    """The most exact name of the day; surer where the others agree with it, less sure where they do not."""
    best = max(days, key=lambda day: day.rank)
    others = [day for day in days if day is not best]
    if not others:
        return best
    factor = _CONFIRMED if all(_agree(best, other) for other in others) else _CONTRADICTED
    return Day(best.day, best.precision, min(best.confidence * factor, 0.99), best.rank, at=best.at)


def _moment(
    day: Day | None, part: Part | None, clock: Clock | None, said_at: datetime
) -> tuple[datetime | None, float, date | None]:
    """The moment, how sure it is, and its day; what has no fixed day moves on where it would be over."""
    if day is not None and day.at:
        return day.at, 1.0, day.day
    if part is None and clock is None:
        return None, 1.0, day.day if day else None
    base = day.day if day else said_at.date()
    at, sure = moment(base, part, clock, said_at)
    if at < said_at and (day is None or day.every_week):
        at, sure = moment(base + timedelta(days=7 if day else 1), part, clock, said_at)
        sure *= _ROLLED
    return at, sure, at.date()


def _precision(day: Day | None, part: Part | None, clock: Clock | None) -> Precision:
    if day is not None and day.at:
        return day.precision
    if clock is not None:
        return "minute" if clock.exact else "hour"
    if part is not None:
        return "part_of_day"
    return day.precision if day else "day"


@cache
def _limit_before() -> re.Pattern[str]:
    english = r"(?<![a-z])(?:by|before|until|till|no\slater\sthan|not\slater\sthan|due(?:\son|\sby)?)\s(?:the\s)?"
    return re.compile(
        rf"(?:{english}|(?:最晚|最迟|截止(?:到|至)?|截至|赶在|不晚于|不迟于)(?:时间)?:?\s?)\Z", re.IGNORECASE
    )


@cache
def _limit_behind() -> re.Pattern[str]:
    return re.compile(
        r"\s?(?:[之以]前|前(?![端面台后者任期置缀沿线天年所述几两])|[之以]内|内(?![容部存网测审外置])|截止|为止)"
    )


@cache
def _denial() -> re.Pattern[str]:
    return re.compile(r"(?:不是|并非|不再是?|而非|(?<![a-z])not)\s?\Z", re.IGNORECASE)


def _frame(seen: FoldedViews, group: tuple[TimeMention, ...], floor: int) -> tuple[int, int, bool, bool]:
    """(start, end, whether it is a limit, whether it is denied): the span with the words that make it a limit."""
    start, end = group[0].start, group[-1].end
    inner = seen.folded[start:end]
    if inner.count("(") > inner.count(")") and seen.folded[end : end + 1] == ")":
        end += 1
    before = _limit_before().search(seen.folded, max(floor, start - _LOOK_BACK), start)
    behind = _limit_behind().match(seen.folded, end)
    start = before.start() if before else start
    end = behind.end() if behind else end
    denied = _denial().search(seen.folded, max(floor, start - 8), start) is not None
    inside = re.search(r"(?:内|前)\Z|\A(?:by|before|until|within|till)\s", seen.folded[start:end], re.IGNORECASE)
    return start, end, inside is not None or before is not None or behind is not None, denied
