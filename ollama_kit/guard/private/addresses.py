"""Finds network addresses: e-mail, IPv4 and IPv6, MAC."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from ollama_kit.guard.private.rulebook import Hit
from ollama_kit.text.folding import FoldedViews, places

LOCAL_PART = 64
"""Characters that RFC 5321 allows before the @."""

LONGEST_USERINFO = 260
LIST_GAP = 4
"""Characters, one more than may be between an address and the next of a list."""

_LOCAL = "abcdefghijklmnopqrstuvwxyz0123456789._%+-"
_FILES = re.compile("png|jpe?g|gif|svg|webp|ico|css|js|ts|json|html?|md|txt|pdf|py|go|rs|zip|gz|ya?ml|local")


def find_addresses(views: FoldedViews) -> Iterator[Hit]:
    """Every e-mail address, IP address and MAC address."""
    yield from _emails(views)
    yield from _ipv4(views)
    yield from _colons(views)


@cache
def _domain() -> re.Pattern[str]:
    label = "[a-z0-9一-鿿][a-z0-9一-鿿-]{0,62}"
    return re.compile(rf"@(?:{label}\.){{1,8}}([a-z]{{2,24}}|中国|公司|网络|集团|在线|商城|网址|企业)(?![a-z0-9-])")


@cache
def _written_domain() -> re.Pattern[str]:
    """What people write for the at sign, so that no program finds their address, and the domain."""
    label = "[a-z0-9][a-z0-9-]{0,62}"
    return re.compile(rf"[\[(]at[\])] {{0,2}}(?:{label}\.){{1,8}}(?:com|cn|net|org|edu|gov|io|de|uk|eu)(?![a-z0-9-])")


@cache
def _written_hash() -> re.Pattern[str]:
    """A hash instead of the at sign, and the note that says so: zhang#example.com (把#换成@)."""
    return re.compile(r"#((?:[a-z0-9][a-z0-9-]{0,62}\.){1,8}[a-z]{2,24})(?=[^\n]{0,16}#[^\n]{0,8}(?:@|at))")


def _emails(views: FoldedViews) -> Iterator[Hit]:
    for found in _domain().finditer(views.lower):
        at, end = found.span()
        start = _start_of_local(views.lower, at)
        is_remote = views.lower[start:at] == "git" and views.lower[end : end + 1] == ":"
        if _is_userinfo(views, start) or start == at or is_remote or _is_sample(views.lower[start:at], found[0]):
            continue
        if not _FILES.fullmatch(found[1] or "") and views.lower[start - 2 : start] != "//":
            yield Hit(start, end, "email")
    for sign, pattern in (("(at)", _written_domain()), ("[at]", _written_domain()), ("#", _written_hash())):
        for at, _ in places(views.lower, (sign,)):
            written = pattern.match(views.lower, at)
            gap = _walk_back(views.lower, at, " ", 2)
            start = _start_of_local(views.lower, gap if sign != "#" else at) if written else at
            if written and start < gap:
                yield Hit(start, written.end(), "email")


def _start_of_local(text: str, at: int) -> int:
    start = _walk_back(text, at, _LOCAL, LOCAL_PART)
    while start < at and text[start] in ".-":
        start += 1
    return start


def _is_sample(local: str, domain: str) -> bool:
    """Whether an address only shows what one looks like: xxx@xxx.com, ***@qq.com."""
    return set(local) <= {"x", "*", "."} or set(domain.split(".")[0]) <= {"@", "x"}


@cache
def _userinfo() -> re.Pattern[str]:
    return re.compile(r"://[^\s/?#:@]{0,128}:[^\s/?#@]{0,128}\Z")


def _is_userinfo(views: FoldedViews, start: int) -> bool:
    """Whether what precedes is `://user:` and the beginning of a password."""
    scheme = views.folded.rfind("://", max(0, start - LONGEST_USERINFO), start)
    return scheme >= 0 and _userinfo().match(views.folded, scheme, start) is not None


@cache
def _last_three() -> re.Pattern[str]:
    """What follows the first octet: a pattern that begins with a literal is found faster."""
    return re.compile(r"\.[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(?![0-9A-Za-z_]|\.[0-9])")


