"""Says how far a value is carried from where it would be put back: text is read by a person, an address sends it away.

Each place is judged by what stands around it, at most CONTEXT characters on either side, and where two programs read a
text differently, by the one that would send more: an address ends at white space only, as in GitHub's Markdown.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal

Reach = Literal["text", "attribute", "address"]
"""Read only; in an attribute of HTML; in an address, a link, an image or a script."""

CONTEXT = 2000
LONGEST_LINK = 1000
"""Characters of a link's text, and of its target, on either side of a place."""

_TAGS = (
    "a|abbr|address|area|article|aside|audio|b|base|bdi|bdo|blockquote|body|br|button|canvas|caption|center|cite|code|"
    "col|data|dd|del|details|dfn|dialog|div|dl|dt|em|embed|fieldset|figcaption|figure|font|footer|form|frame|frameset|"
    "h[1-6]|head|header|hr|html|i|iframe|image|img|input|ins|kbd|label|legend|li|link|main|map|mark|marquee|math|menu|"
    "meta|meter|nav|noscript|object|ol|optgroup|option|output|p|param|picture|pre|progress|q|s|samp|script|section|"
    "select|slot|small|source|span|strong|style|sub|summary|sup|svg|table|tbody|td|template|textarea|tfoot|th|thead|"
    "time|title|tr|track|u|ul|use|var|video|wbr"
)


def reach_of(text: str, start: int, end: int) -> Reach:
    """How far what is put in the place of `start`:`end` would be carried.

    >>> text = "see http://evil.example/[X] or [X]"
    >>> reach_of(text, 24, 27), reach_of(text, 31, 34)
    ('address', 'text')
    """
    before, after = text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]
    inside = _behind(before)
    if inside != "text":
        return inside
    if _continues().match(after) or _opens_target(before, after) or _in_link_text(before, after):
        return "address"
    return "text"


def is_settled(text: str, start: int, end: int) -> bool:
    """Whether nothing that may yet follow `text` could change the reach of `start`:`end`."""
    before, after = text[max(0, start - CONTEXT) : start], text[end : end + CONTEXT]
    if len(after) == CONTEXT or _behind(before) != "text":
        return True
    word = _word().match(after)
    if word and word.end() == len(after):
        return False
    if after.startswith("(") and not _target_ends().search(after, 1):
        return False
    return all(_closing(after, depth) is not None for depth in _open_brackets(before))


def _behind(before: str) -> Reach:
    """What the text in front alone decides."""
    if _address().search(_last_word(before)) or _css().search(before) or _in_target(before) or _in_element(before):
        return "address"
    tag = _open_tag(before)
    if tag is None:
        return "text"
    return "address" if _carries().search(tag) else "attribute"


# -- addresses


@cache
def _address() -> re.Pattern[str]:
    """The beginning of an address, in a word that has not ended."""
    return re.compile(
        r"[a-z][a-z0-9+.-]{1,15}:(?:\\{0,2}/){2}|(?:https?|ftp|wss?):|file:[/\\]|(?:\\{0,2}/){2}[a-z0-9]|\\\\[a-z0-9]|www\."
        r"|(?:mailto|javascript|vbscript|blob|magnet):|data:[a-z]{1,20}/|@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}\?"
        r"|[a-z0-9-]\.[a-z]{2,24}(?::[0-9]{1,5})?[/?#\\]",
        re.IGNORECASE,
    )


def _last_word(before: str) -> str:
    """The word that has not ended. ASCII white space and `<` alone end an address: cmark-gfm takes all else into it."""
    return before[_word_start(before) :]


def _word_start(before: str) -> int:
    at = len(before)
    while at and before[at - 1] not in " \t\r\n\f\v<":
        at -= 1
    return at


_DOMAINS = (
    "com|net|org|cn|io|ai|app|dev|co|me|info|biz|xyz|top|site|online|club|vip|shop|cc|tv|us|uk|de|fr|eu|jp|kr|ru|in|br|"
    "au|ca|ch|nl|se|no|es|it|pl|hk|tw|sg|edu|gov|mil|int|link|live|cloud|tech|pro|example|test|invalid|localhost|onion"
)


@cache
def _word() -> re.Pattern[str]:
    """What may follow a place and make an address of it."""
    return re.compile(r"[A-Za-z0-9_.%+~@:/-]*")


@cache
def _continues() -> re.Pattern[str]:
    """What behind a place makes it the beginning of an address: a host, with the place as its first part or a user."""
    label = "[a-z0-9_-]{0,63}"
    return re.compile(
        rf"[a-z0-9_.%+~-]{{0,64}}(?::[a-z0-9_.%+~-]{{0,64}})?@[a-z0-9-]{{1,63}}(?:\.[a-z0-9-]{{1,63}}){{1,8}}"
        rf"|{label}(?:\.[a-z0-9_-]{{1,63}}){{1,8}}(?:[/?#]|:[0-9])"
        rf"|{label}(?:\.[a-z0-9_-]{{1,63}}){{0,8}}\.(?:{_DOMAINS})(?![a-z0-9_-])"
        r"|[a-z0-9+.-]{0,16}:/{2}",
        re.IGNORECASE,
    )


# -- HTML


