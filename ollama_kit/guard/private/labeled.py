"""Finds what a label gives away: passwords, keys without a shape of their own, passports, bank accounts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache

from ollama_kit.guard.private.rules import Hit
from ollama_kit.guard.private.standins import entropy, is_code, is_stand_in, looks_random
from ollama_kit.text.folding import FoldedViews, places

LONGEST = 160
"""Characters of the longest labeled value."""

_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』", "【": "】"}
_ASSIGNED = r"""(?:["'\]]{0,2}\s{0,3}(?:[:=]{1,2}>?|->)\s{0,3}|>(?=[^<>\s]{1,160}</))"""


@cache
def password_label() -> re.Pattern[str]:
    """An English label and what joins it to its value; group `says` where that is a verb, which proves less."""
    word = r"(?:password|passwd|passphrase|passcode|(?<![a-z])pwd)[0-9]?"
    of = r"(?: (?:for|of|to) [^\n:=]{1,30}?| ?\([^()\n]{1,20}\))?"
    says = r"(?P<says> {1,3}(?:is|was|to|changed to|reset to|set to)(?: now)?[: ] {0,2})"
    flag = r"(?P<flag>(?<=--password)\s{1,3}|(?<=--pwd)\s{1,3})"
    return re.compile(f"{word}(?:{of}(?:{_ASSIGNED}|{says})|{flag})|(?<![a-z])pass[0-9]?{_ASSIGNED}")


@cache
def chinese_password_label() -> re.Pattern[str]:
    """A Chinese label: group `code` for the short ones that a machine gives out, `says` for 是 and 为, `bare` where
    nothing stands between."""
    word = f"(?:{'|'.join(CHINESE_PASSWORDS[:3])}|(?P<code>{'|'.join(CHINESE_PASSWORDS[3:])}))"
    aside = r"(?: ?\([^()\n]{1,12}\))?"
    verb = (
        r"(?:[由从][!-~]{1,40}|已经?)?(?:重置|修改|更新|更改|设置|改|设|定|变|换)?(?:是|为|成|到|就是)(?:了)?[: ]{0,3}"
    )
    return re.compile(f"{word}{aside}(?:{_ASSIGNED}|(?P<says> ?{verb})|(?P<bare> ?))(?=[!-~“‘「『【])")


@cache
def secret_label() -> re.Pattern[str]:
    """The name of a key or token, from its last word on, and what joins it to its value."""
    name = "key(?:[ _-]?(?:id|secret))?|credentials?|" + "|".join(NAMES_OF_SECRETS[1:])
    return re.compile(rf"(?:{name})(?:{_ASSIGNED}| {{0,2}}[是为][: ]{{0,2}}| {{1,2}}is {{1,2}})")


@cache
def _key_of() -> re.Pattern[str]:
    """What makes the word "key", which follows, the name of a secret."""
    word = "api|access|secret|private|auth|app|encryption|encrypt|signing|master|account|service|client|shared"
    return re.compile(rf"(?:{word})[ _-]?\Z")


@cache
def bearer() -> re.Pattern[str]:
    """The word before a token in an HTTP header."""
    return re.compile(r"(?:bearer|basic)[ ]{1,3}(?=[a-z0-9])")


@cache
def passport() -> re.Pattern[str]:
    """A passport or travel permit with its label; the number is group 1."""
    between = r"(?:号码|号|编号)?(?: ?(?:no|number|num|id)\b\.?)?(?:[:#()\s]|是|为|is ){0,6}"
    return re.compile(rf"(?:{'|'.join(PASSPORTS)}){between}([a-z]{{0,2}}[0-9]{{7,9}}|[a-z][0-9]{{10}})(?![0-9a-z])")


@cache
def bank_account() -> re.Pattern[str]:
    """An account number with its label; the number is group 1. It need not be a card: nothing but the label tells."""
    number = r"(?:号码)?(?: (?:no|number|num)\b\.?| ?#)?"
    return re.compile(rf"(?:{'|'.join(ACCOUNTS)}){number}[\s:]{{0,4}}[是为]?([0-9](?:[ -]?[0-9]){{11,24}})(?![0-9a-z])")


PASSPORTS = ("护照", "護照", "通行证", "台胞证", "回乡证", "旅行证", "passport")
ACCOUNTS = ("账号", "账户", "帐号", "帐户", "賬號", "賬戶", "account")
PASSWORDS = ("pass", "pwd")
CHINESE_PASSWORDS = (
    *("密码", "密碼", "口令"),
    *("授权码", "提取码", "访问码", "验证码", "校验码", "动态码", "取件码", "解锁码", "pin码"),
)
NAMES_OF_SECRETS = ("key", "secret", "token", "credential", "authorization", "密钥", "秘钥", "令牌", "凭证", "私钥")
HEADERS = ("bearer ", "basic ")


def find_labeled(views: FoldedViews) -> Iterator[Hit]:
    """Every value that a label marks as a secret, a passport or a bank account."""
    for words, pattern, plausible in (
        (PASSWORDS, password_label(), _is_password),
        (CHINESE_PASSWORDS, chinese_password_label(), _is_chinese_password),
    ):
        for label in _matches(views, words, pattern):
            start, end, quoted = value_at(views, label.end())
            if end - start >= 4 and plausible(views, label, start, end, quoted):
                yield Hit(start, end, "labeled_password")
    yield from _secrets(views)
    for found in _matches(views, PASSPORTS, passport()):
        yield Hit(*found.span(1), "passport")
    for found in _matches(views, ACCOUNTS, bank_account()):
        yield Hit(*found.span(1), "bank_account")


def _matches(views: FoldedViews, words: Iterable[str], pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    for at, _ in places(views.lower, words):
        found = pattern.match(views.lower, at)
        if found:
            yield found


def _secrets(views: FoldedViews) -> Iterator[Hit]:
    for label in _matches(views, NAMES_OF_SECRETS, secret_label()):
        at = label.start()
        weak = label[0].startswith("key") and not _key_of().search(views.lower, max(0, at - 12), at)
        part_of_word = weak and "a" <= views.lower[at - 1 : at] <= "z"
        start, end, quoted = value_at(views, label.end())
        value = views.folded[start:end]
        if not part_of_word and (_is_secret(value, weak=weak) or (quoted and not weak and _is_mixed(value))):
            yield Hit(start, end, "labeled_secret")
    for label in _matches(views, HEADERS, bearer()):
        start, end, _ = value_at(views, label.end())
        if _is_secret(views.folded[start:end], weak=False):
            yield Hit(start, end, "bearer_token")


@cache
def _value() -> re.Pattern[str]:
    """Printable ASCII up to what begins the next field of a connection string, a query or a line of code."""
    return re.compile(rf"(?:(?![,;&|][A-Za-z_ ]{{1,24}}[=:]|</|\\[nr])[!-~]){{1,{LONGEST}}}")


def value_at(views: FoldedViews, at: int) -> tuple[int, int, bool]:
    """Where the value that begins at `at` starts and ends, and whether quotes held it; (at, at, False) if none does.

    A full-width comma or stop ends a value, an ASCII one need not.
    """
    closing = _QUOTES.get(views.text[at : at + 1])
    if closing:
        end = views.text.find(closing, at + 1, at + 1 + LONGEST)
        if end > 0 and "\n" not in views.text[at:end]:
            return at + 1, end, True
        at += 1
    found = _value().match(views.folded, at)
    if not found:
        return at, at, False
    end = next(
        (i for i in range(at, found.end()) if views.text[i] > "~" and not views.folded[i].isalnum()), found.end()
    )
    while end > at and views.folded[end - 1] in ".,;:)]}>\"'`":
        end -= 1
    return at, end, False


def _is_password(views: FoldedViews, label: re.Match[str], start: int, end: int, quoted: bool) -> bool:
    value = views.folded[start:end]
    if is_stand_in(value) or (not quoted and is_code(value)) or (quoted and " " in value and value.count(" ") > 4):
        return False
    if label["says"] is not None:
        return quoted or _more_than_letters(value)
    if value.isalpha() and not quoted:  # "password: sunshine" ends there; in "password: must be long" prose goes on
        return value.islower() is False or views.folded[end : end + 1] in ("", "\n", "\r", ",", ";", "<", "&")
    return any(map(str.isalnum, value))


def _is_chinese_password(views: FoldedViews, label: re.Match[str], start: int, end: int, quoted: bool) -> bool:
    value, after = views.folded[start:end], views.text[end : end + 1]
    if is_stand_in(value) or after in tuple("位个次字天年月日条种项分小级"):
        return False
    if label["code"]:
        return value.isascii() and value.isalnum() and len(value) <= 16 and (quoted or _more_than_letters(value))
    if label["bare"] is not None and not quoted:
        return _more_than_letters(value) and (len(value) >= 6 or value.isdigit())
    if label["says"] is not None and not quoted:
        return _more_than_letters(value)
    return any(map(str.isalnum, value))


def _more_than_letters(value: str) -> bool:
    return any(map(str.isdigit, value)) or any(sign in value for sign in "!@#$%^&*")


@cache
def _secret_alphabet() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z0-9_+/=.~:-]{16,}")


def _is_mixed(value: str) -> bool:
    """Whether `value` is one word of all sorts of signs, as frameworks make their own keys."""
    return (
        len(value) >= 24
        and not any(sign in value for sign in " |[](){}<>")
        and _more_than_letters(value)
        and entropy(value) >= 3.8
    )


def _is_secret(value: str, *, weak: bool) -> bool:
    if is_stand_in(value) or not _secret_alphabet().fullmatch(value) or not looks_random(value):
        return False
    mixed = any(map(str.islower, value)) and any(map(str.isupper, value))
    return not weak or (len(value) >= 20 and mixed and entropy(value) >= 3.5)
