"""Which law governs a contract, and who decides its disputes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.jobs.contract.facts.fact_values import Fact, Value, fact
from ollama_kit.jobs.contract.passages import ContractText, sentences_with
from ollama_kit.text.pattern_search import any_of

LAW = ("适用…法律", "governed by/construed in accordance with the laws of …", "governed by … Laws")
FORUM = ("提交…仲裁委员会/仲裁中心", "向…人民法院起诉", "arbitration by/under the rules of …", "courts of …")

_SAME = {
    "prc": "People's Republic of China",
    "the prc": "People's Republic of China",
    "p.r.c": "People's Republic of China",
    "china": "People's Republic of China",
    "中国": "中华人民共和国",
}


def read_governing_law(text: ContractText) -> Fact:
    """The governing law: the state or country in English, 某某法律 in Chinese. Two different laws conflict."""
    values = [*_chinese_law(text), *_english_law(text)]
    chinese = any("中华人民共和国" in value.value for value in values)
    if chinese:  # one law, named in both languages of a bilingual contract
        values = [value for value in values if value.value != "People's Republic of China"]
    return fact(values, LAW)


def read_dispute_forum(text: ContractText) -> Fact:
    """Who decides disputes: arbitration commissions and courts, as the contract names them.

    In Chinese wording a commission and a court together conflict: such a clause gives no arbitration (法释〔2006〕7号,
    article 7). In English contracts a court beside arbitration is for injunctions."""
    values = [*_chinese_forum(text), *_english_forum(text)]
    found = fact(values, FORUM, several=True)
    kinds = {value.rule for value in _chinese_forum(text)}
    return Fact(found.values, found.searched, conflict=len(kinds) > 1)


def _chinese_law(text: ContractText) -> Iterator[Value]:
    for match in _law().finditer(text.folded):
        start, end = match.span("law")
        name = text.plain[start:end]
        yield Value(_SAME.get(name, name), text.evidence(start, end), "applies the law of")


def _english_law(text: ContractText) -> Iterator[Value]:
    for start, end in sentences_with(text.plain, _governed(), text.lower, _words()):
        if not _laws().search(text.plain, start, end):
            continue
        match = _of_state().search(text.plain, start, end) or _state_laws().search(text.plain, start, end)
        if match is None:
            continue
        name = match["state"].strip(" ,.").removeprefix("the ")
        if name in ("State", "Commonwealth", "Province"):
            continue  # the blank of a form: the laws of the State of [state]
        yield Value(_SAME.get(name.lower(), name), text.evidence(start, end), "governed by the laws of")


def _chinese_forum(text: ContractText) -> Iterator[Value]:
    for match in _chinese_body().finditer(text.folded):
        start, end = match.span("body")
        kind = "court" if match["court"] else "arbitration"
        yield Value(text.plain[start:end], text.evidence(*match.span()), kind)


def _english_forum(text: ContractText) -> Iterator[Value]:
    for start, end in sentences_with(text.plain, _dispute(), text.lower, _dispute_words()):
        body = _english_body(text.plain, start, end)
        if body is None:
            continue
        kind = "court" if body.re is _court() else "arbitration"
        yield Value(body[0].strip(" ,."), text.evidence(start, end), kind)


def _english_body(plain: str, start: int, end: int) -> re.Match[str] | None:
    """Who decides: an institution before the words that only say that somebody does, else what comes first."""
    named = _institution().search(plain, start, end)
    others = (pattern.search(plain, start, end) for pattern in (_court(), _arbitration()))
    return named or min((one for one in others if one), key=lambda one: one.start(), default=None)


@cache
def _law() -> re.Pattern[str]:
    return re.compile(
        r"(?:适用|受|依照|依据|按照|遵守)(?P<law>(?:中华人民共和国|中国|香港|澳门|台湾|新加坡|英国|英格兰|美国|日本|德国|[\u4e00-\u9fff]{2,10}?(?:国|州|地区|行政区))"
        r"[\u4e00-\u9fff]{0,12}?(?:\([^()\n]{1,24}\))?(?:现行|有关|相关)?的?法律)(?!、?法规(?:规定)?订立)"
    )


@cache
def _governed() -> re.Pattern[str]:
    return re.compile(r"\b(?:govern(?:ed|ing)|constru\w+|interpreted|laws? applicable|resolved in accordance)\b")


@cache
def _words() -> re.Pattern[str]:
    return any_of(["govern", "constru", "interpreted", "applicable", "resolved in accordance"])


@cache
def _laws() -> re.Pattern[str]:
    return re.compile(r"(?i)(?:govern|constru|interpret|resolved)[^.]{0,200}\blaws?\b|governing law")


_PLACE = r"(?:[A-Z][\w'’]*\.?(?:[A-Z]\.)*)(?:\s(?:of\s(?:the\s)?|and\s)?[A-Z][\w'’]*){0,5}"


@cache
def _of_state() -> re.Pattern[str]:
    return re.compile(
        rf"\b(?:[Ll]aws?|LAWS?)(?:\sand\sregulations)?\s(?:of|OF|in)\s(?:the|THE|any)?\s?(?:internal\s)?"
        rf"(?:(?i:State|Commonwealth|Province|Republic(?!\sof\sChina))\s(?i:of)\s)?(?P<state>{_PLACE})"
    )


@cache
def _state_laws() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:by|with|under|to)\s(?:the\s)?(?:substantive\s|internal\s)?(?P<state>PRC|P\.R\.C|(?!The\b|"
        r"Such\b|Applicable\b|This\b)[A-Z][\w]+(?:\s[A-Z]\w+){0,2})\s(?:Laws?|laws?)\b"
    )


@cache
def _chinese_body() -> re.Pattern[str]:
    return re.compile(
        r"(?:提交|提请|向|由|递交|至|到)(?P<body>[^,。;\n]{0,40}?(?:仲裁委员会|仲裁中心|仲裁院|(?P<court>人民法院|法院))(?:\([A-Z]{2,8}\))?)"
        r"(?=[^。\n]{0,30}(?:仲裁|起诉|诉讼|裁决|管辖|解决))"
    )


@cache
def _dispute() -> re.Pattern[str]:
    return re.compile(r"\b(?:arbitrat(?:ion|ed)|jurisdiction|venue)\b")


@cache
def _dispute_words() -> re.Pattern[str]:
    return any_of(["arbitrat", "jurisdiction", "venue"])


@cache
def _institution() -> re.Pattern[str]:
    return re.compile(
        r"American Arbitration Association|(?:[A-Z]\w+\s){1,5}(?:Arbitration|Dispute "
        r"Resolution)\s(?:Commission|Cent(?:er|re)|Institute|Court|Association)"
        r"|International Chamber of Commerce|\b(?:AAA|CIETAC|SIAC|HKIAC|JAMS|LCIA|ICC)\b"
    )


@cache
def _court() -> re.Pattern[str]:
    return re.compile(
        r"(?i:(?:\b(?:state|federal|competent|exclusive)\s(?:and|or|"
        r"and/or)?\s?){0,2}\bcourts?\s(?:of|in|located in|sitting in|within)\s)"
        r"(?!(?i:competent|record|law|appropriate|proper|general)\b)(?:the\s)?(?:State\s|County\s|City\s)?(?:of\s)?"
        r"[A-Z][\w ]{2,60}"
        r"|\b(?:[A-Z][\w.]*\s){0,5}(?:Supreme|District|Superior|Circuit|High|County|Commercial)\sCourts?\b"
        r"(?:\s(?:of|for)\s(?:the\s)?[A-Z]\w*(?:\s(?:of\s)?[A-Z]\w*){0,5})?"
    )


@cache
def _arbitration() -> re.Pattern[str]:
    """Arbitration that nobody is named for, from the last verb on: a dispute that is not settled shall be resolved."""
    verbs = "settled|resolved|determined|submitted|decided"
    return re.compile(rf"(?i:\b(?:{verbs})(?:(?!{verbs})[^.]){{0,60}}?\barbitration\b)")
