"""What a contract calls itself: its title, its kind, its number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.jobs.contract.facts.fact_values import Fact, Value, fact
from ollama_kit.jobs.contract.passages import ContractText

TITLE = ("…合同/协议 on a line of its own", "… AGREEMENT in the first lines", "this … Agreement")
NUMBER = ("合同编号：", "Contract No.")
TYPE = ("words of the title",)
HEAD = 3_000

_TYPES = {
    "nda": "保密|non[- ]?disclosure|confidentiality agreement",
    "lease": r"租赁|\blease\b|rental|tenancy",
    "employment": r"劳动|聘用|雇佣|employment",
    "construction": "施工|建设工程|装修|construction",
    "loan": r"借款|贷款|\bloan\b|promissory note|credit agreement",
    "guarantee": "担保|保证合同|抵押|质押|guarant",
    "equity": r"股权|增资|股份|share purchase|stock purchase|subscription",
    "franchise": "特许经营|加盟|franchise",
    "distribution": "经销|分销|代理|distribut|reseller|agency",
    "sponsorship": "赞助|sponsor",
    "endorsement": "代言|endorsement",
    "license": "许可|授权|licen[sc]e",
    "cooperation": "合作|cooperation|co-branding|alliance|joint venture|collaboration|promotion",
    "transport": "运输|物流|transport|carriage|freight",
    "consulting": "咨询|顾问|consult",
    "service": "服务|技术开发|委托|外包|运维|service|maintenance|hosting",
    "sale": r"采购|买卖|购销|销售|供货|订购|purchase|\bsale\b|supply",
}


def read_title(text: ContractText) -> Fact:
    """The title, once: the first that its wording or its place shows."""
    return fact(list(_titles(text))[:1], TITLE)


def read_type(title: Fact) -> Fact:
    """The kind of contract, by the words of its title."""
    for value in title.values:
        for name, words in _TYPES.items():
            if re.search(words, value.value, re.IGNORECASE):
                return fact([Value(name, value.evidence, "word of the title")], TYPE)
    return fact([], TYPE)


def read_number(text: ContractText) -> Fact:
    """The number of the contract; two different ones conflict."""
    found = []
    for match in _number().finditer(text.folded, 0, min(HEAD, len(text.plain))):
        start, end = match.span("number")
        found.append(Value(text.plain[start:end], text.evidence(start, end), "label"))
    return fact(found, NUMBER)


def _titles(text: ContractText) -> Iterator[Value]:
    head = min(HEAD, len(text.plain))
    for pattern, rule in ((_line(), "a line of its own"), (_capitals(), "capitals"), (_this(), "first sentence")):
        match = pattern.search(text.folded, 0, head)
        if match is not None:
            start, end = match.span("title")
            yield Value(text.plain[start:end].strip(), text.evidence(start, end), rule)


@cache
def _line() -> re.Pattern[str]:
    return re.compile(
        r"^\W{0,4}(?P<title>[^\n。,;:]{0,40}?(?:合同|协议书?|合同书|契约|订单|意向书|备忘录|承诺书)(?:\([^()\n]{1,16}\))?(?:\s?[/|]\s?[^\n]{1,60})?"
        r"|(?!This\b|THIS\b)(?:[A-Z®][\w®&'’,/\-]*\s(?:(?:and|of|for|the|AND|OF|FOR)\s){0,2}){1,10}(?:AGREEMENT|Agreement|CONTRACT|Contract|LEASE|Lease|NOTE|Note))\W{0,4}$",
        re.MULTILINE,
    )


@cache
def _capitals() -> re.Pattern[str]:
    return re.compile(
        r"(?P<title>(?:FORM\sOF\s)?(?<![\w])(?!THIS|EXHIBIT)(?:[A-Z®][A-Z®&/,\-]+\s){1,9}?(?:AGREEMENT|CONTRACT|LEASE))\b"
    )


@cache
def _this() -> re.Pattern[str]:
    return re.compile(
        r"(?i:\bthis)\s(?P<title>(?:[A-Z][\w&/\-]+\s(?:and\s)?){1,8}(?:AGREEMENT|Agreement|Contract|CONTRACT|Lease))\b"
    )


@cache
def _number() -> re.Pattern[str]:
    return re.compile(
        r"(?:(?:合同|协议|订单)\s?(?:编\s?号|号码?)|(?<![\u4e00-\u9fff])编\s?号|(?i:\b(?:contract|agreement)\s(?:no\.?|number|#)))\s?[:#]?\s?"
        r"(?P<number>(?=[^\s\d]{0,39}\d)[A-Za-z0-9一-鿿〔〕\[\]()][\w\-/.〔〕\[\]()]{2,39}[A-Za-z0-9号])"
    )
