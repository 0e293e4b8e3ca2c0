"""What cannot both be right: figures and capitals, two prices of one thing, an end before the start."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import chain

from ollama_kit.jobs.contract.contract_facts import ContractFacts, Risk
from ollama_kit.jobs.contract.facts.contract_dates import is_iso
from ollama_kit.jobs.contract.facts.fact_values import Fact, Length, Money, Payment
from ollama_kit.jobs.contract.passages import ContractText, Evidence
from ollama_kit.jobs.contract.structure.outline import Outline

_ONE_OF_ITS_KIND = frozenset(
    "总价 总价款 总额 总金额 合同总价 合同总价款 合同总额 合同总金额 价税合计 月租金 年租金 押金 违约金 "
    "liquidated|damages purchase|price "
    "monthly|rent deposit total|price total|amount".replace("|", "\u00a0").split(" ")
)
"""What a contract has one of, so that two amounts contradict each other; there may be many fees."""


def find_contradictions(_: ContractText, facts: ContractFacts) -> Iterator[Risk]:
    """Every contradiction, with the words of both sides."""
    yield from chain(
        _figures_and_words(facts),
        _two_prices(facts.amounts),
        _two_warranties(facts.warranties),
        _two_answers(facts),
        _order_of_dates(facts),
        _parties(facts),
        _references(facts),
        _shares(facts),
    )


def _figures_and_words(facts: ContractFacts) -> Iterator[Risk]:
    for amount in facts.amounts:
        if amount.conflict:
            said = f"the figures say {amount.figures}, the words {amount.words} {amount.currency}"
            said_zh = f"小写为 {amount.figures}，大写为 {amount.words} {amount.currency}"
            yield Risk("figures_and_words", "contradictory", said, said_zh, (amount.evidence,))
    for rate in facts.rates:
        if rate.conflict:
            said, said_zh = "a rate differs in figures and words", "比例的小写与大写不一致"
            yield Risk("figures_and_words", "contradictory", said, said_zh, (rate.evidence,))


def _two_prices(amounts: Iterable[Money]) -> Iterator[Risk]:
    by_name: dict[str, list[Money]] = {}
    for amount in amounts:
        if amount.about.replace(" ", "\u00a0") in _ONE_OF_ITS_KIND:
            by_name.setdefault(_SAME.get(amount.about, amount.about), []).append(amount)
    for name, found in by_name.items():
        different = {(one.currency, one.value): one for one in reversed(found)}
        if len(different) > 1:
            said = ", ".join(f"{currency} {value:,}" for currency, value in reversed(different))
            proof = tuple(one.evidence for one in reversed(different.values()))
            yield Risk("two_amounts", "contradictory", f"{name} is given as {said}", f"{name}有不同金额：{said}", proof)


_SAME = {"liquidated damages": "违约金"}
"""What the two languages of one contract call the same."""


def _two_warranties(warranties: Iterable[Length]) -> Iterator[Risk]:
    in_months = {"month": 1, "quarter": 3, "year": 12}
    months = {one.count * in_months[one.unit]: one for one in warranties if one.unit in in_months}
    if len(months) > 1:
        said = " and ".join(f"{months_long} months" for months_long in months)
        said_zh = "和".join(f"{months_long} 个月" for months_long in months)
        proof = tuple(one.evidence for one in months.values())
        yield Risk("two_warranties", "contradictory", f"the warranty runs {said}", f"质保期分别为{said_zh}", proof)


_CALLED = {
    "title": "标题",
    "type": "合同类型",
    "number": "合同编号",
    "signing_date": "签订日期",
    "effective_date": "生效日期",
    "end_date": "终止日期",
    "term": "期限",
    "governing_law": "适用法律",
    "dispute_forum": "争议解决机构",
}


def _two_answers(facts: ContractFacts) -> Iterator[Risk]:
    for name, found in facts.facts.items():
        if found.state == "conflict":
            called = name.replace("_", " ")
            said = "; ".join(value.value for value in found.values)
            message, message_zh = f"more than one {called}: {said}", f"{_CALLED[name]}不止一个：{said}"
            yield Risk(f"two_{name}s", "contradictory", message, message_zh, _proof(found))


def _order_of_dates(facts: ContractFacts) -> Iterator[Risk]:
    start, end = facts.effective_date.first, facts.end_date.first
    if is_iso(start) and is_iso(end) and end < start[: len(end)]:
        proof = (*_proof(facts.effective_date)[:1], *_proof(facts.end_date)[:1])
        said, said_zh = f"it ends on {end}, before it begins on {start}", f"终止日期 {end} 早于生效日期 {start}"
        yield Risk("end_before_start", "contradictory", said, said_zh, proof)


def _parties(facts: ContractFacts) -> Iterator[Risk]:
    for party in facts.parties:
        if len(party.names) > 1:
            said = " / ".join(name.value for name in party.names)
            proof = tuple(name.evidence for name in party.names)
            message, message_zh = f"one party has different names: {said}", f"同一当事人名称不一致：{said}"
            yield Risk("two_names", "contradictory", message, message_zh, proof)
        if party.registration_valid is False and party.registration:
            said = f"the check character of the credit code of {party.name} is wrong"
            said_zh = f"{party.name}的统一社会信用代码校验位不正确"
            yield Risk("wrong_code", "contradictory", said, said_zh, (party.registration.evidence,))


def _references(facts: ContractFacts) -> Iterator[Risk]:
    if not facts.structure.outline.clauses:
        return
    seen = set()
    for reference in facts.structure.references:
        quote = "".join(reference.evidence.quote.split()).lower()
        if not reference.resolved and quote not in seen:
            seen.add(quote)
            said = f"{reference.evidence.quote} is referred to, and there is none"
            said_zh = f"引用了{reference.evidence.quote}，但合同中没有"
            yield Risk("dangling_reference", "contradictory", said, said_zh, (reference.evidence,))


def _shares(facts: ContractFacts) -> Iterator[Risk]:
    """Stages of payment that are parts of one whole, and do not come to it.

    They are where every stage of a clause is a share, and there are three or the last one is the rest of the price."""
    clauses: dict[int, list[Payment]] = {}
    for payment in facts.payments:
        clauses.setdefault(_topmost(facts.structure.outline, payment.evidence.start), []).append(payment)
    for stages in clauses.values():
        shares = [stage.share for stage in stages if stage.share is not None]
        whole = len(shares) >= 3 or (len(shares) == 2 and _rest().search(stages[-1].stage + stages[-1].evidence.quote))
        if len(shares) < len(stages) or not whole or sum(shares) == 1 or len(set(shares)) == 1:
            continue
        percent = f"{float(100 * sum(shares)):.6g}"
        parts = " + ".join(f"{float(100 * share):.6g} %" for share in shares)
        message = f"the stages of payment come to {percent} %: {parts}"
        message_zh = f"各期付款比例合计为 {percent}%，不是 100%：{parts}"
        yield Risk("shares", "contradictory", message, message_zh, tuple(stage.evidence for stage in stages))


def _topmost(outline: Outline, offset: int) -> int:
    """Where the outermost clause begins that holds a character and is no chapter; -1 outside of all."""
    clause = outline.at(offset)
    if clause is None:
        return -1
    while clause.parent >= 0 and outline.clauses[clause.parent].kind != "chapter":
        clause = outline.clauses[clause.parent]
    return clause.start


@cache
def _rest() -> re.Pattern[str]:
    return re.compile(r"余款|尾款|剩余|其余|(?i:\bbalance\b|\bremain)")


def _proof(found: Fact) -> tuple[Evidence, ...]:
    return tuple(value.evidence for value in found.values)
