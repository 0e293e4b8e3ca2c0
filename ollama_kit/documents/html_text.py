"""The text of an HTML page as a reader sees it: blocks as paragraphs, rows of tables with tabs, numbers of lists.

Which elements are hidden is decided by attributes, inline styles, and simple rules of the page's style sheets: those
whose selector is a tag, a class or an id. What only a browser can tell (cascades, scripts, computed positions) is not
known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

from ollama_kit.documents.document import DocumentLimits, HiddenRule, HiddenText, ParagraphRole
from ollama_kit.documents.draft import Aside, Draft, DraftParagraph
from ollama_kit.errors import DocumentError

_BLOCK_NAMES = (
    "address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 head header hr html li main nav ol p pre section summary table tbody tfoot thead title tr"
    " ul"
)
_BLOCKS = frozenset(_BLOCK_NAMES.split(" "))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr")
)
_SILENT = frozenset(
    ("script", "style", "template", "noscript", "svg", "head", "iframe", "object", "select", "textarea")
)
"""Elements whose text is not part of the page's."""
_CELLS = frozenset(("td", "th"))
_CLOSED_BY = {
    "li": frozenset(("li",)),
    "p": _BLOCKS,
    "td": frozenset(("td", "th", "tr")),
    "th": frozenset(("td", "th", "tr")),
    "tr": frozenset(("tr",)),
    "dt": frozenset(("dt", "dd")),
    "dd": frozenset(("dt", "dd")),
}
"""Elements that end, without an end tag, where one of the others begins."""
_SPACE = re.compile(r"[ \t\r\n\f]+")


def read_html(text: str, path: Path, limits: DocumentLimits) -> Draft:
    """The draft of a page. DocumentError where elements are nested deeper than the limit."""
    reader = _Reader(path, limits)
    reader.feed(text)
    reader.close()
    reader.end_block()
    if reader.scripts:
        reader.draft.warnings.append(f"{reader.scripts} script(s) were left out, with what they would have written")
    return reader.draft


@dataclass(slots=True)
class _Element:
    tag: str
    appearance: Appearance
    silent: bool
    count: int = 0
    """Of items, in a numbered list."""


@dataclass(slots=True)
class _Block:
    """The paragraph being gathered: its text and, in a row of a table, the texts of the cells before."""

    parts: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    hidden: list[tuple[HiddenRule, str]] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self, path: Path, limits: DocumentLimits) -> None:
        super().__init__(convert_charrefs=True)
        self.draft, self.scripts = Draft(), 0
        self._path, self._limits, self._sheet = path, limits, CssRules()
        self._open: list[_Element] = []
        self._block = _Block()
        self._rows = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._close_implied(tag)
        attributes = {name: value or "" for name, value in attrs}
        above = self._open[-1] if self._open else _Element("", Appearance(), False)
        self.scripts += tag == "script"
        if (tag in _BLOCKS and not self._rows) or tag == "tr":
            self.end_block()
        if tag == "br":
            self._text("\n", above)
        if tag in _VOID:
            return
        self._open.append(
            _Element(tag, appearance_of(above.appearance, tag, attributes, self._sheet), above.silent or tag in _SILENT)
        )
        if len(self._open) > self._limits.depth:
            raise DocumentError(f"elements nested more than {self._limits.depth} deep", path=self._path)
        self._rows += tag == "tr"
        if tag == "li":
            self._number_item(attributes)
        elif tag == "ol":
            start = attributes.get("start", "1")
            self._open[-1].count = int(start) - 1 if start.isdigit() else 0

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID or all(element.tag != tag for element in self._open):
            return
        while self._open:
            element = self._open[-1]
            self._end(element)
            if element.tag == tag:
                return

    def handle_data(self, data: str) -> None:
        element = self._open[-1] if self._open else _Element("", Appearance(), False)
        if element.tag == "style":
            self._sheet.add(data)
        elif not element.silent:
            preserved = any(one.tag == "pre" for one in self._open)
            self._text(data if preserved else _SPACE.sub(" ", data), element)

    def handle_comment(self, data: str) -> None:
        if data.strip() and not data.lstrip().startswith(("[if", "<![")):
            self.draft.asides.append(Aside(HiddenText("comment", data.strip()), self.draft.here))

    def end_block(self) -> None:
        """Ends the paragraph or the row: what was gathered becomes a piece."""
        block, self._block = self._block, _Block()
        for rule, hidden in block.hidden:
            if shown := " ".join(hidden.split()):
                self.draft.asides.append(Aside(HiddenText(rule, shown), self.draft.here))
        cells = [*block.cells, _tidy("".join(block.parts))]
        text = "\t".join(cells).rstrip("\t") if block.cells else cells[-1]
        self.draft.add(DraftParagraph(text, role=self._role(is_row=bool(block.cells))))

    def _role(self, *, is_row: bool) -> ParagraphRole:
        if is_row:
            return "table"
        return "heading" if any(element.tag in _HEADINGS for element in self._open) else "text"

    def _text(self, text: str, element: _Element) -> None:
        rule = element.appearance.rule
        if rule is None:
            self._block.parts.append(text)
        elif self._block.hidden and self._block.hidden[-1][0] == rule:
            self._block.hidden[-1] = (rule, self._block.hidden[-1][1] + text)
        else:
            self._block.hidden.append((rule, text))

    def _number_item(self, attributes: dict[str, str]) -> None:
        owner = next((element for element in reversed(self._open[:-1]) if element.tag in ("ol", "ul")), None)
        if owner is None or owner.tag == "ul" or self._open[-1].appearance.rule:
            return
        value = attributes.get("value", "")
        owner.count = int(value) if value.isdigit() else owner.count + 1
        self._block.parts.append(f"{owner.count}. ")

    def _close_implied(self, tag: str) -> None:
        while self._open and tag in _CLOSED_BY.get(self._open[-1].tag, ()):
            self._end(self._open[-1])

    def _end(self, element: _Element) -> None:
        if element.tag in _CELLS and self._rows:
            self._block.cells.append(_tidy("".join(self._block.parts)).replace("\n", " "))
            self._block.parts = []
        if element.tag == "tr" or (element.tag in _BLOCKS and not self._rows):
            self.end_block()
        elif element.tag in _BLOCKS and element.appearance.rule is None:
            self._block.parts.append(" ")
        self._rows -= element.tag == "tr"
        self._open.pop()


