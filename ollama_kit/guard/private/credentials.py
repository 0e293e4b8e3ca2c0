"""Finds what opens a door: keys that show what they are, and passwords and keys that a label gives away.

`find_keys` knows vendors' tokens, private key files and passwords inside addresses by their shape. `find_labeled` takes
what follows "password:" or 密码：, unless it is a stand-in such as `****`, `$TOKEN` or `your-key-here`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from math import log2

from ollama_kit.guard.private.rulebook import ANCHORED, SHORTEST_WORD, TOKENS, Hit
from ollama_kit.text.folding import FoldedViews, places

OPENAI_MARK = "T3BlbkFJ"
"""Is in the middle of OpenAI's older keys ("OpenAI" in base64)."""

LONGEST_TOKEN = 400
"""Characters of the longest token of ANCHORED, and more."""


@cache
def _long_words() -> re.Pattern[str]:
    """Long words, with the character before them: so that each place is dismissed once."""
    return re.compile(f"[^A-Za-z0-9_-][A-Za-z0-9_-]{{{SHORTEST_WORD},}}")


@cache
def tokens() -> re.Pattern[str]:
    """All of TOKENS as one pattern, one group per rule; it is tried at the beginning of long words only."""
    each = "|".join(f"(?P<{rule}>{pattern})" for rule, pattern in TOKENS.items())
    return re.compile(f"(?:{each})(?![A-Za-z0-9])")


@cache
def anchored() -> tuple[tuple[str, str, int, re.Pattern[str]], ...]:
    """ANCHORED, compiled: (rule, anchor, characters before it, pattern)."""
    return tuple(
        (rule, anchor, before, re.compile(f"(?<![A-Za-z0-9_-])(?:{pattern})(?![A-Za-z0-9])"))
        for rule, (anchor, before, pattern) in ANCHORED.items()
    )


@cache
def key_block() -> re.Pattern[str]:
    """A PEM or PGP private key. What lies between never holds five dashes, so each is read once; a block that was
    cut off ends with its last base64 character."""
    label = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"
    inside = r"(?:[A-Za-z0-9+/=:,.()\s\\]|-(?!----))*"
    cut_off = r"(?:\\[rn]|\s)*[A-Za-z0-9+/=]{40}(?:[A-Za-z0-9+/=]|(?:\\[rn]|\s){1,4}(?=[A-Za-z0-9+/=]{40}))*"
    return re.compile(rf"-----BEGIN {label}-----(?:{inside}-----END {label}-----|{cut_off})")


@cache
def _base64() -> re.Pattern[str]:
    return re.compile("[A-Za-z0-9+/=]{24}")  # absent where the header is only talked about


@cache
def url_password() -> re.Pattern[str]:
    """`://user:password@host`; the password is group 1."""
    return re.compile(r"""://[^\s/?#:@"'<>]{0,128}:([^\s/?#"'<>]{1,256})@(?=[A-Za-z0-9\[])""")


def find_keys(views: FoldedViews) -> Iterator[Hit]:
    """Every token that a vendor marks as such, every private key, and every password in a URL."""
    yield from _tokens(views.folded)
    if "-----BEGIN " in views.folded:
        for found in key_block().finditer(views.folded):
            if _base64().search(views.folded, *found.span()):
                yield Hit(found.start(), found.end(), "private_key_block")
    if "://" in views.folded:
        for found in url_password().finditer(views.folded):
            if not is_stand_in(found[1]):
                yield Hit(*found.span(1), "url_password")


def _tokens(folded: str) -> Iterator[Hit]:
    pattern = tokens()
    for word in _long_words().finditer("\n" + folded):
        found = pattern.match(folded, word.start())
        if found:
            rule, value = found.lastgroup or "", found[0]
            random = rule != "sk_key" or OPENAI_MARK in value or looks_random(value[3:])
            if len(set(value)) >= 10 and random:
                yield Hit(found.start(), found.end(), rule)
    for rule, anchor, before, exact in anchored():
        for at, _ in places(folded, (anchor,)):
            found = exact.search(folded, max(0, at - before), at + LONGEST_TOKEN)
            if found and found.start() <= at:
                yield Hit(found.start(), found.end(), rule)


# What a label gives away: passwords, and keys without a shape of their own.


LONGEST_VALUE = 160
"""Characters of the longest labeled value."""

_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」", "『": "』", "【": "】"}
_ASSIGNED = r"""(?:["'\]*_`]{0,2}\s{0,3}(?:[:=]{1,2}>?|->|→)\*{0,2}\s{0,3}|>(?=[^<>\s]{1,160}</))"""


