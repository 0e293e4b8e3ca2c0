"""Which values only stand for a value: `password: ****`, `token=$TOKEN`, `api_key: your-key-here`."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from math import log2

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
    """Bits a character, by the frequencies in `value` itself.

    >>> entropy("abcd")
    2.0
    """
    return -sum(count / len(value) * log2(count / len(value)) for count in Counter(value).values())
