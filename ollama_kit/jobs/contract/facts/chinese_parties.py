"""The parties of a Chinese contract: 甲方（买方）：某某公司, 由某某公司（以下简称“甲方”）与…."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

ROLES = (
    *("甲方", "乙方", "丙方", "丁方", "买方", "卖方", "出租方", "承租方", "出租人", "承租人", "委托方", "受托方"),
    *(
        "委托人",
        "受托人",
        "发包方",
        "承包方",
        "发包人",
        "承包人",
        "供方",
        "需方",
        "供应方",
        "采购方",
        "出卖人",
        "买受人",
    ),
    *("出卖方", "买受方", "转让方", "受让方", "许可方", "被许可方", "贷款人", "借款人", "出借人", "担保人", "保证人"),
    *(
        "抵押人",
        "抵押权人",
        "用人单位",
        "劳动者",
        "披露方",
        "接收方",
        "投资方",
        "投资人",
        "目标公司",
        "定作方",
        "承揽方",
    ),
    *(
        "定作人",
        "承揽人",
        "赠与人",
        "受赠人",
        "服务方",
        "客户",
        "供应商",
        "采购人",
        "中标人",
        "招标人",
        "总包方",
        "分包方",
    ),
    *("授权方", "被授权方", "加盟商", "特许人", "被特许人", "保管人", "存货人", "托运人", "承运人"),
)


@dataclass(frozen=True, slots=True)
class Named:
    """A party as one place names it: its roles, and the span of its name in the text."""

    roles: tuple[str, ...]
    start: int
    end: int
    rule: str


def find_labeled(folded: str, start: int, end: int) -> Iterator[Named]:
    """Every party that a label introduces at the beginning of a line, between two offsets."""
    for match in _label().finditer(folded, start, end):
        name = _name().match(folded, match.end(), end)
        if name is None or _filler().fullmatch(name[0]):
            continue
        roles = tuple(
            dict.fromkeys(_roles().findall(match[0]) + [f"Party {one}" for one in _party().findall(match[0])])
        )
        yield Named(roles, *_trimmed(folded, *name.span()), "label")


def find_aliased(folded: str, start: int, end: int) -> Iterator[Named]:
    """Every party that its short name follows: 某某公司（以下简称“甲方”）."""
    for match in _alias().finditer(folded, start, end):
        first = match.start("name")
        before = _lead().search(match["name"])
        yield Named((match["role"],), first + (before.end() if before else 0), match.end("name"), "short name")


def _trimmed(folded: str, start: int, end: int) -> tuple[int, int]:
    """The name without what explains it: （以下简称…）, (Xinghe … Co., Ltd.)."""
    name = folded[start:end]
    if name[:1].isascii():
        suffix = _suffix().search(name)
        name = name[: suffix.end()] if suffix else name
    cut = (_english_end() if name[:1].isascii() else _explanation()).search(name)
    name = name[: cut.start()] if cut else name
    return start, start + len(name.rstrip(" ,;。、(_"))


_ROLE = "|".join(sorted(set(ROLES), key=len, reverse=True))


@cache
def _roles() -> re.Pattern[str]:
    return re.compile(_ROLE)


@cache
def _party() -> re.Pattern[str]:
    return re.compile(r"(?i:party)\s([A-F1-6])\b")


@cache
def _label() -> re.Pattern[str]:
    role = rf"(?:{_ROLE}|(?i:party)\s[A-F])"
    return re.compile(
        rf"(?:^\W{{0,4}}|(?<=\s)){role}[一二1-3]?(?:\s?[/(]\s?(?:{role}|全称|名称|单位名称|盖章|签字|签章|公章|签名|签字或盖章)\)?){{0,3}}"
        r"\s?(?:名称|姓名)?\s?[:]\s?",
        re.MULTILINE,
    )


@cache
def _name() -> re.Pattern[str]:
    # A Chinese name ends at a blank, an English one may have some.
    return re.compile(
        r"(?=[^\s_])(?:[A-Z][^\n,;。]{1,90}(?:,\s?(?:Inc|Ltd|LLC|L\.P|LLP|Corp)\.?[^\n,;。]{0,10})?"
        r"|[^\s,;。:_]{2,60}(?:\s\([A-Za-z][^()\n]{2,80}(?:\([^()\n]{1,30}\)[^()\n]{0,40})?\))?)"
    )


@cache
def _explanation() -> re.Pattern[str]:
    return re.compile(r"\s?\((?:以下|下称|简称|盖章|签字|签章|公章|[A-Za-z]).*|\s(?=[甲乙丙丁]方|Date|日期)", re.DOTALL)


@cache
def _suffix() -> re.Pattern[str]:
    """How the name of an English company ends, where more may follow on the line."""
    return re.compile(
        r"\b(?:Ltd|Limited|Inc|LLC|LLP|L\.P|Corporation|GmbH|PLC|S\.A)\b\.?(?![,\s]+(?:Co|Ltd|Inc|LLC)\b)"
    )


@cache
def _english_end() -> re.Pattern[str]:
    return re.compile(
        r"\s?\((?:the|hereinafter|[\"“])|\s(?:(?:Authorized|Legal)\sRep|By:|Name:|Title:|Address|Date:|Signature)"
    )


@cache
def _filler() -> re.Pattern[str]:
    return re.compile(
        r"[\W_]*(?:盖章|签字|签章|公章|签名)?[\W_]*|(?:[甲乙丙丁]方|[买卖]方|日期|法定代表人|地址|Date|Name|By|Title).*"
    )


@cache
def _alias() -> re.Pattern[str]:
    return re.compile(
        rf"(?P<name>[^\s,;。:()“”]{{2,40}}(?:\([^()\s]{{1,10}}\)[^\s,;。:()“”]{{0,20}})?)"
        rf"\s?\((?:以下|下称|简称|合称)[^()\n]{{0,8}}[“\"「]?(?P<role>{_ROLE}|[\u4e00-\u9fff]{{2,8}})[”\"」]?\)"
    )


@cache
def _lead() -> re.Pattern[str]:
    return re.compile(
        r".*(?:由|与|和|及|系|为|是)(?=[\u4e00-\u9fff(]{4,}(?:公司|厂|店|中心|集团|大学|医院|研究院|局|委员会|所|社))"
    )
