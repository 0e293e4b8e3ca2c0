"""What is found in a contract: values, each with the words that prove it."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from ollama_kit.jobs.contract.passages import Evidence

State = Literal["found", "conflict", "absent"]
SealState = Literal["signed", "named", "blank"]
"""signed: a mark of signing stands there (/s/, 已盖章) · named: the name is printed, and whether it was signed text can
not show · blank: nothing stands where the party signs."""
RateKind = Literal["penalty", "tax", "payment", "interest", "other"]


@dataclass(frozen=True, slots=True)
class Value:
    """One answer. Dates are ISO (a month or a year alone where the day is blank: 2013-04), else the contract's words.

    `rule` says how it was found; `basis` is what else it was computed from, empty where it stands there as it is."""

    value: str
    evidence: Evidence
    rule: str
    basis: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Fact:
    """The answers to one question. `conflict`: they cannot all be right. `searched`: what was looked for, which is
    all there is to say where nothing was found."""

    values: tuple[Value, ...] = ()
    searched: tuple[str, ...] = ()
    conflict: bool = False

    @property
    def state(self) -> State:
        if not self.values:
            return "absent"
        return "conflict" if self.conflict else "found"

    @property
    def first(self) -> str:
        """The first answer; empty where there is none."""
        return self.values[0].value if self.values else ""


def fact(values: list[Value], searched: tuple[str, ...], *, several: bool = False) -> Fact:
    """A fact of `values`, each answer once. Two answers conflict but where `several` may hold at once."""
    kept: dict[str, Value] = {}
    for value in values:
        kept.setdefault(" ".join(value.value.split()).casefold(), value)
    return Fact(tuple(kept.values()), searched, conflict=len(kept) > 1 and not several)


@dataclass(frozen=True, slots=True)
class Party:
    """A party with the roles that the contract gives it, the first one first: 甲方, 买方.

    `names` has more than one value where the contract names it in different ways. `registration_valid` is None
    without a unified social credit code, else whether its check character is right."""

    roles: tuple[str, ...]
    names: tuple[Value, ...]
    representative: Value | None = None
    registration: Value | None = None
    registration_valid: bool | None = None
    address: Value | None = None
    seal: SealState | None = None
    seal_evidence: Evidence | None = None

    @property
    def name(self) -> str:
        return self.names[0].value if self.names else ""


@dataclass(frozen=True, slots=True)
class Money:
    """An amount. `about` is the word before it that says what is paid (合同总价, deposit); `clause` the number of the
    clause it stands in. `conflict`: figures and capitals differ."""

    about: str
    currency: str
    figures: Decimal | None
    words: Decimal | None
    conflict: bool
    clause: str
    evidence: Evidence

    @property
    def value(self) -> Decimal:
        """In whole units of the currency; where figures and capitals differ, the capitals."""
        return self.words if self.words is not None else self.figures or Decimal(0)


@dataclass(frozen=True, slots=True)
class Rate:
    """A share or rate as a fraction of one; `low` and `high` differ for a range. `per` is the time it runs over."""

    kind: RateKind
    low: Fraction
    high: Fraction
    per: str | None
    conflict: bool
    clause: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Length:
    """A length of time that the contract gives something: its term, a warranty. `conflict`: words and figures
    differ."""

    about: str
    count: Fraction
    unit: str
    conflict: bool
    clause: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Payment:
    """A stage of payment: what is due, after what, and when. `share` is the part of the price as a fraction of one,
    `amount` in whole units of `currency` (empty without one); `trigger` and `due` are the contract's words, empty where
    it has none."""

    stage: str
    share: Fraction | None
    currency: str
    amount: Decimal | None
    trigger: str
    due: str
    clause: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Detail:
    """One particular of a provision: `name` is notice, period, place, cap, rate, owner, kind, ..."""

    name: str
    value: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class Provision:
    """A sentence that provides something on a topic (the names in `topics.PROVISIONS`), and the particulars in it."""

    topic: str
    clause: str
    title: str
    details: tuple[Detail, ...]
    evidence: Evidence