@cache
def password_label() -> re.Pattern[str]:
    """An English label and what joins it to its value; group `says` where that is a verb, which proves less."""
    word = r"(?:password|passwd|passphrase|passcode|(?<![a-z])pwd)[0-9]?"
    of = r"(?: (?:for|of|to) [^\n:=]{1,30}?| ?\([^()\n]{1,20}\))?"
    says = r"(?P<says> {1,3}(?:is|was|to|changed to|reset to|set to)(?: now)?[: ] {0,2})"
    flag = r"(?P<flag>(?<=--password)\s{1,3}|(?<=--pwd)\s{1,3})"
    return re.compile(f"{word}(?:{of}(?:{_ASSIGNED}|{says})|{flag})|(?<![a-z])(?:pass|pw)[0-9]?{_ASSIGNED}")


@cache
def chinese_password_label() -> re.Pattern[str]:
    """A Chinese label: group `code` for the short ones that a machine gives out, `says` for 是 and 为, `bare` where
    there is nothing between."""
    word = f"(?:{'|'.join(CHINESE_PASSWORDS[:5])}|(?P<code>{'|'.join(CHINESE_PASSWORDS[5:])}))"
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


PASSWORDS = ("pass", "pwd", "pw")
CHINESE_PASSWORDS = (
    *("密码", "密碼", "口令", "密 码", "口 令"),
    *("授权码", "提取码", "访问码", "验证码", "校验码", "动态码", "取件码", "解锁码", "pin码"),
)
NAMES_OF_SECRETS = ("key", "secret", "token", "credential", "authorization", "密钥", "秘钥", "令牌", "凭证", "私钥")
HEADERS = ("bearer ", "basic ")


def find_labeled(views: FoldedViews) -> Iterator[Hit]:
    """Every value that a label marks as a password, a key or a token."""
    for words, pattern, plausible in (
        (PASSWORDS, password_label(), _is_password),
        (CHINESE_PASSWORDS, chinese_password_label(), _is_chinese_password),
    ):
        for label in _matches(views, words, pattern):
            start, end, quoted = value_at(views, label.end())
            if end - start >= 4 and plausible(views, label, start, end, quoted):
                yield Hit(start, end, "labeled_password")
                if not quoted:
                    yield from _next_line(views, end)
    yield from _phrases(views)
    yield from _secrets(views)


@cache
def _continued() -> re.Pattern[str]:
    """A line end, and a line that is nothing but the end of a word of all sorts of signs."""
    return re.compile(r"\\?\r?\n[ \t>]{0,8}([!-9;<>-~]{1,24})[ \t\r]{0,4}(?=\n|\Z)")


def _next_line(views: FoldedViews, end: int) -> Iterator[Hit]:
    """The rest of a password that a line end broke; on its own, so that the first part is still known by itself."""
    found = _continued().match(views.folded, end)
    if not found or is_stand_in(found[1]) or is_code(found[1]) or "/" in found[1] or "." in found[1]:
        return
    signs = any(sign in found[1] for sign in "!@#$%^&*")
    mixed = any(map(str.isdigit, found[1])) and any(map(str.isalpha, found[1]))
    after_sign = not views.folded[end - 1].isalnum() and found[1].isdigit()
    if signs or mixed or after_sign:
        yield Hit(*found.span(1), "continued_password")


@cache
def _phrase() -> re.Pattern[str]:
    """A passphrase: its label, and three words or more to the end of the line, which are group 1."""
    label = r"pass ?phrase(?:[\"'\]*_`]{0,2}\s{0,3}[:=]\s{0,3}| is )[\"']?"
    return re.compile(label + r"((?:[a-z]{2,12}[ -]){2,11}[a-z]{2,12})[\"']?(?=[.;,]?\s{0,3}(?:\n|\Z))")


@cache
def _prose() -> re.Pattern[str]:
    """Words of a sentence about a passphrase; in one that people choose they are rare."""
    return re.compile(
        r"\b(?:is|are|be|was|were|has|have|had|must|should|can|cannot|may|not|no|an?|the|to|of|for|in|on|at|by|with|from|and|"
        r"or|as|if|than|required|optional|incorrect|invalid|wrong|missing|expired|please|enter|your|you|it|this|that|length|"
        r"characters)\b"
    )


def _phrases(views: FoldedViews) -> Iterator[Hit]:
    for at, _ in places(views.lower, ("passphrase", "pass phrase")):
        found = _phrase().match(views.lower, at)
        if found and not _prose().search(found[1]):
            yield Hit(*found.span(1), "labeled_password")


def is_lone_password(value: str) -> bool:
    """Whether a folded value that stands by itself, in a cell or on a line, can be the password that a label speaks of.

    >>> is_lone_password("Tr0ub4dor&3"), is_lone_password("required"), is_lone_password("2026-03-01")
    (True, False, False)
    """
    if not 4 <= len(value) <= 64 or not _one_word().fullmatch(value) or is_stand_in(value) or is_code(value):
        return False
    if value.count(",") > 1:
        return False  # a row of a table
    if value.isdigit():
        return 4 <= len(value) <= 12
    return _more_than_letters(value) and _number().fullmatch(value) is None


