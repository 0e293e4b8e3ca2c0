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
from functools import cache

from ollama_kit.guard.bounded import bounded
from ollama_kit.guard.control_tokens import BREAK
from ollama_kit.guard.links import Link, carried_by
from ollama_kit.guard.report import Finding, Severity
from ollama_kit.guard.spans import Changed, Edit, apply

STAGE = "markup"
OPEN_AT_MOST = 64  # brackets and braces that may stand open at once; older ones count as text
ADDRESS_AT_MOST = 300  # characters of an attribute's address looked at
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

    found = bounded(findings())
    return apply(text, [Edit(place, place, BREAK) for place in sorted(places)]), found


def _finding(text: str, mark: _Mark, source: str) -> Finding:
    return Finding(
        stage=STAGE,
        rule=mark.rule,
        severity=mark.severity,
        action="neutralised" if mark.breaks else "flagged",
        source=source,
        span=(mark.start, mark.end),
        detail=text[mark.start : min(mark.end, mark.start + SHOWN)],
    )


@cache
def _braces() -> re.Pattern[str]:
    return re.compile(r"(?P<open>\{+)(?=(?P<kind>[%#]))|(?P<doubled>\{{2,})|[}%#](?=\})")


def _template_markup(text: str) -> Iterator[_Mark]:
    """`{{ }}`, `{% %}` and `{# #}`, of Jinja and of Go's templates; each opener is broken, closed or not."""
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
        severity: Severity = "low" if match["name"].lower() in _FETCHES else "medium"
        yield _Mark("html_tag", severity, match.start(), match.end(), (match.start() + 1,))


_EVENTS = (
    "abort|after|animation|auxclick|before|begin|blur|cancel|canplay|change|click|close|contextmenu|copy|cuechange|cut|"
    "dblclick|drag|drop|durationchange|emptied|end|error|finish|focus|formdata|fullscreen|gotpointer|hashchange|input|"
    "invalid|key|load|lostpointer|message|mouse|offline|online|page|paste|pause|play|pointer|popstate|progress|"
    "ratechange|repeat|reset|resize|scroll|search|seek|select|show|stalled|start|storage|submit|suspend|timeupdate|"
    "toggle|touch|transition|unhandled|unload|volumechange|wait|webkit|wheel"
)


@cache
def _handlers() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])on(?=(?:{_EVENTS})[a-z]{{0,24}}\s*=)", re.IGNORECASE | re.ASCII)


def _event_handlers(text: str) -> Iterator[_Mark]:
    """`onerror=` and its like, whatever stands around: a `>` in quotes before it must not hide it."""
    for match in _handlers().finditer(text):
        yield _Mark("event_handler", "medium", match.start(), text.index("=", match.end()) + 1, (match.end(),))


@cache
def _attributes() -> re.Pattern[str]:
    names = "src|srcset|href|action|formaction|poster|background|ping"
    address = rf"[^\s\"'<>`]{{0,{ADDRESS_AT_MOST}}}"
    return re.compile(
        rf"(?<![\w-])(?:{names})(?=\s*=\s*[\"'`]?\s*(?P<address>{address}))|"
        rf"(?<![\w-])url(?=\(\s*[\"']?\s*(?P<css>{address}))",
        re.IGNORECASE,
    )


def _html_links(text: str) -> Iterator[_Mark]:
    """`src=`, `href=` … and CSS's `url(` to an address that carries data out, or that is a script.

    Addresses are looked at and not passed over: what stands inside one can be an attribute to another reader.
    """
    for match in _attributes().finditer(text):
        group = "address" if match["css"] is None else "css"
        carried = _carried(match[group], cut=len(match[group]) == ADDRESS_AT_MOST)
        if carried in (Link.DATA, Link.SCRIPT):
            yield _Mark(_rule("html_link", carried), "medium", match.start(), match.end(group), (match.end(),))


@cache
def _brackets() -> re.Pattern[str]:
    # An address ends where the next link would begin (or did, before it was broken), so that none is read twice.
    address = rf"<[^<>\n]*>?|[^\s<>\]]*(?:\](?!{BREAK}?[(:])[^\s<>\]]*)*"
    return re.compile(rf"(?P<open>!?\[)|\](?P<then>[(:])\s*(?P<address>{address})|\]")


def _markdown_links(text: str) -> Iterator[_Mark]:
    """`![alt](address)`, `[text](address)` and `[label]: address`; an image is fetched without anyone's click."""
    opened: deque[tuple[int, bool]] = deque(maxlen=OPEN_AT_MOST)
    at = 0
    while match := _brackets().search(text, at):
        if match["open"]:
            opened.append((match.start(), match["open"] == "!["))
            at = match.end()
            continue
        # What an address holds is looked at again for brackets, since text in it can be a link of its own.
        at = match.start() + (2 if match["then"] else 1)
        start, is_image = opened.pop() if opened else (match.start(), False)
        if match["then"]:
            yield from _link(match, start, is_image and match["then"] == "(")


def _link(match: re.Match[str], start: int, is_image: bool) -> Iterator[_Mark]:
    text, address = match.string, match["address"]
    inline = match["then"] == "("
    if inline and not address.startswith("<"):
        address = _balanced(address)
    end = match.start("address") + len(address)
    carried = _carried(address.strip("<>"), cut=text.startswith("]", end) or "](" in address)
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
    _event_handlers,
    _html_links,
    _markdown_links,
    _autolinks,
)
