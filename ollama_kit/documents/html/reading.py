"""The text of an HTML page as a reader sees it: blocks as paragraphs, rows of tables with tabs, numbers of lists."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

from ollama_kit.documents.document import Aside, Draft, HiddenRule, HiddenText, Limits, Piece, Role
from ollama_kit.documents.html.hiding import Seen, Sheet, seen
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
"""Elements whose text is no text of the page."""
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


def read_html(text: str, path: Path, limits: Limits) -> Draft:
    """The draft of a page. DocumentError where elements stand deeper inside one another than the limit."""
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
    seen: Seen
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
    def __init__(self, path: Path, limits: Limits) -> None:
        super().__init__(convert_charrefs=True)
        self.draft, self.scripts = Draft(), 0
        self._path, self._limits, self._sheet = path, limits, Sheet()
        self._open: list[_Element] = []
        self._block = _Block()
        self._rows = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._close_implied(tag)
        attributes = {name: value or "" for name, value in attrs}
        above = self._open[-1] if self._open else _Element("", Seen(), False)
        self.scripts += tag == "script"
        if (tag in _BLOCKS and not self._rows) or tag == "tr":
            self.end_block()
        if tag == "br":
            self._text("\n", above)
        if tag in _VOID:
            return
        self._open.append(_Element(tag, seen(above.seen, tag, attributes, self._sheet), above.silent or tag in _SILENT))
        if len(self._open) > self._limits.depth:
            raise DocumentError(f"more than {self._limits.depth} elements inside one another", path=self._path)
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
        element = self._open[-1] if self._open else _Element("", Seen(), False)
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
        self.draft.add(Piece(text, role=self._role(is_row=bool(block.cells))))

    def _role(self, *, is_row: bool) -> Role:
        if is_row:
            return "table"
        return "heading" if any(element.tag in _HEADINGS for element in self._open) else "text"

    def _text(self, text: str, element: _Element) -> None:
        rule = element.seen.rule
        if rule is None:
            self._block.parts.append(text)
        elif self._block.hidden and self._block.hidden[-1][0] == rule:
            self._block.hidden[-1] = (rule, self._block.hidden[-1][1] + text)
        else:
            self._block.hidden.append((rule, text))

    def _number_item(self, attributes: dict[str, str]) -> None:
        owner = next((element for element in reversed(self._open[:-1]) if element.tag in ("ol", "ul")), None)
        if owner is None or owner.tag == "ul" or self._open[-1].seen.rule:
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
        elif element.tag in _BLOCKS and element.seen.rule is None:
            self._block.parts.append(" ")
        self._rows -= element.tag == "tr"
        self._open.pop()


def _tidy(text: str) -> str:
    """The text with single spaces, and none at the ends of its lines."""
    return "\n".join(line.strip() for line in re.sub(r"  +", " ", text).split("\n")).strip("\n")
