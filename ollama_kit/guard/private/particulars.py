"""Finds what a word beside it makes personal: birthdays, WeChat ids and QQ numbers.

Without such a word a date is a date and a number a number: nothing is guessed from the value alone, but for WeChat's
own `wxid_…`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.guard.private.rulebook import Hit
from ollama_kit.text.folding import FoldedViews, places

LONGEST_DATE = 16
"""Characters of the longest date that a word may follow: 一九八二年十二月二十五日."""


@cache
def date() -> re.Pattern[str]:
    """A day, or a year and a month, in the ways that people write a birthday; no year by itself."""
    months = (
        "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
        "nov(?:ember)?|dec(?:ember)?"
    )
    year, month, day = "(?:19|20)[0-9]{2}", "(?:1[0-2]|0?[1-9])", "(?:3[01]|[12][0-9]|0?[1-9])"
    numeral = "[〇零○一二三四五六七八九十廿正冬腊初]"
    return re.compile(
        rf"(?:(?:{year}|{numeral}{{4}}) ?年 ?)?(?:{month}|{numeral}{{1,2}}) ?月"
        rf"(?: ?(?:{day}|{numeral}{{1,3}}) ?[日号]?)?"
        rf"|{year}(?P<sign> ?[-/.] ?){month}(?:(?P=sign){day})?(?![0-9])"
        rf"|{year}(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])(?![0-9])"
        rf"|{day}(?P<sign2>[-/.]){month}(?P=sign2)(?:{year}|[0-9]{{2}})(?![0-9])"
        rf"|{month}(?P<sign3>[-/.]){day}(?P=sign3)(?:{year}|[0-9]{{2}})(?![0-9])"
        rf"|(?:{months})\.? {{1,2}}{day}(?:st|nd|rd|th)?,? {{1,2}}{year}"
        rf"|{day}(?:st|nd|rd|th)? {{1,2}}(?:of )?(?:{months})\.?,? {{1,2}}{year}"
        rf"|(?:{months})\.? {{1,2}}{day}(?:st|nd|rd|th)?(?![0-9a-z])"
    )


BIRTH = ("生日", "出生", "生于", "生辰", "born", "birth", "dob", "d.o.b")


@cache
def _birth_label() -> re.Pattern[str]:
    """A word that a birthday follows, and what joins them."""
    chinese = (
        r"(?:生日|出生(?:日期|年月日?|时间|于)?|生于|生辰)(?:\([^()\n]{1,8}\))?(?: ?(?:是|为|在))?"
        "(?: ?(?:农历|阴历|阳历|公历))?"
    )
    english = (
        r"(?<![a-z])(?:(?:date|day) of birth|birth ?da(?:y|te)|d\.?o\.?b\.?|born)"
        r"(?:\([^()\n]{1,12}\))?(?: (?:is|was|falls on))?(?: on(?: the)?)?"
    )
    return re.compile(rf"(?:{chinese}|{english})[\"'”]?[ \t]{{0,4}}(?:[:=|\t-][ \t]{{0,4}}){{0,2}}[\"'“*]{{0,2}}")


@cache
def _born_behind() -> re.Pattern[str]:
    """What behind a date makes it a birthday: 1982年6月15日出生, 5月3日是我生日, 1982年6月15日生。"""
    return re.compile(
        r"出生(?!率|证|医|人口|数)|生人|\(?(?:的)?生日(?=[\s,;。.)]|\Z)|是(?:我|他|她|你|您)?的?生日(?![会礼蛋聚])|(?P<weak>生)(?=[,;。.)\s]|\Z)"
    )


def find_particulars(views: FoldedViews) -> Iterator[Hit]:
    """Every birthday, WeChat id and QQ number."""
    yield from _birthdays(views)
    yield from _wechat_ids(views)
    yield from _qq_numbers(views)


def _birthdays(views: FoldedViews) -> Iterator[Hit]:
    label, day = _birth_label(), date()
    for at, word in places(views.lower, BIRTH):
        start = at - 8 if word == "birth" and views.lower.startswith("date of ", max(0, at - 8)) else at
        found = label.match(views.lower, max(0, start)) or label.match(views.lower, at)
        value = day.match(views.lower, found.end()) if found else None
        if value and not views.lower[value.end() : value.end() + 1].isdigit():
            yield Hit(*value.span(), "birthday")
    for at, _ in places(views.lower, ("出生", "生人", "是", "生", "的生日", "(生日")):
        mark = _born_behind().match(views.lower, at)
        end = at - (views.lower[at - 1 : at] == " ")
        if mark and (start := _date_before(views.lower, end, with_year=mark["weak"] is not None)) < end:
            yield Hit(start, end, "birthday")


def _date_before(text: str, end: int, *, with_year: bool) -> int:
    """Where the whole date begins that ends at `end`; `end` itself where none does."""
    for found in date().finditer(text, max(0, end - LONGEST_DATE), end):
        if found.end() == end and ("年" in found[0] or found[0][:4].isdigit() or not with_year):
            return found.start()
    return end


MESSENGERS = ("微信", "薇信", "威信", "v信", "wechat", "weixin", "vx", "wx", "加v", "我v")


@cache
def _wechat_label() -> re.Pattern[str]:
    """The word for WeChat, group `said` where a word or colon says that an id follows, and what joins it."""
    word = r"(?:微信|薇信|威信|v信|wechat|weixin|(?<![a-z0-9])(?:vx|wx)(?![a-z0-9])|[加我]v(?![a-z0-9]))"
    verb = "(?: ?(?:是|为|is))?"
    number = "(?:号码?|id|账号|帐号|account)"
    said = rf"(?P<said>(?:[ _-]?{number})?{verb} ?[:=] ?| ?{number}{verb}[ \t|]{{0,4}}| ?(?:是|is) ?)"
    return re.compile(rf"{word}(?:{said}|[ \t]{{1,3}}|(?<=[信])(?=[a-z]))[\"'“`*]{{0,2}}")


@cache
def _wechat_value() -> re.Pattern[str]:
    """What WeChat takes as an id: 6 to 20 characters, a letter first; or an old QQ number as one, or a telephone."""
    return re.compile(r"[a-z][a-z0-9_-]{5,19}(?![a-z0-9_.@-])|[1-9][0-9]{5,10}(?![0-9a-z])")


@cache
def _own_ids() -> re.Pattern[str]:
    return re.compile(r"wxid_[a-z0-9]{6,24}(?![a-z0-9])")


def _wechat_ids(views: FoldedViews) -> Iterator[Hit]:
    for at, _ in places(views.lower, ("wxid_",)):
        found = _own_ids().match(views.lower, at)
        if found:
            yield Hit(*found.span(), "wechat_id")
    for at, _ in places(views.lower, MESSENGERS):
        label = _wechat_label().match(views.lower, at)
        value = _wechat_value().match(views.lower, label.end()) if label else None
        if not (value and label):
            continue
        if _is_wechat_id(value[0], said=label["said"] is not None, named=_names_an_id(label[0])):
            yield Hit(*value.span(), "wechat_id")


def _names_an_id(label: str) -> bool:
    """Whether a label says more than that WeChat is meant: 微信号：, 微信：, wechat id:."""
    return ":" in label and (label[0] in "微薇威" or "id" in label)


@cache
def _words_behind() -> re.Pattern[str]:
    return re.compile("official|windows|android|miniprogram|payment|required|optional|unknown|string|number|account")


def _is_wechat_id(value: str, *, said: bool, named: bool) -> bool:
    """A word that looks made up, or any word where something says that an id follows."""
    if _words_behind().fullmatch(value) or value.startswith("http"):
        return False
    if named and value.isalpha():
        return value.isascii()
    made_up = any(map(str.isdigit, value)) or "_" in value or "-" in value
    return made_up if said else value[0].isalpha() and len(set(value)) > 3 and made_up and not value.count("-")


@cache
def _qq() -> re.Pattern[str]:
    """A QQ number with its label; the number is group 1."""
    label = (
        r"(?:(?<![a-z0-9])qq(?!邮箱)|扣扣|企鹅|(?:加|我)q|(?<![a-z0-9])q(?=号|:[ ]?[1-9][0-9]{7}))"
        r"(?:号码?|账号|帐号| ?(?:id|number|no\.?))?"
        r"(?:\([^()\n]{1,8}\))?"
    )
    return re.compile(
        rf"{label}[ \t]{{0,3}}(?:是|为|is)?[ \t]{{0,3}}[:=|]?[ \t\"'“`*]{{0,4}}([1-9][0-9]{{4,10}})"
        r"(?![0-9a-z_.@-]| ?[人次个条元万首位名%])"
    )


def _qq_numbers(views: FoldedViews) -> Iterator[Hit]:
    for at, _ in places(views.lower, ("qq", "扣扣", "企鹅", "加q", "我q", "q号", "q:")):
        found = _qq().match(views.lower, at)
        if found:
            yield Hit(*found.span(1), "qq_number")
