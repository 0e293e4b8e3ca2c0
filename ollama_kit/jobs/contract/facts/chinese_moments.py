"""The dates of a Chinese contract: 签订日期, 自…起生效, 租赁期限自…至…止, 有效期二年."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.jobs.contract.facts.found_moments import Found, Moments
from ollama_kit.jobs.contract.facts.written_days import days_in
from ollama_kit.jobs.contract.passages import ContractText, sentences_with
from ollama_kit.jobs.contract.structure.back_matter import Parts


def find_chinese(text: ContractText, parts: Parts) -> Moments:
    """What Chinese wording says of dates."""
    effective, on_signing = _effective(text)
    ends, conditions, terms = _running(text)
    return Moments(tuple(_signing(text, parts)), effective, on_signing, (), ends, conditions, terms)


def _signing(text: ContractText, parts: Parts) -> Iterator[Found]:
    for match in _signing_label().finditer(text.folded):
        yield from _dated(text, match.end(), min(len(text.plain), match.end() + 24), "date of signing")
    for match in _signed_on().finditer(text.folded):
        yield from _dated(text, match.start("day"), match.end("day"), "signed on")
    if parts.signatures:
        for match in _date_label().finditer(text.folded, *parts.signatures):
            yield from _dated(text, match.end(), min(len(text.plain), match.end() + 24), "date beside a signature")


def _dated(text: ContractText, start: int, end: int, rule: str) -> Iterator[Found]:
    line_end = text.plain.find("\n", start, end)
    for day in days_in(text.plain, start, line_end if line_end >= 0 else end)[:1]:
        yield Found(day.start, day.end, rule, day.iso)


def _effective(text: ContractText) -> tuple[tuple[Found, ...], tuple[Found, ...]]:
    days: list[Found] = []
    events: list[Found] = []
    signing: list[Found] = []
    for match in _takes_effect().finditer(text.folded):
        if _not_all().search(text.folded, max(0, match.start() - 12), match.end()):
            continue
        dated = days_in(text.plain, *match.span())
        found = Found(*match.span(), "takes effect")
        if dated:
            days.append(Found(*match.span(), "takes effect on", dated[0].iso))
        elif _when_signed().search(match[0]):
            signing.append(found)
        else:
            events.append(found)
    return tuple(days or events), tuple(signing)


def _running(text: ContractText) -> tuple[tuple[Found, ...], tuple[Found, ...], tuple[Found, ...]]:
    ends: list[Found] = []
    conditions: list[Found] = []
    terms: list[Found] = []
    for start, end in sentences_with(text.folded, _duration()):
        if _other_duration().search(text.folded, start, end):
            continue
        head = _heading().search(text.folded, max(0, start - 30), end)
        if head is None:
            continue
        for length in text.numbers.terms.within(start, end):
            if length.unit in ("year", "month", "quarter") and not terms:
                span = length.start, length.end
                terms.append(Found(*span, "term", "", length.count, length.unit, sentence=(start, end)))
        if _runs().search(text.plain, start, end):
            for period in text.numbers.periods.within(start, end):
                ends.append(Found(period.start, period.end, "end of the period", period.until.isoformat()))
        if not ends:
            ends += _last_day(text, start, end)
        conditions += [
            Found(start + m.start(), start + m.end(), "ends with") for m in _event().finditer(text.folded[start:end])
        ]
    return tuple(ends), tuple(conditions), tuple(terms)


def _last_day(text: ContractText, start: int, end: int) -> Iterator[Found]:
    for match in _until().finditer(text.folded, start, end):
        for day in text.numbers.dates.within(*match.span())[-1:]:
            yield Found(*match.span(), "ends on", day.day.isoformat())


_ONE_OR_TWO = r"\s?[\d一二三四五六七八九十]{1,3}\s?"
_DAY = rf"[\d〇零一二三四五六七八九十]{{4}}\s?年{_ONE_OR_TWO}月{_ONE_OR_TWO}[日号]"


@cache
def _signing_label() -> re.Pattern[str]:
    return re.compile(r"(?:签订|签署|签约|订立)(?:日期|时间|日)\s?:\s?")


@cache
def _signed_on() -> re.Pattern[str]:
    return re.compile(
        rf"于\s?(?P<day>{_DAY}|\d{{4}}-\d{{1,2}}-\d{{1,2}})\s?(?:在[^,。;\n]{{1,20}})?(?:共同|正式)?(?:签署|签订|订立)"
    )


@cache
def _date_label() -> re.Pattern[str]:
    return re.compile(r"(?:日\s?期|(?i:date)|(?i:dated))\s?:\s?")


@cache
def _takes_effect() -> re.Pattern[str]:
    return re.compile(
        r"(?:自|从|于|经)[^,。;\n]{1,50}?(?:正式)?(?:生效|发生法律效力)"
        r"|自[^,。;\n]{0,12}(?:签署|签订|签字|盖章)[^,。;\n]{0,6}之日起(?:算|计算|开始)"
    )


@cache
def _not_all() -> re.Pattern[str]:
    """Effect of something else than the contract: 补充协议, 通知, 变更, 判决."""
    return re.compile(r"补充协议|变更|修改|通知|解除|判决|裁决|法律法规|终止")


@cache
def _when_signed() -> re.Pattern[str]:
    return re.compile(r"签|盖章|用印")


@cache
def _duration() -> re.Pattern[str]:
    return re.compile(r"期限|有效期|租期|租赁期|服务期|合作期|自\s?[\d〇零一二三四五六七八九十]{4}\s?年|起至|终止")


@cache
def _heading() -> re.Pattern[str]:
    return re.compile(
        r"(?:合同|协议|租赁|服务|合作|授权|许可|承包|聘用|劳动合同|代理|委托|经营|借款|使用)(?:的?有效)?期限|有效期|租期|租赁期|服务期|合作期"
        r"|本(?:合同|协议)"
    )


@cache
def _other_duration() -> re.Pattern[str]:
    """What has a duration of its own: warranties, confidentiality, payment, notices, a rent-free time."""
    return re.compile(
        r"质保期(?!届满且)|保修|保密(?:义务|期限)|付款期限|免租期|宽限|提前\s?[\d一二三四五六七八九十]{1,3}\s?[个日天]|试用期"
    )


@cache
def _runs() -> re.Pattern[str]:
    return re.compile(r"[起自从至到]|—|-|~")


@cache
def _until() -> re.Pattern[str]:
    return re.compile(rf"(?:至|到)\s?{_DAY}\s?(?:\(含当日\))?(?:止|终止|届满|期满|失效)?")


@cache
def _event() -> re.Pattern[str]:
    return re.compile(r"至[^,。;\n至]{2,40}?(?:终止|失效|止)(?=[,。;\n]|\Z)")
