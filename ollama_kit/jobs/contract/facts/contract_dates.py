"""When a contract is signed, takes effect and ends, and how long it runs: the rules of both languages together."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from ollama_kit.jobs.contract.facts.chinese_moments import find_chinese
from ollama_kit.jobs.contract.facts.english_moments import find_english
from ollama_kit.jobs.contract.facts.fact_values import Fact, Value, fact
from ollama_kit.jobs.contract.facts.found_moments import Found, Moments
from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.structure.back_matter import Parts
from ollama_kit.text.dates.written import parse_dates

SIGNING = ("签订日期/签署日期/日期：", "于…签署", "made/entered into/dated as of …", "Date: (signatures)")
EFFECTIVE = ("自…起生效", "自签署之日起算", '"Effective Date"', "effective as of/commencing …", "date of the agreement")
END = ("自…至…止", "至…终止/届满", "until/through/expire on …", "effective date + term")
TERM = ("期限/有效期 … 年/月", "a term/period of … years/months", "until terminated")


@dataclass(frozen=True, slots=True)
class Dates:
    """The four facts of time."""

    signing: Fact
    effective: Fact
    end: Fact
    term: Fact


def read_dates(text: ContractText, parts: Parts) -> Dates:
    """The dates. What is computed (the date of signing as the effective one, effective date plus term as the end)
    says so in its rule, and has what it was computed from as its basis."""
    found = [find_chinese(text, parts), find_english(text, parts)]
    signing = fact([_value(text, one) for moments in found for one in moments.signing], SIGNING, several=True)
    effective = _effective(text, found, signing)
    term = fact([_length(text, one) for moments in found for one in moments.terms], TERM)
    ends = [_value(text, one) for moments in found for one in moments.ends]
    lengths = [one for moments in found for one in moments.terms if one.count]
    if not ends and lengths and lengths[0].anchored and effective.values:
        computed = _computed_end(text, effective.values[0], lengths[0])
        ends = [computed] if computed else []
    if not ends:
        ends = [_value(text, one) for moments in found for one in moments.conditions]
    return Dates(signing, effective, fact(ends, END), term)


def _effective(text: ContractText, found: list[Moments], signing: Fact) -> Fact:
    values = [_value(text, one) for moments in found for one in moments.effective]
    days = [one for one in values if is_iso(one.value)]
    on_signing = [one for moments in found for one in moments.on_signing]
    if not days and on_signing:
        last = _last(signing)
        evidence = text.evidence(on_signing[0].start, on_signing[0].end)
        if last is not None:
            days = [Value(last.value, evidence, "effective when signed: the last date of signing", (last.evidence,))]
        else:
            days = [Value(evidence.quote, evidence, "effective when signed, and no date of signing")]
    if not days and values:
        return fact(values, EFFECTIVE)
    made = [one for moments in found for one in moments.made]
    if not days and made:
        first = _value(text, made[0])
        days = [Value(first.value, first.evidence, "no other effective date: the date of the agreement")]
    return fact(days, EFFECTIVE)


def _last(signing: Fact) -> Value | None:
    return max(signing.values, key=lambda value: value.value, default=None)


def _value(text: ContractText, found: Found) -> Value:
    evidence = text.evidence(found.start, found.end)
    exchanged = found.iso and any(
        day.ambiguous for day in parse_dates(evidence.quote) if day.day.isoformat() == found.iso
    )
    rule = f"{found.rule}; day and month may be exchanged" if exchanged else found.rule
    return Value(found.iso or evidence.quote, evidence, rule)


def _length(text: ContractText, found: Found) -> Value:
    """A length of time, by which the two languages of one contract say the same: 2 year."""
    return Value(f"{found.count} {found.unit}", text.evidence(found.start, found.end), found.rule)


def _computed_end(text: ContractText, start: Value, term: Found) -> Value | None:
    day = later(start.value, term.count, term.unit)
    if day is None:
        return None
    return Value(day, text.evidence(*term.sentence), "effective date plus term", (start.evidence,))


def is_iso(value: str) -> bool:
    """Whether a value is a date (2026-03-01, 2026-03, 2026) and not the contract's words."""
    return re.fullmatch(r"[0-9]{4}(?:-[0-9]{2}){0,2}", value) is not None


def later(iso: str, count: Fraction, unit: str) -> str | None:
    """The same day so many months or years later, or the last one of a shorter month; None for other units,
    and where the first is no date.

    >>> later("2024-02-29", Fraction(1), "year"), later("2015", Fraction(20), "year")
    ('2025-02-28', '2035')
    """
    if not is_iso(iso):
        return None
    months = count * {"month": 1, "quarter": 3, "year": 12}.get(unit, 0)
    if not months or months.denominator != 1:
        return None
    pieces = [int(piece) for piece in iso.split("-")]
    whole, month = divmod((pieces[1] if len(pieces) > 1 else 1) - 1 + int(months), 12)
    year = pieces[0] + whole
    if not 1 <= year <= 9999 or (len(pieces) == 1 and month):
        return None
    day = min(pieces[2], monthrange(year, month + 1)[1]) if len(pieces) > 2 else 1
    return date(year, month + 1, day).isoformat()[: len(iso)]
