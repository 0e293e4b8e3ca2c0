"""Makes markup in untrusted text inert: what would run, or carry data out, if a reader's program rendered it.

A U+200B is put where the markup starts to mean something: `{|{`, `<|script`, `]|(`, `href|=`. Nothing is taken out,
so a person reads the same text, and a quote of it is still found (see `locate`). What is looked for is what CommonMark
0.31, HTML and Jinja take for markup; each sign is looked for by itself, so that no way to nest them hides one.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

from ollama_kit.guard.control_tokens import BREAK
from ollama_kit.records.report import Finding, Severity, capped
from ollama_kit.text.spans import Changed, Edit, apply

STAGE = "markup"
OPEN_AT_MOST = 64  # brackets and braces that may stand open at once; older ones count as text
ADDRESS_AT_MOST = 300  # characters of an attribute's address looked at
NAME_AT_MOST = 64
SHOWN = 120


@dataclass(frozen=True, slots=True)
class _Mark:
    """A piece of markup. `breaks` are the places where it is broken; none where it may stay as it is."""

    rule: str
    severity: Severity
    start: int
    end: int
    breaks: tuple[int, ...]


def disarm_markup(text: str, source: str) -> tuple[Changed, tuple[Finding, ...]]:
    """The text with every piece of active markup broken, and a finding for each.

    A plain link that carries no data is only flagged (`info`). Idempotent; work is linear in the text.

    >>> changed, findings = disarm_markup("![x](https://a.example/?q=1)", "document 0")
    >>> changed.text.replace("\\u200b", "|"), findings[0].rule, findings[0].span
    ('![x]|(https://a.example/?q=1)', 'markdown_image', (0, 28))
    """
    places: set[int] = set()

    def findings() -> Iterator[Finding]:
        for find in _RULES:
            for mark in find(text):
                places.update(mark.breaks)
                yield _finding(text, mark, source)

    found = capped(findings())
    return apply(text, [Edit(place, place, BREAK) for place in sorted(places)]), found


def _finding(text: str, mark: _Mark, source: str) -> Finding:
    return Finding(
        stage=STAGE,
        rule=mark.rule,
        severity=mark.severity,
        action="neutralized" if mark.breaks else "flagged",
        source=source,
        span=(mark.start, mark.end),
        detail=text[mark.start : min(mark.end, mark.start + SHOWN)],
    )


@cache
def _braces() -> re.Pattern[str]:
    return re.compile(r"(?P<open>\{+)(?=(?P<kind>[%#]))|(?P<doubled>\{{2,})|[}%#](?=\})")


def _template_markup(text: str) -> Iterator[_Mark]:
    """`{{ }}`, `{% %}` and `{# #}`, of Jinja and of Go's templates; each opener is broken, closed or not."""
    if not any(opener in text for opener in ("{{", "{%", "{#")):
        return
    opened: deque[tuple[re.Match[str], str]] = deque()
    count = {"{": 0, "%": 0, "#": 0}
    for match in _braces().finditer(text):
        if match["open"] or match["doubled"]:
            kind = match["kind"] or "{"
            opened.append((match, kind))
            count[kind] += 1
            if len(opened) > OPEN_AT_MOST:
                oldest, kind = opened.popleft()
                count[kind] -= 1
                yield _opener(oldest)
            continue
        closes = "{" if match[0] == "}" else match[0]
        while count[closes]:
            opener, kind = opened.pop()
            count[kind] -= 1
            yield _opener(opener, match.end() + 1 if kind == closes else 0)
            if kind == closes:
                break
    yield from (_opener(opener) for opener, _ in opened)


def _opener(match: re.Match[str], end: int = 0) -> _Mark:
    """The mark of a run of braces, broken after each that another sign follows; `end` is where it is closed."""
    last = match.end() if match["open"] else match.end() - 1
    return _Mark("template_markup", "low", match.start(), end or last + 1, tuple(range(match.start() + 1, last + 1)))


_RUNS = ("script", "iframe", "frame", "frameset", "object", "embed", "applet", "portal", "base", "meta", "link")
_STYLES = ("form", "math", "svg", "style")
_FETCHES = ("img", "image", "video", "audio", "source", "track", "input", "button")


@cache
def _tags() -> re.Pattern[str]:
    names = "|".join((*_RUNS, *_STYLES, *_FETCHES))
    return re.compile(rf"<(?=/?(?P<name>{names})(?:[\s/>]|\Z))(?P<rest>[^<>]{{0,{SHOWN}}}>?)", re.IGNORECASE)


def _html_tags(text: str) -> Iterator[_Mark]:
    for match in _tags().finditer(text):
        yield _Mark("html_tag", "low", match.start(), match.end(), (match.start() + 1,))


_EVENTS = (
    "abort|after|animation|auxclick|before|begin|blur|cancel|canplay|change|click|close|contextmenu|copy|cuechange|cut|"
    "dblclick|drag|drop|durationchange|emptied|end|error|finish|focus|formdata|fullscreen|gotpointer|hashchange|input|"
    "invalid|key|load|lostpointer|message|mouse|offline|online|page|paste|pause|play|pointer|popstate|progress|"
    "ratechange|repeat|reset|resize|scroll|search|seek|select|show|stalled|start|storage|submit|suspend|timeupdate|"
    "toggle|touch|transition|unhandled|unload|volumechange|wait|webkit|wheel"
)


_ADDRESSES = "src|srcset|href|action|formaction|poster|background|ping"


