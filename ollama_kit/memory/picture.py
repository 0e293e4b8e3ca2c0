"""A plan as a picture: a stacked bar of letters for a terminal, and the same as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from ollama_kit.memory.plan import MemoryPlan
from ollama_kit.memory.quantities import shown

_LOOKS = {
    "weights": ("W", "blue", "#4c78a8"),
    "kv cache": ("K", "green", "#54a24b"),
    "recurrent state": ("R", "cyan", "#72b7b2"),
    "compute": ("C", "yellow", "#eeca3b"),
    "overhead": ("O", "magenta", "#b279a2"),
    "vision projector": ("V", "red", "#e45756"),
    "draft model": ("D", "white", "#9d755d"),
}
"""Each part's letter, terminal color and color on paper. The letters alone tell the parts apart."""


@dataclass(frozen=True)
class Segment:
    """A stretch of a bar: so many cells of one letter. An empty name is what is left free."""

    name: str
    letter: str
    color: str
    width: int


def segments(plan: MemoryPlan, memory_bytes: int | None, width: int = 60) -> tuple[Segment, ...]:
    """The stacked bar of what has to fit, `width` cells for the whole memory or, where that is exceeded or not known,
    for the whole plan. A part that is there has one cell at least."""
    whole = max(memory_bytes or 0, plan.needed_bytes, 1)
    found = []
    for part in plan.parts:
        size = part.card_bytes if plan.setup.on_card else part.host_bytes
        if size:
            letter, color, _ = _LOOKS[part.name]
            found.append(Segment(part.name, letter, color, max(1, round(size * width / whole))))
    free = width - sum(segment.width for segment in found)
    if free > 0 and memory_bytes and memory_bytes > plan.needed_bytes:
        found.append(Segment("", ".", "", free))
    return tuple(found)


def legend(plan: MemoryPlan) -> Iterator[tuple[str, str, str]]:
    """Letter, name and size of each part of the bar."""
    for part in plan.parts:
        size = part.card_bytes if plan.setup.on_card else part.host_bytes
        if size:
            yield _LOOKS[part.name][0], part.name, shown(size)


def svg(plan: MemoryPlan, memory_bytes: int | None) -> str:
    """The bar as an SVG document, with each part's name and size below it."""
    left, wide = 20, 640
    whole = max(memory_bytes or 0, plan.needed_bytes, 1)
    rows = list(legend(plan))
    height = 96 + 20 * len(rows)
    size = f'width="{wide + 2 * left}" height="{height}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">',
        f'<rect width="100%" height="100%" fill="#ffffff"/><text x="{left}" y="24">{escape(_title(plan))}</text>',
        f'<rect x="{left}" y="36" width="{wide}" height="28" fill="#eeeeee"/>',
        *_bars(plan, left, wide, whole),
    ]
    if memory_bytes:
        at = left + wide * memory_bytes / whole
        lines.append(f'<path d="M{at:.1f} 32V68" stroke="#000000" stroke-width="2"/>')
    for row, (_, name, size) in enumerate(rows):
        y = 84 + 20 * row
        lines.append(f'<rect x="{left}" y="{y}" width="12" height="12" fill="{_LOOKS[name][2]}"/>')
        lines.append(f'<text x="{left + 20}" y="{y + 11}">{escape(name)}: {size}</text>')
    return "\n".join((*lines, "</svg>", ""))


def _bars(plan: MemoryPlan, left: int, wide: int, whole: int) -> Sequence[str]:
    bars, at = [], float(left)
    for part in plan.parts:
        size = part.card_bytes if plan.setup.on_card else part.host_bytes
        if size:
            across = wide * size / whole
            bars.append(f'<rect x="{at:.1f}" y="36" width="{across:.1f}" height="28" fill="{_LOOKS[part.name][2]}"/>')
            at += across
    return bars


def _title(plan: MemoryPlan) -> str:
    setup = plan.setup
    return f"{plan.shape.name}: {setup.context:,} tokens, {setup.kv_cache} cache: {shown(plan.needed_bytes)}"