def _tidy(text: str) -> str:
    """The text with single spaces, and none at the ends of its lines."""
    return "\n".join(line.strip() for line in re.sub(r"  +", " ", text).split("\n")).strip("\n")


TINY_PX = 3.0
_UNIT_PX = {"px": 1.0, "pt": 1.333, "em": 16.0, "rem": 16.0, "%": 0.16, "": 1.0}
_NAMED = {"white": "ffffff", "black": "000000", "transparent": "transparent", "snow": "fffafa", "ivory": "fffff0"}
MOST_RULES = 5_000


@dataclass(slots=True)
class CssRules:
    """The declarations of simple selectors, gathered while the page is read."""

    rules: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, css: str) -> None:
        """Takes in the text of a style element; rules within @media and the like are left out."""
        for selectors, body in _rules(css):
            if len(self.rules) > MOST_RULES:
                return
            for selector in selectors.split(","):
                name = selector.strip().lower()
                if _simple().fullmatch(name):
                    self.rules.setdefault(name, {}).update(declarations(body))

    def style(self, tag: str, attributes: Mapping[str, str]) -> dict[str, str]:
        """What applies to an element: tag, classes, id, then its own style attribute."""
        style = dict(self.rules.get(tag, {}))
        for name in attributes.get("class", "").lower().split():
            style.update(self.rules.get(f".{name}", {}))
        if attributes.get("id"):
            style.update(self.rules.get(f"#{attributes['id'].lower()}", {}))
        style.update(declarations(attributes.get("style", "")))
        return style


@dataclass(frozen=True, slots=True)
class Appearance:
    """What an element hands down: why it is hidden (None: it is not), its colors, its text's size in pixels."""

    rule: HiddenRule | None = None
    color: str = "000000"
    background: str = "ffffff"
    size_px: float = 16.0


def appearance_of(above: Appearance, tag: str, attributes: Mapping[str, str], sheet: CssRules) -> Appearance:
    """What is seen within an element, by what is seen around it. Once hidden, it stays so.

    >>> appearance_of(Appearance(), "p", {"style": "color: #fff"}, CssRules()).rule
    'white'
    """
    style = sheet.style(tag, attributes)
    background = _background(style, attributes) or above.background
    color = _color(style.get("color", "")) or _color(attributes.get("color", "")) or above.color
    size = _size(style.get("font-size", ""), above.size_px)
    # A child may have a color of its own; what hides in any other way hides all within.
    kept = None if above.rule == "white" else above.rule
    return Appearance(kept or _rule(style, attributes, color, background, size), color, background, size)


