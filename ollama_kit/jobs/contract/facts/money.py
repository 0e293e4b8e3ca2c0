"""What is paid: amounts with figures and capitals side by side, rates with what they are for, and lengths of time."""

from __future__ import annotations

import re
from functools import cache

from ollama_kit.jobs.contract.facts.values import Length, Money, Rate, RateKind
from ollama_kit.jobs.contract.passages import ContractText, sentences_with
from ollama_kit.jobs.contract.structure.outline import Outline
from ollama_kit.jobs.figures.percentages import Percentage

NEAR = 40
"""Characters before an amount or a rate in which the word stands that says what it is for."""


def read_amounts(text: ContractText, outline: Outline) -> tuple[Money, ...]:
    """Every amount of money, in order."""
    found = []
    for amount in text.numbers.amounts.found:
        evidence = text.evidence(amount.start, amount.end)
        clause = outline.at(evidence.start)
        about = _word_before(text.lower, amount.start, _paid_for())
        number = clause.number if clause else ""
        found.append(Money(about, amount.currency, amount.figures, amount.words, amount.conflict, number, evidence))
    return tuple(found)


def read_rates(text: ContractText, outline: Outline) -> tuple[Rate, ...]:
    """Every percentage, in order, with what it is a rate of as far as its own clause says it."""
    found = []
    for one in text.numbers.percentages.found:
        evidence = text.evidence(one.start, one.end)
        clause = outline.at(evidence.start)
        number = clause.number if clause else ""
        kind = _kind(text, one)
        found.append(Rate(kind, one.low, one.high, one.per, one.conflict, number, evidence))
    return tuple(found)


def read_warranties(text: ContractText, outline: Outline) -> tuple[Length, ...]:
    """Every length of time that a warranty is said to run."""
    found = []
    for start, end in sentences_with(text.folded, _warrants()):
        for length in text.numbers.terms.within(start, end):
            if length.unit in ("day", "month", "year", "quarter"):
                label = _warranty().search(text.folded, start, length.start) if length.unit != "day" else None
                if label is None and not _warrants_for().search(text.folded, start, length.start):
                    continue
                evidence = text.evidence(length.start, length.end)
                clause = outline.at(evidence.start)
                number = clause.number if clause else ""
                found.append(Length("warranty", length.count, length.unit, length.conflict, number, evidence))
    return tuple(found)


def _word_before(lower: str, at: int, words: re.Pattern[str]) -> str:
    """The last of the words before `at` within its clause; empty where there is none."""
    near = lower[max(0, at - NEAR) : at]
    near = re.split(r"[。;；\n]|\.\s", near)[-1]
    found = ""
    for match in words.finditer(near):
        found = match[0]
    return found


def _kind(text: ContractText, one: Percentage) -> RateKind:
    near = re.split(r"[。;\n]", text.lower[max(0, one.start - NEAR) : one.start])[-1]
    behind = re.split(r"[。;\n]", text.lower[one.end : one.end + 24])[0]
    for kind, pattern in _kinds():
        if pattern.search(near) or pattern.search(behind):
            return kind
    return "other"


@cache
def _kinds() -> tuple[tuple[RateKind, re.Pattern[str]], ...]:
    return (
        ("tax", re.compile(r"税率|增值税|\bvat\b|sales tax")),
        (
            "penalty",
            re.compile(r"违约金|滞纳金|逾期|迟延|penalt|liquidated|late (?:fee|charge|payment)|overdue|past due"),
        ),
        ("interest", re.compile(r"利率|利息|年化|\binterest\b")),
        ("payment", re.compile(r"支付|预付|付款|首付|尾款|质保金|余款|定金|\bpay(?:able|ment|s)?\b|deposit|instal")),
    )


@cache
def _paid_for() -> re.Pattern[str]:
    return re.compile(
        "(?:合同|协议)?总(?:价款?|额|金额|费用)|合计|价税合计|月租金|年租金|租金|押金|保证金|定金|订金|预付款|首付款"
        "|进度款|尾款|质保金|"
        "违约金|滞纳金|服务费(?:总额)?|技术服务费(?:总额)?|税额|单价|借款(?:本金)?|本金|赔偿(?:额|金)?|罚款|运费"
        "|奖金|工资|"
        "total (?:price|amount|fee|contract price)|purchase price|monthly rent|rent|deposit|down payment|prepayment|"
        "liquidated damages|late fee|penalty|annual fee|license fee|service fees?|fees?|principal|salary|price|cap"
    )


@cache
def _warrants() -> re.Pattern[str]:
    """What makes a sentence one about a warranty; the length may stand behind a line end."""
    return re.compile(rf"{_warranty().pattern}|(?i:\bwarrant(?:y|ies|s)\b)")


@cache
def _warranty() -> re.Pattern[str]:
    """Before a length of time, anywhere in its sentence."""
    return re.compile(
        r"质保期|保修期|质量保证期|质量保修期|(?i:\bwarranty period|\bwarrant(?:y|ies|s)\b[^.]{0,80}\bperiod of)"
    )


@cache
def _warrants_for() -> re.Pattern[str]:
    """Right before one."""
    return re.compile(
        r"(?i:\bwarrant(?:y|ies|s)\b[^.]{0,160}\b(?:for|within|of)(?:\s(?:a|the)\s(?:period|term)\sof)?\s)\Z"
    )