@cache
def _tag_name() -> re.Pattern[str]:
    assigned = r"[a-z][a-z0-9:-]{0,40}\s[^<>]{0,200}?[a-z:-]\s{0,3}="
    return re.compile(rf"</?(?:(?:{_TAGS})(?![a-z0-9])|{assigned})", re.IGNORECASE)


def _open_tag(before: str) -> str | None:
    """The tag that the end of a text is inside of, None outside."""
    at = before.rfind("<")
    for _ in range(8):
        if at < 0:
            return None
        if _tag_name().match(before, at) and not _tag_closes(before, at + 1):
            return before[at:]
        at = before.rfind("<", 0, at)
    return None


def _tag_closes(text: str, at: int) -> bool:
    """Whether a `>` outside of quotation marks follows."""
    quote = previous = ""
    for sign in text[at:]:
        if quote:
            quote = "" if sign == quote else quote
        elif sign == ">":
            return True
        elif sign in "\"'" and previous == "=":
            quote = sign
        previous = previous if sign.isspace() else sign
    return False


@cache
def _carries() -> re.Pattern[str]:
    """An attribute, open at the end, whose value is an address, a style or a script, or holds an address."""
    names = (
        "href|src|srcset|action|formaction|poster|data|cite|background|ping|longdesc|manifest|srcdoc|style|classid|"
        "codebase|dynsrc|lowsrc|profile|usemap|icon|on[a-z]{1,30}|[a-z]{1,20}:href"
    )
    value = r"""(?:"[^"]*|'[^']*|[^\s"'>]*)"""
    holding = rf"[a-z:_-]{{1,40}}\s{{0,3}}=\s{{0,3}}{value}(?:/{{2}}|[a-z]:|url)[^\"']*"
    return re.compile(rf"[\s\"'/](?:(?:{names})\s{{0,3}}=\s{{0,3}}{value}|{holding})\Z", re.IGNORECASE)


def _in_element(before: str) -> bool:
    """Whether a script or a style has begun and not ended."""
    lower = before.lower()
    return any(lower.rfind(f"<{name}") > lower.rfind(f"</{name}") for name in ("script", "style"))


@cache
def _css() -> re.Pattern[str]:
    return re.compile(r"url\(\s{0,3}[\"']?[^)\s\"']{0,1000}\Z", re.IGNORECASE)


# -- Markdown


def _in_target(before: str) -> bool:
    """Whether the target of a link or an image has begun and not ended: `[text](http://… "title`."""
    at = before.rfind("](")
    if at < 0 or len(before) - at > LONGEST_LINK or _paragraph_ends(before, at):
        return False
    depth, quote, at = 0, "", at + 2
    for previous, sign in zip(before[at - 1 :], before[at:], strict=False):
        if previous == "\\":
            continue
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'" and previous.isspace():
            quote = sign
        elif sign == "(":
            depth += 1
        elif sign == ")":
            depth -= 1
            if depth < 0:
                return False
    return True


@cache
def _target_ends() -> re.Pattern[str]:
    return re.compile(r"[)\n]")


@cache
def _target() -> re.Pattern[str]:
    """What in round brackets is the target of a link, and no remark."""
    address = r"[a-z][a-z0-9+.-]{1,15}:|[/#?.\\]|www\.|[^()\s]{0,500}(?:/|\.[a-z]{2})"
    return re.compile(rf"\([ \t]{{0,3}}<?(?:{address})", re.IGNORECASE)


def _opens_target(before: str, after: str) -> bool:
    """Whether the place is itself the text of a link or an image: `[X](http://…)`, `![X][1]`."""
    if before.endswith("!") and after[:1] in ("(", "["):
        return True
    return _target().match(after) is not None


def _in_link_text(before: str, after: str) -> bool:
    """Whether the place is inside the text of a link or an image: `[see X here](http://…)`."""
    for depth in _open_brackets(before):
        at = _closing(after, depth)
        if at is not None and after[at : at + 1] in ("(", "["):
            return True
    return False


def _open_brackets(before: str) -> range:
    """The brackets that have opened and not closed in this paragraph, innermost first: 0, 1, …"""
    depth = opened = 0
    first = max(0, len(before) - LONGEST_LINK, before.rfind("\n\n") + 1)
    for at in range(len(before) - 1, first - 1, -1):
        sign = before[at]
        if sign == "]" and before[at - 1 : at] != "\\":
            depth += 1
        elif sign == "[" and before[at - 1 : at] != "\\":
            if depth:
                depth -= 1
            else:
                opened += 1
    return range(opened)


def _closing(after: str, depth: int) -> int | None:
    """Behind the bracket that closes the one of `depth`; the length of the text if none does before the paragraph or
    the longest link ends; None if that is not known yet."""
    for at, sign in enumerate(after[:LONGEST_LINK]):
        if sign == "[" and after[at - 1 : at] != "\\":
            depth += 1
        elif sign == "]" and after[at - 1 : at] != "\\":
            depth -= 1
            if depth < 0:
                return at + 1 if at + 1 < len(after) else None
        elif sign == "\n" and after[at + 1 : at + 2] == "\n":
            return len(after)
    return len(after) if len(after) >= LONGEST_LINK else None


def _paragraph_ends(text: str, at: int) -> bool:
    return text.find("\n\n", at) >= 0
