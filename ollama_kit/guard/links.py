"""What an address in untrusted text would do if somebody's program opened it."""

from __future__ import annotations

import re
from enum import Enum
from functools import cache


class Link(Enum):
    """NOT_REMOTE stays on this machine; PLAIN names a page; DATA can carry something out; SCRIPT runs."""

    NOT_REMOTE = 0
    PLAIN = 1
    DATA = 2
    SCRIPT = 3


def carried_by(address: str) -> Link:
    """The kind of an address as it stands in Markdown or HTML. Work is linear in it.

    Data is a query, a name before `@`, a host that is a number, a place to be filled in (`{secret}`, `$KEY`, `<…>`,
    `[…]`), or a long part of the path or the host that is no word. What hides its own form (entities, backslashes)
    is taken for the worse.

    >>> carried_by("https://a.example/p").name, carried_by("https://a.example/?q=1").name, carried_by("p.png").name
    ('PLAIN', 'DATA', 'NOT_REMOTE')
    """
    plain = re.sub(r"[\t\r\n]", "", address)  # as the URL standard does
    if _scripts().match(plain):
        return Link.SCRIPT
    if _hides_its_form().search(plain):
        return Link.DATA
    if not (found := _remote().match(plain)):
        return Link.NOT_REMOTE
    return Link.DATA if _carries(plain[found.end() :], found[0]) else Link.PLAIN


@cache
def _scripts() -> re.Pattern[str]:
    return re.compile(r"\s*(?:javascript|vbscript|livescript|data:\s*(?:text|application|image/svg))\b", re.IGNORECASE)


@cache
def _hides_its_form() -> re.Pattern[str]:
    return re.compile(r"&(?:#|colon|sol|bsol|quest|tab|newline)|\\[:/\\?]|^\\\\", re.IGNORECASE)


@cache
def _remote() -> re.Pattern[str]:
    # A scheme of the web works without its slashes too; other words before a colon are just words.
    return re.compile(
        r"(?:https?|ftp|wss?|file|mailto|sms|blob):|[a-z][a-z0-9+.\-]{1,31}:(?=//)|//(?=[\w\[])", re.IGNORECASE
    )


@cache
def _numeric_host() -> re.Pattern[str]:
    # Dotted, octal, hexadecimal or one number: whatever a browser reads as IPv4; and IPv6 in brackets.
    return re.compile(r"(?:0x[0-9a-f]+|\d+)(?:\.(?:0x[0-9a-f]+|\d+)){0,3}(?=[:/?#]|$)|\[[0-9a-f:.]+\]", re.IGNORECASE)


@cache
def _unreadable() -> re.Pattern[str]:
    """A run as long as an encoded sentence that no title in a path would be: 32 characters and a digit or capital."""
    return re.compile(r"[A-Za-z0-9_+=%-]{32,}")


_DIGESTS = (32, 40, 64)  # MD5, SHA-1, SHA-256 in hexadecimal: how stores of pictures name them


def _carries(rest: str, scheme: str) -> bool:
    """Whether what follows the scheme can hold data."""
    rest = rest.lstrip("/\\")
    sent = rest.partition("#")[0]
    if _opens().search(sent):
        return True
    if scheme.lower() in ("mailto:", "sms:") or _this_machine().match(rest):
        return False
    if _numeric_host().match(rest) or "@" in re.split(r"[/?]", sent, maxsplit=1)[0]:
        return True
    return any(_looks_encoded(run[0]) for run in _unreadable().finditer(sent))


@cache
def _opens() -> re.Pattern[str]:
    """A query, or a place to be filled in."""
    return re.compile(r"[?{}$<>]|\[(?![0-9a-f:.]+\])", re.IGNORECASE)


@cache
def _this_machine() -> re.Pattern[str]:
    """What an exporter of chats writes: it serves the pictures itself."""
    return re.compile(r"(?:localhost|127\.[\d.]+|\[::1\])(?=[:/#]|\Z)", re.IGNORECASE)


def _looks_encoded(run: str) -> bool:
    if len(run) in _DIGESTS and re.fullmatch("[0-9a-fA-F]+", run):
        return False
    words = [word for word in re.split(r"[-_+]", run) if word]
    return max(map(len, words), default=0) >= 24 and any(
        character.isdigit() or character.isupper() for character in run
    )
