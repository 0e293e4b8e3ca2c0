"""What is paid: amounts with figures and capitals side by side, rates with what they are for, and lengths of time."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache

from ollama_kit.jobs.contract.facts import payment_words
from ollama_kit.jobs.contract.facts.fact_values import Length, Money, Payment, Rate, RateKind
from ollama_kit.jobs.contract.passages import ContractText, sentences_with
from ollama_kit.jobs.contract.structure.outline import Outline
from ollama_kit.text.dates.written import Term
from ollama_kit.text.figures.amounts import Amount
from ollama_kit.text.figures.percentages import Percentage

NEAR = 40
"""Characters before an amount or a rate in which the word stands that says what it is for."""

_WARRANTY = "(?:质保|保修|质量保证|质量保修)"


def read_amounts(text: ContractText, outline: Outline) -> tuple[Money, ...]:
    """Every amount of money, in order."""
    found = []
    last = 0
    for amount in text.numbers.amounts.found:
        evidence = text.evidence(amount.start, amount.end)
        clause = outline.at(evidence.start)
        # A word before another amount names that one, and what a part is taken of does not name the part.
        words = _stage() if _is_part(text, amount, last) else _paid_for()
        about = _word_before(text.lower, max(last, amount.start - NEAR), amount.start, words)
        last = amount.end
        number = clause.number if clause else ""
        found.append(Money(about, amount.currency, amount.figures, amount.words, amount.conflict, number, evidence))
    return tuple(found)


def _is_part(text: ContractText, amount: Amount, last: int) -> bool:
    """Whether the amount is what a share before it comes to: 总价的30%，即人民币708,000元. `last` is where the
    amount before ends."""
    shares = text.numbers.percentages.within(max(last, amount.start - NEAR), amount.start)
    return bool(shares) and payment_words.same().fullmatch(text.lower, shares[-1].end, amount.start) is not None


def read_rates(text: ContractText, outline: Outline, payments: Sequence[Payment] = ()) -> tuple[Rate, ...]:
    """Every percentage, in order, with what it is a rate of as far as its own clause says it, or as it is the share
    of one of `payments`, which are in order."""
    found = []
    starts = [one.evidence.start for one in payments]
    for one in text.numbers.percentages.found:
        evidence = text.evidence(one.start, one.end)
        clause = outline.at(evidence.start)
        number = clause.number if clause else ""
        kind = _kind(text, one)
        at = bisect_right(starts, evidence.start) - 1
        if kind == "other" and at >= 0 and evidence.end <= payments[at].evidence.end and payments[at].share == one.low:
            kind = "payment"
        found.append(Rate(kind, one.low, one.high, one.per, one.conflict, number, evidence))
    return tuple(found)


def read_warranties(text: ContractText, outline: Outline) -> tuple[Length, ...]:
    """Every length of time that a warranty is said to run."""
    found = []
    for start, end in sentences_with(text.folded, _warrants()):
        for length in text.numbers.terms.within(start, end):
            if _is_warranted(text.folded, length, start, end):
                evidence = text.evidence(length.start, length.end)
                clause = outline.at(evidence.start)
                number = clause.number if clause else ""
                found.append(Length("warranty", length.count, length.unit, length.conflict, number, evidence))
    return tuple(found)


def _is_warranted(folded: str, length: Term, start: int, end: int) -> bool:
    """Whether a warranty runs so long. Days are a time for an answer or a payment too, so that their own words count
    alone."""
    place = folded, start, length.start
    if length.unit in ("month", "year", "quarter"):
        before = _warranty().search(*place) or _warrants_within().search(*place)
    elif length.unit in ("day", "business_day"):
        before = _warranty_days().search(folded, max(start, length.start - NEAR), length.start)
    else:
        return False
    return bool(before or _warrants_for().search(*place) or _warranty_behind().match(folded, length.end, end))


def _word_before(lower: str, start: int, at: int, words: re.Pattern[str]) -> str:
    """The last of the words between `start` and `at` within its clause; empty where there is none."""
    near = lower[start:at]
    near = re.split(r"[。;；\n]|\.\s", near)[-1]
    found = ""
    for match in words.finditer(near):
        found = match[0]
    return found


def _kind(text: ContractText, one: Percentage) -> RateKind:
    near = _stops().split(text.lower[max(0, one.start - NEAR) : one.start])[-1]
    behind = _stops().split(text.lower[one.end : one.end + 2 * NEAR], maxsplit=1)[0]
    if ("as " in behind or "作为" in behind) and _as_penalty().match(behind):
        return "penalty"
    for kind, pattern in _kinds():
        if pattern.search(near) or pattern.search(behind[:24]):
            return "other" if kind == "penalty" and one.per is None and _limit().search(near) else kind
    return "other"


@cache
def _stops() -> re.Pattern[str]:
    """Where a sentence or its part ends."""
    return re.compile(r"[。;\n]|\.(?:\s|\Z)")


@cache
def _as_penalty() -> re.Pattern[str]:
    return re.compile(r"[^,.;。]{0,60}\bas (?:liquidated damages|a penalty)|[^,。;]{0,24}作为违约金")


@cache
def _limit() -> re.Pattern[str]:
    """Before a share that is no rate: the most that a penalty comes to, or what is more than it."""
    return re.compile(r"(?:不超过|不得超过|上限|最高|超过|\bexceed\w*|in excess of|more than|up to)[^,。;]{0,24}\Z")


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
        # A share that an event sets off: 50% on acceptance.
        (
            "payment",
            re.compile(
                r"\A\s?(?:\([^()]{1,12}\)\s)?(?:up)?on\s(?:the\s)?"
                r"(?:effective date|sign|execut|accept|deliver|complet|receipt)"
            ),
        ),
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
def _stage() -> re.Pattern[str]:
    """What a part of the price is called."""
    return re.compile(
        "押金|保证金|定金|订金|预付款|首付款|进度款|到货款|验收款|尾款|质保金|违约金|滞纳金|"
        "deposit|down payment|prepayment|liquidated damages|retention"
    )


@cache
def _warrants() -> re.Pattern[str]:
    """What makes a sentence one about a warranty; the length may stand behind a line end."""
    return re.compile(rf"{_warranty().pattern}|(?i:\bwarrant(?:y|ies|s)\b)")


@cache
def _warranty() -> re.Pattern[str]:
    """Before a length of time, anywhere in its sentence. What happens in the time of a warranty or behind it says
    nothing of how long it is."""
    return re.compile(
        rf"{_WARRANTY}期限?(?!限?(?:之?内|间|届?满|期满|结束|到期|终止|过后|以?外|以?后))"
        r"|(?i:\bwarranty period|\bwarrant(?:y|ies|s)\b[^.]{0,80}\bperiod of)"
    )


@cache
def _warrants_for() -> re.Pattern[str]:
    """Right before one."""
    return re.compile(r"(?i:\bwarrant(?:y|ies|s)\b[^.]{0,400}\b(?:for|of)(?:\s(?:a|the)\s(?:period|term)\sof)?\s)\Z")


@cache
def _warrants_within() -> re.Pattern[str]:
    return re.compile(r"(?i:\bwarrant(?:y|ies|s)\b[^.]{0,160}\bwithin(?:\s(?:a|the)\s(?:period|term)\sof)?\s)\Z")


@cache
def _warranty_days() -> re.Pattern[str]:
    """Right before days: 质保期为, 质保期自验收合格之日起."""
    since = r"(?:自[^,。;内]{1,24}起\s?(?:计算?)?,?\s?(?:为期|共)?)?"
    return re.compile(rf"{_WARRANTY}期限?\s?(?:为|是|:|共计?|不少于)?\s?{since}\s?\Z")


@cache
def _warranty_behind() -> re.Pattern[str]:
    """Right behind one: a 90-day limited warranty."""
    return re.compile(rf"(?i:[\s-](?:limited\s|express\s|product\s)?warranty\b)|\s?的?{_WARRANTY}期")