@cache
def _net_word() -> re.Pattern[str]:
    words = (
        "ip|地址|主机|服务器|网关|内网|外网|公网|节点|dns|host|server|gateway|ping|ssh|telnet|addr|address|from|proxy|代理|"
        "client|remote|login|登录|登陆|访问|连接|connect|listen"
    )
    return re.compile(rf"(?:(?:{words})[^0-9\n]{{0,10}}|://|@)\Z")


@cache
def _version_word() -> re.Pattern[str]:
    words = (
        "版本|升级|更新|固件|内核|补丁|第|章|节|v|ver|version|rc|release|firmware|kernel|build|upgrade|chapter|section"
    )
    return re.compile(rf"(?:(?:{words})[^0-9\n]{{0,6}}|[a-z]/|==|~=|>=)\Z")


def _ipv4(views: FoldedViews) -> Iterator[Hit]:
    listed = -LIST_GAP
    for found in _last_three().finditer(views.folded):
        start, end = _walk_back(views.folded, found.start(), "0123456789", 3), found.end()
        before = views.folded[start - 1 : start]
        if _runs_on(before) or before == ".":
            continue
        try:
            address = IPv4Address(views.folded[start:end])
        except AddressValueError:
            continue
        unowned = address.is_loopback or address.is_unspecified or address.packed[0] == 255
        in_list = start - listed < LIST_GAP
        if not unowned and (in_list or _names_a_machine(views, start, end, address.packed)):
            listed = end
            yield Hit(start, end, "ipv4")


def _names_a_machine(views: FoldedViews, start: int, end: int, octets: bytes) -> bool:
    """Whether four numbers are an address: a word says so, or no word says version or chapter and they are too
    large for one."""
    after, window = views.folded[end : end + 1], max(0, start - 20)
    if after in (":", "/") or _net_word().search(views.lower, window, start):
        return True
    if after in tuple("条款节章版") or _version_word().search(views.lower, window, start):
        return False
    return octets[0] == 10 or (octets[0] > 10 and max(octets) >= 32)


def _walk_back(text: str, at: int, alphabet: str, most: int) -> int:
    start = at
    while start > 0 and at - start < most and text[start - 1] in alphabet:
        start -= 1
    return start


@cache
def _groups(fewest: int) -> re.Pattern[str]:
    """What may follow the first group of an IPv6 address, of at least `fewest` more, or the first byte of a MAC."""
    return re.compile(
        rf":[0-9a-f]{{0,4}}(?::[0-9a-f]{{0,4}}){{{fewest - 1},8}}|-[0-9a-f]{{2}}(?:-[0-9a-f]{{2}}){{4}}(?![0-9a-z-])"
    )


def _colons(views: FoldedViews) -> Iterator[Hit]:
    """MAC and IPv6 addresses; the colon of a label ("IP:") may precede the first group."""
    shortened = "::" in views.lower  # else a time of day ("10:23:") need not be looked at
    for found in _groups(2 if shortened else 5).finditer(views.lower):
        at, end = found.span()
        if found[0][0] == ":" and found[0].count(":") < 5 and "::" not in found[0]:
            continue
        for start in (_walk_back(views.lower, at, "0123456789abcdef", 4), at + 1):
            value = views.lower[start:end]
            if value.endswith(":") and not value.endswith("::"):
                value = value[:-1]
            if _runs_on(views.lower[start - 1 : start]) or _runs_on(views.lower[end : end + 1]):
                continue
            if _is_mac(value) or _is_ipv6(value):
                yield Hit(start, start + len(value), "mac" if _is_mac(value) else "ipv6")
                break


def _runs_on(neighbor: str) -> bool:
    return bool(neighbor) and neighbor.isascii() and (neighbor.isalnum() or neighbor in "_-")


@cache
def _mac() -> re.Pattern[str]:
    return re.compile(r"[0-9a-f]{2}([:-])[0-9a-f]{2}(?:\1[0-9a-f]{2}){4}")


def _is_mac(value: str) -> bool:
    """With dashes it must hold a letter: six pairs of digits are a time as well."""
    return _mac().fullmatch(value) is not None and (":" in value or any(map(str.isalpha, value)))


def _is_ipv6(value: str) -> bool:
    """Whether `value` is an address that a machine can have: global, unique local or link local."""
    try:
        address = IPv6Address(value)
    except AddressValueError:
        return False
    local = value.startswith(("fe80:", "fc", "fd"))
    return (local or value[:1] in ("2", "3")) and len(value.split(":")[0]) == 4 and not address.is_multicast
