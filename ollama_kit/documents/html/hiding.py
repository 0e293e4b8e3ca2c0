"""Which elements of a page a reader does not see: by attributes, inline styles, and simple rules of its style sheets.

A simple rule is one whose selector is a tag, a class or an id. What only a browser can tell (cascades, scripts,
positions worked out from others) is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from ollama_kit.documents.document import HiddenRule

TINY_PX = 3.0
_UNIT_PX = {"px": 1.0, "pt": 1.333, "em": 16.0, "rem": 16.0, "%": 0.16, "": 1.0}
_NAMED = {"white": "ffffff", "black": "000000", "transparent": "transparent", "snow": "fffafa", "ivory": "fffff0"}
MOST_RULES = 5_000


@dataclass(slots=True)
class Sheet:
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
class Seen:
    """What an element hands down: why it is hidden (None: it is not), its colors, its text's size in pixels."""

    rule: HiddenRule | None = None
    color: str = "000000"
    background: str = "ffffff"
    size_px: float = 16.0


def seen(above: Seen, tag: str, attributes: Mapping[str, str], sheet: Sheet) -> Seen:
    """What is seen within an element, by what is seen around it. Once hidden, it stays so.

    >>> seen(Seen(), "p", {"style": "color: #fff"}, Sheet()).rule
    'white'
    """
    style = sheet.style(tag, attributes)
    background = _background(style, attributes) or above.background
    color = _color(style.get("color", "")) or _color(attributes.get("color", "")) or above.color
    size = _size(style.get("font-size", ""), above.size_px)
    # A child may have a color of its own; what hides in any other way hides all within.
    kept = None if above.rule == "white" else above.rule
    return Seen(kept or _rule(style, attributes, color, background, size), color, background, size)


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
    """Six hexadecimal digits, "transparent", or "" where the value is none that is known."""
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
    """Selectors and declarations of each rule that stands in no other block."""
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