@cache
def _names() -> re.Pattern[str]:
    return re.compile(
        rf"(?<![\w-])(?:(?P<event>on)(?:{_EVENTS})[a-z]{{0,24}}|(?:{_ADDRESSES}))\Z", re.IGNORECASE | re.ASCII
    )


@cache
def _addresses() -> re.Pattern[str]:
    return re.compile(rf"\s*[\"'`]?\s*(?P<address>[^\s\"'<>`]{{0,{ADDRESS_AT_MOST}}})")


def _attributes(text: str) -> Iterator[_Mark]:
    """`onerror=` and its like; `src=`, `href=` … with an address that carries data out, or that is a script.

    They are found by their `=`, whatever stands around: a `>` in quotes before it must not hide one. Addresses are
    looked at and not passed over, since what stands inside one can be an attribute to another reader.
    """
    equals = text.find("=")
    while equals >= 0:
        end = equals
        while end and text[end - 1].isspace():
            end -= 1
        is_name = end > 0 and text[end - 1].isalpha()
        if is_name and (name := _names().search(text[max(0, end - NAME_AT_MOST) : end])):
            start = end - len(name[0])
            if name["event"]:
                yield _Mark("event_handler", "low", start, equals + 1, (start + len("on"),))
            else:
                yield from _address(text, start, end, equals + 1)
        equals = text.find("=", equals + 1)


@cache
def _style_urls() -> re.Pattern[str]:
    return re.compile(r"\((?<=[uU][rR][lL]\()(?<![\w-]....)")


def _styles(text: str) -> Iterator[_Mark]:
    """CSS's `url(` with an address that carries data out."""
    for match in _style_urls().finditer(text):
        yield from _address(text, match.start() - len("url"), match.start(), match.end())


def _address(text: str, start: int, breaks: int, at: int) -> Iterator[_Mark]:
    match = _addresses().match(text, at)
    address = match["address"] if match else ""
    carried = _carried(address, cut=len(address) == ADDRESS_AT_MOST)
    if match and carried in (Link.DATA, Link.SCRIPT):
        yield _Mark(_rule("html_link", carried), "medium", start, match.end(), (breaks,))


@cache
def _brackets() -> re.Pattern[str]:
    # An address ends where the next link would begin (or did, before it was broken), so that none is read twice.
    address = rf"<[^<>\n]*>?|[^\s<>\]]*(?:\](?!{BREAK}?[(:])[^\s<>\]]*)*"
    return re.compile(rf"\[|\](?:(?P<then>[(:])\s*(?P<address>{address}))?")


def _markdown_links(text: str) -> Iterator[_Mark]:
    """`![alt](address)`, `[text](address)` and `[label]: address`; an image is fetched without anyone's click."""
    if "](" not in text and "]:" not in text:
        return
    opened: deque[int] = deque(maxlen=OPEN_AT_MOST)
    at = 0
    while match := _brackets().search(text, at):
        at = match.start() + 1
        if match[0] == "[":
            opened.append(match.start())
            continue
        # What an address holds is looked at again for brackets, since text in it can be a link of its own.
        start = opened.pop() if opened else match.start()
        if match["then"]:
            is_image = match["then"] == "(" and start > 0 and text[start - 1] == "!" and text[start] == "["
            yield from _link(match, start - is_image, is_image)


def _link(match: re.Match[str], start: int, is_image: bool) -> Iterator[_Mark]:
    text, address = match.string, match["address"]
    inline = match["then"] == "("
    if inline and not address.startswith("<"):
        address = _balanced(address)
    end = match.start("address") + len(address)
    carried = _carried(address.strip("<>"), cut=text.startswith(("]", "<"), end) or "](" in address)
    if carried is Link.NOT_REMOTE:
        return
    end += inline and text.startswith(")", end)
    rule = "markdown_image" if is_image else "markdown_link" if inline else "markdown_reference"
    if carried is Link.PLAIN:
        severity: Severity = "low" if is_image else "info"
        yield _Mark(rule, severity, start, end, (match.start() + 1,) if is_image else ())
    else:
        yield _Mark(_rule(rule, carried), "medium", start, end, (match.start() + 1,))


def _carried(address: str, *, cut: bool) -> Link:
    """The kind of an address; one that was not read to its end is taken for the worse."""
    carried = carried_by(address)
    return Link.DATA if cut and carried is Link.PLAIN else carried


def _balanced(address: str) -> str:
    """An address up to the parenthesis that closes the link."""
    depth = 0
    for at, character in enumerate(address):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return address[:at]
    return address


@cache
def _angles() -> re.Pattern[str]:
    return re.compile(r"<(?=[a-z][a-z0-9+.\-]{1,31}:)(?P<address>[^\s<>]*)>?", re.IGNORECASE)


def _autolinks(text: str) -> Iterator[_Mark]:
    for match in _angles().finditer(text):
        carried = carried_by(match["address"])
        if carried in (Link.DATA, Link.SCRIPT):
            yield _Mark(_rule("autolink", carried), "medium", *match.span(), (match.start() + 1,))


def _rule(rule: str, carried: Link) -> str:
    return "script_url" if carried is Link.SCRIPT else rule


_RULES: tuple[Callable[[str], Iterator[_Mark]], ...] = (
    _template_markup,
    _html_tags,
    _attributes,
    _styles,
    _markdown_links,
    _autolinks,
)


# DOC guard.links: """What an address in untrusted text would do if somebody's program opened it."""


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