@cache
def _one_word() -> re.Pattern[str]:
    return re.compile("[!-~]*[A-Za-z0-9!@#$%^&*][!-~]*")


@cache
def _number() -> re.Pattern[str]:
    """A date, a range, a version, an address, a percentage: no password."""
    return re.compile(r"v?[0-9]+(?:[-/.:,][0-9]+)+|[0-9.,-]+%?|[^@]+@[a-z0-9-]+\.[a-z.]{2,12}|[a-z]+://.*")


def is_labeled_secret(value: str) -> bool:
    """Whether a folded value that stands by itself can be the key or token that a label speaks of."""
    return _is_secret(value, weak=False)


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
    return re.compile(rf"(?:(?![,;&|][A-Za-z_ ]{{1,24}}[=:]|</|\\[nr])[!-~]){{1,{LONGEST_VALUE}}}")


def value_at(views: FoldedViews, at: int) -> tuple[int, int, bool]:
    """Where the value that begins at `at` starts and ends, and whether quotes held it; (at, at, False) if none does.

    A full-width comma or stop ends a value, an ASCII one need not.
    """
    closing = _QUOTES.get(views.text[at : at + 1])
    if closing:
        end = views.text.find(closing, at + 1, at + 1 + LONGEST_VALUE)
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
    if value.isalpha() and not quoted:  # "password: sunshine" ends there; in "password: must be long" prose continues
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


# Values that only stand for a value: `password: ****`, `token=$TOKEN`, `api_key: your-key-here`.


_WORDS = (
    "password|passwd|passphrase|passcode|pass|pwd|secret|token|key|apikey|string|str|text|bytes|int|integer|"
    "bool|boolean|number|none|null|nil|true|false|undefined|empty|required|optional|unknown|hidden|redacted|"
    "masked|removed|changeme|default|example|test|todo|tbd|admin|user|username|root|yes|no|here|there|this|"
    "that|the|your|mine|field|value|input|prompt|invalid|wrong|incorrect|expired|missing|reset|change|changed|"
    "forgotten|protected"
)


@cache
def _words() -> re.Pattern[str]:
    return re.compile(_WORDS, re.IGNORECASE)


@cache
def _shapes() -> re.Pattern[str]:
    return re.compile(
        r"[*.xX•#_?-]+"  # hidden or left to be filled in
        r"|[$%{<\[(].*"  # $VARIABLE, %VARIABLE%, {{template}}, <fill this in>
        r"|.*(?:\(\)|[(\[]['\"]|\$\{|\{\{|://).*"  # a call, a template, an address
        r"|(?:your|my|the|some|insert|enter|replace|change)[-_ ].*"
        r"|[A-Za-z_.]+\[[A-Za-z_,. |\[]*\]*"  # Optional[str]
        r"|[a-z_]*(?:password|passwd|secret|token)[a-z_]*"  # another variable
        r"|[A-Za-z_]+(?:\.[A-Za-z_][A-Za-z0-9_]*)+"  # settings.api_key
        r"|[A-Z]+(?:_[A-Z0-9]+)+",  # OPENAI_API_KEY
        re.DOTALL,
    )


def is_stand_in(value: str) -> bool:
    """Whether `value` is a word, a variable or a row of stars where a secret would be.

    >>> is_stand_in("${DB_PASSWORD}"), is_stand_in("********"), is_stand_in("Tr0ub4dor&3")
    (True, True, False)
    """
    return _words().fullmatch(value) is not None or _shapes().fullmatch(value) is not None


def is_code(value: str) -> bool:
    """Whether `value`, which no quotes hold, is an expression of a programming language.

    >>> is_code("os.getcwd("), is_code("row[2"), is_code("abc-123")
    (True, True, False)
    """
    return _expression().match(value) is not None


@cache
def _expression() -> re.Pattern[str]:
    return re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,80}[(\[]")


def looks_random(value: str) -> bool:
    """Whether `value` has a part of at least 12 letters and digits, mixed as no word or number is, or is a UUID.

    >>> looks_random("session-token-v1"), looks_random("f3Kq9LmZ2xV7bN4t")
    (False, True)
    """
    parts = _parts().findall(value)
    longest = max(parts, key=len, default="")
    if len(parts) == 5 and [len(part) for part in parts] == [8, 4, 4, 4, 12]:
        longest = "".join(parts)
    has_both = any(map(str.isdigit, longest)) and any(map(str.isalpha, longest))
    return len(longest) >= 12 and has_both and entropy(longest) >= 2.8


@cache
def _parts() -> re.Pattern[str]:
    return re.compile("[A-Za-z0-9]+")


def entropy(value: str) -> float:
    """Bits per character, by the frequencies in `value` itself.

    >>> entropy("abcd")
    2.0
    """
    return -sum(count / len(value) * log2(count / len(value)) for count in Counter(value).values())
