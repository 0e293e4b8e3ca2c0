"""What styles say that matters here: hidden text, its color and size, numbering, headings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ollama_kit.documents.document import HiddenRule
from ollama_kit.documents.docx.opc import W, attribute, switched_on

TINY_HALF_POINTS = 5
PAPER = 0xF0


@dataclass(frozen=True, slots=True)
class Look:
    """How a run looks; None where nothing is said. Sizes in half points; colors as six hexadecimal digits."""

    vanish: bool | None = None
    color: str | None = None
    size: int | None = None
    shaded: bool | None = None
    underlined: bool | None = None

    def over(self, below: Look) -> Look:
        """This look, and what `below` says of the rest."""
        return Look(
            below.vanish if self.vanish is None else self.vanish,
            below.color if self.color is None else self.color,
            below.size if self.size is None else self.size,
            below.shaded if self.shaded is None else self.shaded,
            below.underlined if self.underlined is None else self.underlined,
        )

    def hides(self, *, on_color: bool) -> HiddenRule | None:
        """Why nobody sees it. `on_color`: it is on a colored cell, or may do so by its table's style."""
        if self.vanish:
            return "vanish"
        if self.color and _is_paper(self.color) and not self.shaded and not on_color:
            return "white"
        return "tiny" if self.size is not None and self.size <= TINY_HALF_POINTS else None


@dataclass(frozen=True, slots=True)
class Style:
    """One style: its look, the style that it is based on, and of paragraphs the numbering (list, level) and whether
    it is a heading."""

    look: Look = Look()
    based_on: str = ""
    list_id: str | None = None
    level: int | None = None
    heading: bool = False
    shaded: bool = False


@dataclass(frozen=True, slots=True)
class Styles:
    """Styles by id."""

    by_id: dict[str, Style] = field(default_factory=dict)
    default: Look = Look()
    paragraph: str = ""
    """The style of paragraphs that name none."""

    def chain(self, style_id: str) -> list[Style]:
        """The style and those it is based on, nearest first; a circle ends where it closes."""
        found, seen = [], set()
        while style_id in self.by_id and style_id not in seen:
            seen.add(style_id)
            found.append(self.by_id[style_id])
            style_id = found[-1].based_on
        return found

    def look(self, style_id: str) -> Look:
        merged = Look()
        for style in self.chain(style_id):
            merged = merged.over(style.look)
        return merged


def styles_of(root: Any | None) -> Styles:
    """The styles of word/styles.xml; none where the part is missing."""
    if root is None:
        return Styles()
    by_id, paragraph = {}, ""
    for element in root.iter(W + "style"):
        style_id = attribute(element, "styleId") or ""
        by_id[style_id] = _style(element)
        if attribute(element, "type") == "paragraph" and attribute(element, "default") in ("1", "true"):
            paragraph = style_id
    default = root.find(f"{W}docDefaults/{W}rPrDefault/{W}rPr")
    return Styles(by_id, look_of(default), paragraph)


def look_of(properties: Any | None) -> Look:
    """What w:rPr says."""
    if properties is None:
        return Look()
    size = attribute(properties.find(W + "sz")) or ""
    highlight = attribute(properties.find(W + "highlight"))
    underline = properties.find(W + "u")
    shade = shaded(properties)
    return Look(
        switched_on(properties.find(W + "vanish")),
        attribute(properties.find(W + "color")),
        int(size) if size.isdigit() else None,
        True if highlight not in (None, "none", "white") else shade,
        None if underline is None else attribute(underline) not in (None, "none"),
    )


def shaded(properties: Any | None) -> bool | None:
    """Whether w:shd below the properties fills with a color that is not paper's; None where nothing is said."""
    shade = None if properties is None else properties.find(W + "shd")
    return None if shade is None else _fills(shade)


def _fills(shade: Any) -> bool:
    fill = attribute(shade, "fill") or "auto"
    pattern = attribute(shade) or "clear"
    return (fill != "auto" and not _is_paper(fill)) or pattern not in ("clear", "nil")


def _style(element: Any) -> Style:
    paragraph = element.find(W + "pPr")
    numbering = None if paragraph is None else paragraph.find(W + "numPr")
    level = None if numbering is None else attribute(numbering.find(W + "ilvl"))
    name = (attribute(element.find(W + "name")) or "").lower()
    outline = None if paragraph is None else paragraph.find(W + "outlineLvl")
    return Style(
        look=look_of(element.find(W + "rPr")).over(Look(shaded=shaded(paragraph))),
        based_on=attribute(element.find(W + "basedOn")) or "",
        list_id=None if numbering is None else attribute(numbering.find(W + "numId")),
        level=int(level) if level and level.isdigit() else None,
        heading=name.startswith(("heading", "title", "标题")) or (attribute(outline) or "9") != "9",
        shaded=any(_fills(shade) for shade in element.iter(W + "shd")),
    )


def _is_paper(color: str) -> bool:
    try:
        value = int(color, 16)
    except ValueError:
        return False
    return len(color) == 6 and all((value >> shift) & 255 >= PAPER for shift in (0, 8, 16))