def declarations(css: str) -> dict[str, str]:
    """Properties and values of a style attribute, in small letters.

    >>> declarations("Display : NONE; color:red !important")
    {'display': 'none', 'color': 'red'}
    """
    pairs = (part.partition(":") for part in css.split(";"))
    return {
        name.strip().lower(): value.lower().replace("!important", "").strip() for name, colon, value in pairs if colon
    }


def _rule(
    style: Mapping[str, str], attributes: Mapping[str, str], color: str, background: str, size: float
) -> HiddenRule | None:
    hidden = (
        "hidden" in attributes
        or style.get("display") == "none"
        or style.get("visibility") in ("hidden", "collapse")
        or style.get("clip", "").replace(" ", "") in ("rect(0,0,0,0)", "rect(0000)", "rect(0px,0px,0px,0px)")
        or any(_far(style.get(name, "")) for name in ("text-indent", "left", "top", "margin-left", "margin-top"))
    )
    if hidden:
        return "style"
    if attributes.get("aria-hidden", "").lower() == "true":
        return "aria"
    opacity = _number(style.get("opacity", ""))
    if (opacity is not None and opacity < 0.05) or color == "transparent":
        return "transparent"
    if size < TINY_PX:
        return "tiny"
    return "white" if _alike(color, background) else None


def _background(style: Mapping[str, str], attributes: Mapping[str, str]) -> str:
    value = style.get("background-color") or style.get("background") or attributes.get("bgcolor", "")
    if "url(" in value or "gradient(" in value:
        return "unknown"
    found = next(filter(None, map(_color, (value, *value.split()))), "")
    return "" if found == "transparent" else found


def _color(value: str) -> str:
    """Six hexadecimal digits, "transparent", or "" where the value is not known."""
    value = value.strip().lower()
    if value in _NAMED:
        return _NAMED[value]
    if match := re.fullmatch(r"#([0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})", value):
        digits = match[1] if len(match[1]) > 3 else "".join(2 * digit for digit in match[1])
        return "transparent" if len(digits) == 8 and digits.endswith("00") else digits[:6]
    if match := re.fullmatch(r"rgba?\(\s*(\d+)[\s,]+(\d+)[\s,]+(\d+)(?:[\s,/]+([\d.]+)%?)?\s*\)", value):
        if match[4] is not None and (_number(match[4]) or 0) < 0.05:
            return "transparent"
        return "".join(f"{min(int(part[:4]), 255):02x}" for part in match.groups()[:3])
    return "named:" + value if value.isalpha() and value not in ("inherit", "initial", "unset", "currentcolor") else ""


def _alike(one: str, other: str) -> bool:
    if len(one) != 6 or len(other) != 6:
        return one == other
    return all(abs(int(one[at : at + 2], 16) - int(other[at : at + 2], 16)) < 16 for at in (0, 2, 4))


def _size(value: str, above: float) -> float:
    match = re.fullmatch(r"([\d.]+)\s*([a-z%]*)", value)
    if match is None or (number := _number(match[1])) is None:
        return above
    if match[2] in ("em", "%"):
        return number * above * (1 if match[2] == "em" else 0.01)
    return number * _UNIT_PX.get(match[2], 1.0)


def _far(value: str) -> bool:
    """Whether a length moves text out of sight: a thousand and more to the left or the top."""
    match = re.fullmatch(r"-([\d.]+)[a-z%]*", value)
    return match is not None and (_number(match[1]) or 0) >= 900


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _rules(css: str) -> Iterator[tuple[str, str]]:
    """Selectors and declarations of each rule that is not inside another block."""
    css = _comment().sub("", css)
    depth = start = opened = 0
    for match in re.finditer(r"[{};]", css):
        if match[0] == "{":
            depth += 1
            opened = match.end() if depth == 1 else -1
        elif match[0] == "}":
            if depth == 1 and opened > 0:
                yield css[start : opened - 1], css[opened : match.start()]
            depth = max(0, depth - 1)
        if depth == 0:
            start = match.end()


@cache
def _comment() -> re.Pattern[str]:
    return re.compile(r"/\*.*?(?:\*/|\Z)", re.S)


@cache
def _simple() -> re.Pattern[str]:
    return re.compile(r"[a-z][a-z0-9]*|[.#][\w-]+")
