"""Finds what is mostly digits: telephone numbers, ID cards, bank cards and accounts, credit codes, passports, number
plates.

A number is found by its shape (NumberShape) and by what else must hold: a check digit, a word that precedes it and says
what it is, or the absence of a word that says it is an order's or a parcel's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from ollama_kit.guard.private.rulebook import Hit
from ollama_kit.text.checksums import (
    IBAN_LENGTHS,
    is_bank_card,
    is_credit_code,
    is_iban,
    is_id_card,
    is_old_id_card,
)
from ollama_kit.text.folding import FoldedViews, places

_CURRENCIES, _AFTER_MONEY = frozenset("¥￥$€£"), frozenset("元%")


@dataclass(frozen=True)
class NumberShape:
    """A number as it is written, beginning at a run of digits, and what else must hold for it."""

    rule: str
    pattern: str
    holds: Callable[[FoldedViews, int, int], bool]


def _is_money(views: FoldedViews, start: int, end: int) -> bool:
    return views.folded[start - 1 : start] in _CURRENCIES or views.lower[end : end + 2].lstrip()[:1] in _AFTER_MONEY


def _begins_word(views: FoldedViews, start: int) -> bool:
    """Whether no longer number or name runs into the one at `start`; "tel" may."""
    before = views.folded[start - 1 : start] if start else ""
    if before in ("-", ".") and views.folded[start - 2 : start - 1].isdigit():
        return False
    glued = before.isascii() and (before.isalnum() or before == "_")
    return not glued or _precedes(_glue(), views, start)


@cache
def _glue() -> re.Pattern[str]:
    return re.compile(r"(?<![a-z])(?:tel|phone|mobile|mob|fax|cell|wechat|wx|vx|id|card|no)\Z")


@cache
def _decimals() -> re.Pattern[str]:
    return re.compile(r"\.[0-9]")


@cache
def _area_code() -> re.Pattern[str]:
    return re.compile(r"0[0-9]{2,3}[ )-]")


@cache
def _four_digits() -> re.Pattern[str]:
    return re.compile(r"[0-9]{4} \Z")


def _is_mobile(views: FoldedViews, start: int, end: int) -> bool:
    is_amount = _decimals().match(views.folded, end) is not None or _is_money(views, start, end)
    return _begins_word(views, start) and not is_amount and not _counts(views, start)


def _is_landline(views: FoldedViews, start: int, end: int) -> bool:
    separated = _area_code().match(views.folded, start, end) is not None
    behind_four = _four_digits().search(views.folded, max(0, start - 5), start) is not None
    said = _precedes(_phone_word(), views, start)
    return _begins_word(views, start) and not behind_four and (said or (separated and not _counts(views, start)))


def _is_hotline(views: FoldedViews, start: int, end: int) -> bool:
    dashed = views.folded[start + 3] == "-"
    return _begins_word(views, start) and (dashed or _precedes(_phone_word(), views, start))


def _is_local(views: FoldedViews, start: int, end: int) -> bool:
    return _precedes(_local_word(), views, start)


def _is_american(views: FoldedViews, start: int, end: int) -> bool:
    in_parentheses = views.folded[start - 1 : start] == "(" and ")" in views.folded[start:end]
    return in_parentheses or (_begins_word(views, start) and _precedes(_phone_word(), views, start))


def _is_id_card(views: FoldedViews, start: int, end: int) -> bool:
    return is_id_card(_bare(views, start, end))


def _is_old_id_card(views: FoldedViews, start: int, end: int) -> bool:
    return _precedes(_id_word(), views, start) and is_old_id_card(views.folded[start:end])


def _is_bank_card(views: FoldedViews, start: int, end: int) -> bool:
    fresh = _begins_word(views, start) and not _counts(views, start) and not _is_money(views, start, end)
    return fresh and is_bank_card(_bare(views, start, end))


def _is_credit_code(views: FoldedViews, start: int, end: int) -> bool:
    glued = start > 0 and views.folded[start - 1].isascii() and views.folded[start - 1].isalnum()
    return not glued and is_credit_code(_bare(views, start, end))


def _bare(views: FoldedViews, start: int, end: int) -> str:
    return _squeezed(views.folded[start:end])


def _squeezed(value: str) -> str:
    return value.replace(" ", "").replace("-", "").upper()


_DAY = "(?:0[1-9]|1[0-2])(?:0[1-9]|[12][0-9]|3[01])"
_EXTENSION = r"(?:(?:-|转|ext\.? ?|分机号?:? ?)[0-9]{1,5})?"
_ENDS = "(?![0-9a-z_])"

SHAPES: tuple[NumberShape, ...] = (
    NumberShape(
        "id_card_18", rf"[1-9][0-9]{{5}}[ -]?(?:18|19|20)[0-9]{{2}}{_DAY}[ -]?[0-9]{{3}}[0-9x]{_ENDS}", _is_id_card
    ),
    NumberShape("id_card_15", rf"[1-9][0-9]{{7}}{_DAY}[0-9]{{3}}{_ENDS}", _is_old_id_card),
    NumberShape("credit_code", rf"[1-9][1-9][0-9]{{6}}[0-9a-z]{{10}}{_ENDS}", _is_credit_code),
    NumberShape(
        "bank_card",
        r"(?:[2-69][0-9]{12,18}|[2-69][0-9]{3}(?P<gap>[ -])[0-9]{4}(?:(?P=gap)[0-9]{4}){1,3}(?:(?P=gap)?[0-9]{1,3})?"
        rf"|3[47][0-9]{{2}}(?P<gap2>[ -])[0-9]{{6}}(?P=gap2)[0-9]{{5}}|62[0-9]{{4}}[ -][0-9]{{10,13}}){_ENDS}",
        _is_bank_card,
    ),
    NumberShape(
        "mobile",
        r"(?:(?:00)?86[ -]?)?"
        r"(?:1[3-9][0-9](?:[ -]?[0-9]{4}){2}|1[3-9][0-9]{2}(?P<gap3>[ -])[0-9]{3}(?P=gap3)[0-9]{4}"
        r"|1[3-9][0-9]\.[0-9]{4}\.[0-9]{4})"
        rf"(?!-[0-9]){_ENDS}",
        _is_mobile,
    ),
    NumberShape(
        "landline",
        r"0(?:(?:10|2[0-9])\)?[ -]{0,2}[1-9][0-9]{3}|[3-9][0-9]{2}\)?[ -]{0,2}[1-9][0-9]{2,3})"
        rf"[ -]?[0-9]{{4}}{_EXTENSION}(?! ?[0-9]){_ENDS}",
        _is_landline,
    ),
    NumberShape(
        "hotline",
        r"[48]00(?:-[0-9]{3}-[0-9]{4}|-[0-9]{4}-[0-9]{3}|-[0-9]{7}| ?[0-9]{3} ?[0-9]{4})(?!-?[0-9])"
        rf"{_ENDS}",
        _is_hotline,
    ),
    NumberShape(
        "international_phone",
        r"[2-9][0-9]{2}(?:\) ?[2-9][0-9]{2}[ -][0-9]{4}|(?P<gap4>[.-])[2-9][0-9]{2}(?P=gap4)[0-9]{4})(?!-?[0-9])"
        rf"{_ENDS}",
        _is_american,
    ),
    NumberShape("landline", rf"[2-8][0-9]{{2,3}}[ -]?[0-9]{{4}}{_EXTENSION}(?![ -]?[0-9]){_ENDS}", _is_local),
)
"""The particular before the general; what overlaps is settled later."""


@cache
def _runs() -> re.Pattern[str]:
    return re.compile("[0-9][0-9]{2,}")  # a pattern that begins with a set, not with a repeat, is found faster


@cache
def _shapes() -> tuple[re.Pattern[str], tuple[tuple[NumberShape, re.Pattern[str]], ...]]:
    """All shapes in one, which most numbers in a text do not fit, and each for itself."""
    return (
        re.compile("|".join(f"(?:{shape.pattern})" for shape in SHAPES)),
        tuple((shape, re.compile(shape.pattern)) for shape in SHAPES),
    )


def find_digits(views: FoldedViews) -> Iterator[Hit]:
    """Every telephone number, ID card, bank card, credit code and number plate."""
    any_shape, shapes = _shapes()
    for run in _runs().finditer(views.folded):
        start = run.start()
        if start and views.lower[start - 1] in "any":
            yield from _lettered_credit_code(views, start - 1)
        if any_shape.match(views.lower, start):
            for shape, pattern in shapes:
                found = pattern.match(views.lower, start)
                if found and shape.holds(views, start, found.end()):
                    yield Hit(*_with_front(views, start, found.end()), shape.rule)
    yield from _spelled_out(views)
    yield from _international(views)
    yield from _ibans(views)
    yield from _plates(views)
    yield from _labeled(views)


@cache
def _front() -> re.Pattern[str]:
    return re.compile(r"(?:(?:\+|(?<![0-9])00)86[ -]?|\+)\Z")


def _with_front(views: FoldedViews, start: int, end: int) -> tuple[int, int]:
    """The span with the +86 or the opening parenthesis that belongs to it."""
    front = _front().search(views.folded, max(0, start - 6), start)
    if front:
        return start - len(front[0]), end
    if views.folded[start - 1 : start] == "(" and ")" in views.folded[start:end]:
        return start - 1, end
    return start, end


@cache
def _lettered() -> re.Pattern[str]:
    return re.compile(r"(?:a[19]|n[1239]|y1)[0-9]{6}[0-9a-z]{10}(?![0-9a-z])")


def _lettered_credit_code(views: FoldedViews, start: int) -> Iterator[Hit]:
    """The credit code of a village or a cooperative, which begins with a letter."""
    found = _lettered().match(views.lower, start)
    if found and _is_credit_code(views, *found.span()):
        yield Hit(*found.span(), "credit_code")


NUMERALS = str.maketrans("〇零一二三四五六七八九", "00123456789")
"""Chinese numerals that people write into a number so that no rule sees it."""


@cache
def _mixture() -> re.Pattern[str]:
    return re.compile("[0-9][〇零一二三四五六七八九]")


@cache
def _mixed() -> re.Pattern[str]:
    """A mobile number in which Chinese numerals stand for digits, or 一 for a dash."""
    digit = "[0-9〇零一二三四五六七八九]"
    return re.compile(rf"1{digit}{{10}}(?!{digit})|1[3-9][0-9][一 -]?[0-9]{{4}}[一 -]?[0-9]{{4}}(?!{digit})")


def _spelled_out(views: FoldedViews) -> Iterator[Hit]:
    """Mobile numbers that hide a few digits in Chinese numerals: 138一2345678."""
    done = 0
    for mixture in _mixture().finditer(views.folded):
        found = _mixed().search(views.folded, max(done, mixture.start() - 12), mixture.start() + 14)
        if found is None or found.start() > mixture.start() or not _begins_word(views, found.start()):
            continue
        at, done = found.span()
        number = found[0].translate(NUMERALS)
        is_mobile = "3" <= number[1] <= "9" and sum(map(str.isascii, found[0])) >= 6
        if is_mobile and not _counts(views, at):
            yield Hit(*found.span(), "mobile")


@cache
def _plus() -> re.Pattern[str]:
    gap = r"[ .-]?"
    return re.compile(rf"\+[1-9][0-9]{{0,3}}(?:{gap}\([0-9]{{1,5}}\))?(?:{gap}[0-9]{{1,12}}){{1,5}}(?![0-9])")


CALLING_CODES = re.compile(
    "1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    "|21[12368]|22[015]|23[347]|24[49]|25[0-24-68]|26[03]|35[1-9]|37[0-7]|38[0-25-79]|42[013]|50[1-79]|59[1-58]|67[0359]"
    "|85[2356]|88[06]|96[0-8]|97[0-7]|99[2-68]"
)
"""Calling codes of ITU-T E.164 that a text is likely to hold."""


def _international(views: FoldedViews) -> Iterator[Hit]:
    for found in _plus().finditer(views.folded):
        start, end = found.span()
        digits = "".join(filter(str.isdigit, found[0]))
        separated = len(digits) < len(found[0]) - 1
        code = CALLING_CODES.match(digits)
        long_enough = len(digits) >= (9 if separated else 10)
        after_word = start > 0 and views.folded[start - 1].isascii() and views.folded[start - 1].isalnum()
        if "." in found[0] and len(digits) == len(found[0]) - 2:
            continue  # a decimal
        if code and long_enough and len(digits) <= 15 and not after_word and not _is_money(views, start, end):
            yield Hit(start, end, "international_phone")


@cache
def _check_digits() -> re.Pattern[str]:
    """What follows the two letters of a country in an account number."""
    return re.compile("[0-9][0-9][ -]?[0-9a-z]{4}")


def _ibans(views: FoldedViews) -> Iterator[Hit]:
    """Every account number whose country, length and check digits agree, with or without spaces."""
    for found in _check_digits().finditer(views.lower):
        start, end = found.start() - 2, found.end()
        length = IBAN_LENGTHS.get(views.lower[start : start + 2].upper()) if start >= 0 else None
        before = views.folded[start - 1 : start] if start > 0 else ""
        if length is None or (before.isascii() and (before.isalnum() or before == "_")):
            continue
        account = _squeezed(views.lower[start:end])
        while len(account) < length and (part := _iban_part().match(views.lower, end)):
            end, account = part.end(), account + part[1].upper()
        after = views.folded[end : end + 1]
        one_case = views.folded[start:end].isupper() or views.folded[start:end].islower()
        if is_iban(account) and one_case and not (after.isascii() and after.isalnum()):
            yield Hit(start, end, "iban")


@cache
def _iban_part() -> re.Pattern[str]:
    return re.compile(r"[ -]?([0-9a-z])")


@cache
def _plate() -> re.Pattern[str]:
    area = "[京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼]"
    ordinary = "[a-hj-np-z0-9]{4}[a-hj-np-z0-9挂学警港澳]"
    electric = "(?:[a-hjk][a-hj-np-z0-9][0-9]{4}|[0-9]{5}[a-hjk])"
    return re.compile(rf"{area}[a-hj-np-z][ ·•・.-]?(?:{electric}|{ordinary})(?![0-9a-z])")


def _plates(views: FoldedViews) -> Iterator[Hit]:
    for found in _plate().finditer(views.lower):
        start = found.start()
        newest = found[0][0] == "新" and views.text[start - 1 : start] in tuple("最全更创革重刷换")
        if sum(map(str.isdigit, found[0])) >= 3 and not newest:
            yield Hit(*found.span(), "plate")


@cache
def _passport() -> re.Pattern[str]:
    """A passport or travel permit with its label; the number is group 1."""
    between = r"(?:号码|号|编号)?(?: ?(?:no|number|num|id)\b\.?)?(?:[:#()\s]|是|为|is ){0,6}"
    return re.compile(rf"(?:{'|'.join(PASSPORTS)}){between}([a-z]{{0,2}}[0-9]{{7,9}}|[a-z][0-9]{{10}})(?![0-9a-z])")


@cache
def _bank_account() -> re.Pattern[str]:
    """An account number with its label; the number is group 1. It need not be a card: only the label shows it."""
    number = r"(?:号码)?(?: (?:no|number|num)\b\.?| ?#)?"
    return re.compile(rf"(?:{'|'.join(ACCOUNTS)}){number}[\s:]{{0,4}}[是为]?([0-9](?:[ -]?[0-9]){{11,24}})(?![0-9a-z])")


PASSPORTS = ("护照", "護照", "通行证", "台胞证", "回乡证", "旅行证", "passport")
ACCOUNTS = ("账号", "账户", "帐号", "帐户", "賬號", "賬戶", "account")


def _labeled(views: FoldedViews) -> Iterator[Hit]:
    """The numbers that only a label distinguishes from others."""
    for rule, words, pattern in (("passport", PASSPORTS, _passport()), ("bank_account", ACCOUNTS, _bank_account())):
        for at, _ in places(views.lower, words):
            found = pattern.match(views.lower, at)
            if found:
                yield Hit(*found.span(1), rule)


def needs_word(views: FoldedViews, hit: Hit) -> bool:
    """Whether nothing but its digits shows a number that a line end breaks: then a label has to precede it."""
    words = {"mobile": _phone_word(), "bank_card": _card_word()}
    return hit.rule in words and not _precedes(words[hit.rule], views, hit.start)


@cache
def _card_word() -> re.Pattern[str]:
    """A word that the number of a bank card follows."""
    return re.compile(r"(?:卡|账号|帐号|账户|card|account)[^0-9\n]{0,10}\Z")


# What precedes a number and says whose it is: a telephone's, an identity card's, an order's.


LOOK_BACK = 24
"""Characters before a number in which a label is looked for."""


@cache
def _phone_word() -> re.Pattern[str]:
    """A word that a telephone number follows."""
    words = (
        "电话|手机|联系|致电|拨打|热线|座机|传真|客服|号码|微信|tel|phone|mobile|mob|cell|call|fax|whatsapp|wechat|dial"
    )
    return re.compile(rf"(?:{words})[^0-9\n]{{0,12}}\Z")


@cache
def _local_word() -> re.Pattern[str]:
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
def _id_word() -> re.Pattern[str]:
    """A word that the number of an identity card follows."""
    return re.compile(r"(?:身份证|身份號|证件|公民身份|id card|id no|identity)[^0-9\n]{0,10}\Z")


def _precedes(pattern: re.Pattern[str], views: FoldedViews, at: int) -> bool:
    """Whether `pattern`, which ends with the end of what it sees, is found in the characters before `at`."""
    return pattern.search(views.lower, max(0, at - LOOK_BACK), at) is not None


def _counts(views: FoldedViews, start: int) -> bool:
    """Whether what precedes the number says that it is an order's, a parcel's or a build's."""
    return _is_counted(views, start) and not _precedes(_phone_word(), views, start)


def _is_counted(views: FoldedViews, start: int) -> bool:
    chinese, english = _counting_words()
    if _precedes(chinese, views, start) or _precedes(english, views, start):
        return True
    assigned = views.lower[max(0, start - 3) : start]
    return (":" in assigned or "=" in assigned) and _precedes(_counting_field(), views, start)
