"""What stands before a number and says whose it is: a telephone's, an identity card's, an order's."""

from __future__ import annotations

import re
from functools import cache

from ollama_kit.text.folding import FoldedViews

LOOK_BACK = 24
"""Characters before a number in which a label may stand."""


@cache
def phone_word() -> re.Pattern[str]:
    """A word that a telephone number follows."""
    words = (
        "电话|手机|联系|致电|拨打|热线|座机|传真|客服|号码|微信|tel|phone|mobile|mob|cell|call|fax|whatsapp|wechat|dial"
    )
    return re.compile(rf"(?:{words})[^0-9\n]{{0,12}}\Z")


@cache
def local_word() -> re.Pattern[str]:
    """A label directly before a number without an area code."""
    return re.compile(r"(?:电话|座机|传真|tel|phone|fax)[\s:.(]{0,4}\Z")


@cache
def _counting_words() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What is counted by the number that follows, in Chinese and in English."""
    chinese = "单号|编号|流水号?|工号|订单|运单|快递|序列号|批号|货号|合同号|票号|发票|代码|批次|版本"
    english = "order|invoice|tracking|serial|sku|ref|batch|build|parcel|case|ticket|part|txn|transaction"
    joined = r"[\s.:#号为是_-]{0,4}\Z"
    return (
        re.compile(rf"(?:{chinese}){joined}"),
        re.compile(rf"\b(?:{english})(?: ?(?:no|number|id)\b)?{joined}"),
    )


@cache
def _counting_field() -> re.Pattern[str]:
    """The name of a field that holds no telephone number, and what assigns it."""
    field = "id|bytes|size|count|offset|length|total|seed|time|timestamp|ts"
    return re.compile(rf"(?<![a-z])(?:[a-z]{{1,12}}_)?[a-z]{{0,12}}(?:{field})[\"']{{0,2}}[ ]?[:=][ ]?[\"']?\Z")


@cache
def id_word() -> re.Pattern[str]:
    """A word that the number of an identity card follows."""
    return re.compile(r"(?:身份证|身份號|证件|公民身份|id card|id no|identity)[^0-9\n]{0,10}\Z")


def stands_before(pattern: re.Pattern[str], views: FoldedViews, at: int) -> bool:
    """Whether `pattern`, which ends with the end of what it sees, is found in the characters before `at`."""
    return pattern.search(views.lower, max(0, at - LOOK_BACK), at) is not None


def counts(views: FoldedViews, start: int) -> bool:
    """Whether what stands before says that the number is an order's, a parcel's, a build's."""
    return _is_counted(views, start) and not stands_before(phone_word(), views, start)


def _is_counted(views: FoldedViews, start: int) -> bool:
    chinese, english = _counting_words()
    if stands_before(chinese, views, start) or stands_before(english, views, start):
        return True
    assigned = views.lower[max(0, start - 3) : start]
    return (":" in assigned or "=" in assigned) and stands_before(_counting_field(), views, start)
