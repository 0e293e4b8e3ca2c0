"""Finds keys that show what they are: vendors' tokens, private key files, passwords inside addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.guard.private.rules import ANCHORED, SHORTEST_WORD, TOKENS, Hit
from ollama_kit.guard.private.standins import is_stand_in, looks_random
from ollama_kit.text.folding import FoldedViews, places

OPENAI_MARK = "T3BlbkFJ"
"""Is in the middle of OpenAI's older keys ("OpenAI" in base64)."""

LONGEST = 400
"""Characters of the longest token of ANCHORED, and more."""


@cache
def _long_words() -> re.Pattern[str]:
    """Long words, with the character before them: so that each place is dismissed once."""
    return re.compile(f"[^A-Za-z0-9_-][A-Za-z0-9_-]{{{SHORTEST_WORD},}}")


@cache
def tokens() -> re.Pattern[str]:
    """All of TOKENS as one pattern, a group a rule; it is tried at the beginning of long words only."""
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
            found = exact.search(folded, max(0, at - before), at + LONGEST)
            if found and found.start() <= at:
                yield Hit(found.start(), found.end(), rule)
