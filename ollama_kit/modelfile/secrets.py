"""Finds keys and passwords in text that everybody on a server can read."""

from __future__ import annotations

import re
from itertools import islice

_MOST_OF_A_KIND = 20  # a text with more is a list of them; nobody reads more findings
_SHAPES = (
    ("a private key", re.compile(r"-----BEGIN (?:[A-Z]{2,12} ){0,3}PRIVATE KEY-----")),
    ("an AWS access key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b")),
    ("a GitHub token", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})\b")),
    ("a Slack token", re.compile(r"\bxox[abeprs]-[A-Za-z0-9-]{10,250}\b")),
    ("a Hugging Face token", re.compile(r"\bhf_[A-Za-z0-9]{30,100}\b")),
    ("a Google API key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}\b")),
    ("an API key", re.compile(r"\bsk-(?:[A-Za-z]{2,12}-){0,3}[A-Za-z0-9_-]{20,200}")),
    ("a JSON Web Token", re.compile(r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}")),
    ("a URL with a password", re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{1,100}:[^\s/@]{3,100}@[^\s/]")),
    (
        "a password or key",
        re.compile(
            r"(?:\b(?:api[_-]?key|secret(?:[_-]?key)?|access[_-]?token|password|passwd)|密码|口令|密钥)"
            r"['\"]?\s{0,3}(?:[:=:]|是|为)\s{0,3}['\"]?(?=[^\s'\"]{0,100}[0-9])[A-Za-z0-9_\-/+=.!@#$%^&*]{8,200}",
            re.IGNORECASE,
        ),
    ),
)


def find_secrets(text: str) -> tuple[tuple[int, str], ...]:
    """(offset, what it looks like) of each secret in the text, in order; never the secret itself.

    >>> find_secrets("key: AKIA" + "ABCDEFGHIJKLMNOP")
    ((5, 'an AWS access key'),)
    """
    found: dict[int, str] = {}
    covered: list[range] = []
    for what, shape in _SHAPES:
        for match in islice(shape.finditer(text), _MOST_OF_A_KIND):
            if not any(match.start() in span or span.start in range(*match.span()) for span in covered):
                found[match.start()] = what
                covered.append(range(*match.span()))
    return tuple(sorted(found.items()))
