"""What the rules of one language find of dates, before it is put together."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Found:
    """Words at `[start:end]` of `ContractText.plain`. `iso` is empty where they name no date.

    `count` of `unit` is a length of time; `anchored`: it runs from the effective date, not from another event.
    `sentence` is the span of the sentence that says so."""

    start: int
    end: int
    rule: str
    iso: str = ""
    count: Fraction = Fraction(0)
    unit: str = ""
    anchored: bool = True
    sentence: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class Moments:
    """`on_signing`: the contract takes effect when it is signed. `made`: the date it gives itself. `conditions`: it
    ends with an event, not on a date."""

    signing: tuple[Found, ...] = ()
    effective: tuple[Found, ...] = ()
    on_signing: tuple[Found, ...] = ()
    made: tuple[Found, ...] = ()
    ends: tuple[Found, ...] = ()
    conditions: tuple[Found, ...] = ()
    terms: tuple[Found, ...] = ()
