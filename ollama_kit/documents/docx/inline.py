"""The words of a paragraph: insertions kept, deletions gone, hidden runs apart, and what is anchored in between."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ollama_kit.documents.document import HiddenRule
from ollama_kit.documents.docx.package import W, attribute
from ollama_kit.documents.docx.styles import Look, Styles, look_of, shaded

MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"

_TRANSPARENT = frozenset(
    W + name
    for name in (
        *("ins", "moveTo", "hyperlink", "smartTag", "sdt", "sdtContent", "fldSimple", "customXml", "dir", "bdo"),
        *("ruby", "rubyBase"),
    )
)
"""What is read through; w:del, w:moveFrom and whatever else is not named is left out."""
_CHARACTERS = {W + "tab": "\t", W + "ptab": "\t", W + "br": "\n", W + "cr": "\n", W + "noBreakHyphen": "-"}
_REFERENCES = {
    W + "footnoteReference": "footnote",
    W + "endnoteReference": "endnote",
    W + "commentReference": "comment",
    W + "commentRangeStart": "comment",
}
TAB_BLANK = " " * 4
"""What a tab that is underlined takes, so that a blank made of one is as long as those made of spaces."""
_DRAWINGS = frozenset((W + "drawing", W + "pict", W + "object"))


@dataclass(slots=True)
class Words:
    """What a paragraph gave so far. Offsets count from its beginning, without its number.

    hidden: (rule, text, offset). references: (kind, id, offset). boxes: the contents of text boxes. breaks: where
    pages begin."""

    parts: list[str] = field(default_factory=list)
    length: int = 0
    hidden: list[tuple[HiddenRule, str, int]] = field(default_factory=list)
    references: list[tuple[str, str, int]] = field(default_factory=list)
    boxes: list[Any] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    pictures: int = 0
    underlined: list[tuple[int, int]] = field(default_factory=list)
    """Start and end of what is underlined; pieces that follow one another are one."""

    @property
    def text(self) -> str:
        """The words. White space that is underlined, and nothing else with it, is a blank to be filled in: it is shown
        as a line, and so it is read."""
        text = "".join(self.parts)
        shown, end = [], 0
        for first, last in self.underlined:
            if last - first > 1 and text[first:last].isspace():
                shown += [text[end:first], "_" * (last - first)]
                end = last
        return "".join((*shown, text[end:]))

    def add(self, text: str, rule: HiddenRule | None, *, underlined: bool = False) -> None:
        if rule is None:
            if underlined:
                text = text.replace("\t", TAB_BLANK)
                begun = bool(self.underlined) and self.underlined[-1][1] == self.length
                start = self.underlined.pop()[0] if begun else self.length
                self.underlined.append((start, self.length + len(text)))
            self.parts.append(text)
            self.length += len(text)
        elif self.hidden and self.hidden[-1][0] == rule and self.hidden[-1][2] == self.length:
            self.hidden[-1] = (rule, self.hidden[-1][1] + text, self.length)
        else:
            self.hidden.append((rule, text, self.length))


@dataclass(slots=True)
class Inline:
    """Reads paragraphs one after another. Fields may span paragraphs, so their state is kept: for each open field,
    whether its instruction is being read."""

    styles: Styles
    on_color: bool = False
    _fields: list[bool] = field(default_factory=list)

    def read(self, paragraph: Any, words: Words) -> None:
        """Adds a paragraph's words."""
        properties = paragraph.find(W + "pPr")
        style = None if properties is None else attribute(properties.find(W + "pStyle"))
        below = self.styles.look(style or self.styles.paragraph).over(self.styles.default)
        if (shade := shaded(properties)) is not None:
            below = Look(shaded=shade).over(below)
        self._walk(paragraph, words, below)

    def _walk(self, element: Any, words: Words, below: Look) -> None:
        for child in element:
            tag = child.tag
            if tag == W + "r":
                self._run(child, words, below)
            elif tag in _TRANSPARENT:
                self._walk(child, words, below)
            elif tag == MC + "AlternateContent":
                self._walk(chosen(child), words, below)
            elif tag in _REFERENCES:
                words.references.append((_REFERENCES[tag], attribute(child, "id") or "", words.length))
            elif tag in (M + "oMath", M + "oMathPara"):
                words.add("".join(one.text or "" for one in child.iter(M + "t")), None)

    def _run(self, run: Any, words: Words, below: Look) -> None:
        properties = run.find(W + "rPr")
        look = look_of(properties)
        named = None if properties is None else attribute(properties.find(W + "rStyle"))
        if named:
            look = look.over(self.styles.look(named))
        shown = look.over(below)
        rule = shown.hides(on_color=self.on_color)
        for child in _parts(run):
            self._part(child, words, rule, shown)

    def _part(self, child: Any, words: Words, rule: HiddenRule | None, shown: Look) -> None:
        tag = child.tag
        if tag == W + "fldChar":
            self._field(attribute(child, "fldCharType"))
        elif tag == W + "lastRenderedPageBreak":
            words.breaks.append(words.length)
        elif tag in _REFERENCES:
            words.references.append((_REFERENCES[tag], attribute(child, "id") or "", words.length))
        elif any(self._fields):
            return
        elif tag == W + "t":
            words.add(child.text or "", rule, underlined=bool(shown.underlined))
        elif tag in _CHARACTERS:
            character = "" if attribute(child, "type") in ("page", "column") else _CHARACTERS[tag]
            words.add(character, rule, underlined=bool(shown.underlined) and character == "\t")
        elif tag == W + "sym":
            words.add(_symbol(attribute(child, "char") or ""), rule)
        elif tag in _DRAWINGS:
            words.pictures += 1
            words.boxes.extend(_boxes(child))
        elif tag == W + "ruby":
            self._walk(child, words, shown)

    def _field(self, kind: str | None) -> None:
        if kind == "begin":
            self._fields.append(True)
        elif kind == "separate" and self._fields:
            self._fields[-1] = False
        elif kind == "end" and self._fields:
            self._fields.pop()


def chosen(alternate: Any) -> Any:
    """The branch of mc:AlternateContent that a current Word shows: the first choice, else the fallback."""
    branch = alternate.find(MC + "Choice")
    if branch is None:
        branch = alternate.find(MC + "Fallback")
    return () if branch is None else branch


def _parts(run: Any) -> Iterator[Any]:
    for child in run:
        if child.tag == MC + "AlternateContent":
            yield from chosen(child)
        else:
            yield child


def _boxes(drawing: Any) -> Iterator[Any]:
    """The contents of the text boxes of a drawing, those inside another one not counted twice."""
    waiting = list(drawing)
    while waiting:
        element = waiting.pop(0)
        if element.tag == W + "txbxContent":
            yield element
        else:
            waiting[:0] = list(chosen(element) if element.tag == MC + "AlternateContent" else element)


def _symbol(code: str) -> str:
    """The character of w:sym; those that only a symbol font has become a bullet."""
    try:
        number = int(code, 16)
    except ValueError:
        return ""
    return "•" if 0xE000 <= number <= 0xF8FF else chr(number) if 0x20 <= number < 0x110000 else ""
