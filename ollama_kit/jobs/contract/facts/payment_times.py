"""After what, and by when, something is paid: 合同签订后 · 7个工作日内; after signing · within 10 business days."""

from __future__ import annotations

import re
from functools import cache

from ollama_kit.jobs.contract.passages import ContractText

Span = tuple[int, int]


def due_in(text: ContractText, start: int, end: int) -> Span | None:
    """The words between two offsets of `plain` that say by when: a length of time, a date, a day of each month."""
    regularly = list(_regularly().finditer(text.lower, start, end))
    regular = max(regularly, key=lambda one: bool(one["day"] or one["nth"] or one["by"]), default=None)
    if regular and regular["day"]:
        return regular.span()
    for term in text.numbers.terms.within(start, end):
        behind = _term_behind().match(text.lower, term.end, end)
        before = _term_before().search(text.lower, max(start, term.start - 40), term.start)
        if behind and (behind["zh"] or before or behind["en"]):
            return (before.start() if before else term.start), behind.end("zh") if behind["zh"] else term.end
        if before:
            return before.start(), term.end
    for date in text.numbers.dates.within(start, end):
        behind = _date_behind().match(text.lower, date.end, end)
        before = _date_before().search(text.lower, max(start, date.start - 24), date.start)
        return (before.start() if before else date.start), behind.end() if behind else date.end
    net = _net().search(text.lower, start, end)
    found = net or regular
    return found.span() if found else None


def trigger_in(text: ContractText, start: int, end: int, due: Span | None) -> Span | None:
    """The words that say after what: those beside `due` first, else the first that name an event."""
    if due:
        behind = _event_behind().match(text.lower, due[1], end)
        if behind:
            return behind.span("event")
        pieces = list(_chinese_event().finditer(text.lower, start, due[0]))
        if pieces:
            return pieces[-1].span(pieces[-1].lastgroup or 0)
    found = _chinese_event().search(text.lower, start, end) or _english_event().search(text.lower, start, end)
    if found and due and due[0] <= found.start() < due[1]:
        found = _english_event().search(text.lower, due[1], end)  # the time is no event: on the first day of each month
    return found.span(found.lastgroup or 0) if found else None


_NTH = r"(?:\d{1,2}(?:st|nd|rd|th)?|first|second|third|fifth|tenth|fifteenth|last)"
_EVENT = (
    r"sign|execut|deliver|accept|complet|receipt|receiv|invoice|commenc|instal|clos|effective|ship|approv|expir|launch|"
    r"issu|submi|milestone|hand|inspect|anniversary|date|end of|month|quarter|arriv|demand|presentation|publication"
)


@cache
def _regularly() -> re.Pattern[str]:
    how_often = r"bi-?weekly|weekly|monthly|quarterly|semi-?annually|annually|yearly"
    each = r"(?:of|in)\s(?:each|every|the|such)\s(?:\w+\s){0,2}(?:month|quarter|year|term)"
    by = r"(?:on\sor\sbefore|by|on|no\slater\sthan)\sthe"
    day = rf"{by}\s{_NTH}\s(?:\([^()]{{1,6}}\)\s)?(?:business\s|calendar\s)?day(?:\s{each})?"
    return re.compile(
        r"每(?:个|一)?(?:自然)?(?:月|季度?|半年|年度?|周)(?:(?:的|首月|末月|度)?[^,。;\d]{0,6}?"
        r"(?P<day>\s?(?:\d{1,2}|[一二三四五六七八九十]{1,3})\s?[日号](?:之?前|以前|内)?))?"
        r"|按(?:自然)?(?:月|季度?|半年|年度?|周)(?=(?:度|预|分)?[^,。;]{0,4}(?:支?付|结算|缴|交))"
        rf"|\b(?:(?:{how_often})(?:\sin\s(?:advance|arrears))?|(?:(?<=payable\s)|(?<=paid\s)|(?<=due\s))in\s(?:advance|arrears)|up-?front)"
        rf"(?P<by>,?\s{day})?|\b(?P<nth>{day})"
    )


@cache
def _term_behind() -> re.Pattern[str]:
    return re.compile(
        r"(?P<zh>\s?(?:之内|以内|内|之?前))|(?P<en>\s(?:after|of|from|following|prior\sto|before)\b)|\s?(?=.?)"
    )


@cache
def _term_before() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:within|no\slater\sthan|not\slater\sthan|net)\s(?:a\speriod\sof\s|the\s(?:first\s)?)?\Z|\b(?:due|payable)\sin\s\Z"
    )


@cache
def _date_before() -> re.Pattern[str]:
    return re.compile(r"(?:\b(?:on\sor\sbefore|no\slater\sthan|by|on|before)\s|最迟于?|不迟于)\s?\Z")


@cache
def _date_behind() -> re.Pattern[str]:
    return re.compile(r"\s?(?:之前|以前|前|当日)")


@cache
def _net() -> re.Pattern[str]:
    return re.compile(r"\bnet\s(?:\d{1,3}|thirty|sixty|ninety)\b(?:\s\(\d{1,3}\))?(?:\sdays)?")


@cache
def _event_behind() -> re.Pattern[str]:
    return re.compile(
        r"\s?(?:of\s|(?=(?:after|from|following|prior\sto|before)\s))"
        r"(?P<event>[^,.;()、。]{3,90}?)(?=\s?(?:[,.;()、。\n]|\Z|\b(?:to|by|in)\s(?:the\s)?(?:account|wire|bank|immediately|cash)"
        r"|\sand\s\$?\d))"
    )


@cache
def _chinese_event() -> re.Pattern[str]:
    rest = r"(?:余款|尾款|剩余[^,。;]{0,6}|其余[^,。;]{0,4})"
    who = r"(?:[甲乙丙]方|买方|卖方|委托方|承租方|发包方|双方)"
    head = rf"(?:{rest}(?=[于在自待经]))?{who}?(?:应当?|须|需|将)?(?:自|于|在|待|经)?"
    return re.compile(
        r"(?:(?<=[,。;:()、.\n%])|(?<=\A))\s?(?:\(?[\d一二三四五六七八九十]{1,2}[)、.]\s?)?(?:其中|即|作为[^,。;]{1,8})?"
        rf"{head}(?P<event>(?=[^,。;:]*[\u4e00-\u9fff])[^,。;:()、]{{2,44}}?(?:之?后|之?日起|之日|起|时|当[日天]))的?"
        r"(?=\s?(?:[\d一二三四五六七八九十]|[,。;、:]|\Z|[甲乙丙]方|买方|委托方|承租方|发包方|支付|付|向|一次|再|即|由|凭|结|无息))"
        rf"|(?:(?<=[,。;:()、.\n%])|(?<=\A))\s?{head}(?P<on>[^,。;:()、\d]{{2,44}}?(?:期满|届满|合格|完成|签订|生效|到货|竣工))(?=\s?(?:支付|付|一次|[甲乙]方))"
        r"|(?P<also>货到|款到)(?=付款|发货)"
    )


@cache
def _english_event() -> re.Pattern[str]:
    return re.compile(
        rf"\b(?P<event>(?:upon|after|following|on|at|within)\s(?:the\s|its\s|full\s|final\s|successful\s|a\s)?(?:[a-z'’-]+\s){{0,5}}?(?:{_EVENT})"
        r"[^,.;():]{0,60}?)(?=\s?(?:[,.;():\n]|\Z|\band\s(?:[$\d]|the\s)|\b(?:shall|is|are|will)\b))"
    )
