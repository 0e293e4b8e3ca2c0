"""What is painted on a page: the ink of its letters; fills, pictures and rules, with their boxes and their order."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, NamedTuple

from ollama_kit.documents.pdf.pdfium import address, calls, raw

Box = tuple[float, float, float, float]
Matrix = tuple[float, float, float, float, float, float]
STRAIGHT: Matrix = (1, 0, 0, 1, 0, 0)
DEEPEST = 4
MOST_OBJECTS = 500_000
PAPER = 240
"""A color whose red, green and blue are all this or more looks like paper."""
THIN_POINTS = 4.0
"""Thinner shapes are rules and underlines: they hide nothing, but part the cells of tables."""
MOST_SEGMENTS = 2_000
"""Of one path; a table has fewer."""
TEXT, PATH, IMAGE, FORM = 1, 2, 3, 5
"""FPDF_PAGEOBJ_*: the kinds of objects (shading is 4)."""


class Shape(NamedTuple):
    """Something painted that is not text. `what`: "paper" (filled white), "fill" (any other color, or what cannot
    be told), "image", "rule" (thin, or the outline of a box). `order`: later is above."""

    what: str
    box: Box
    order: int


class Ink(NamedTuple):
    """How letters are drawn. `mode` is PDF's text rendering mode (3 and 7 leave no ink); `white`: the color of paper;
    `clear`: see-through."""

    mode: int = 0
    white: bool = False
    clear: bool = False


PLAIN = (Ink(), -1)


@dataclass(slots=True)
class Painted:
    """Shapes of a page in the order they are painted; rules; and by handle each text object's ink and order."""

    shapes: list[Shape] = field(default_factory=list)
    rules: list[Shape] = field(default_factory=list)
    inks: dict[int, tuple[Ink, int]] = field(default_factory=dict)
    count: int = 0
    """Objects met. More than MOST_OBJECTS: what lies beyond is not known."""

    @property
    def inks_alike(self) -> bool:
        """Whether all text is drawn in one ink."""
        return len({ink for ink, _ in self.inks.values()}) < 2


def painted(page: Any) -> Painted:
    """What a page paints, forms (groups of objects) included, up to MOST_OBJECTS."""
    found, handle = Painted(), address(page)
    ask = calls().page_object
    objects = (ask(handle, index) for index in range(raw().FPDFPage_CountObjects(page)))
    _gather(found, objects, STRAIGHT, {})
    return found


def _gather(
    found: Painted, objects: Iterable[int], matrix: Matrix, known: dict[tuple[int, ...], Ink], depth: int = 0
) -> None:
    """Adds objects to what was found. `known`: the inks met so far. Every letter may be an object: a tight loop."""
    call, inks = calls(), found.inks
    kind_of, mode_of, fill_of = call.object_type, call.render_mode, call.fill
    for one in objects:
        order = found.count = found.count + 1
        if order > MOST_OBJECTS:
            return
        kind = kind_of(one)
        if kind == TEXT:
            color = fill_of(one)
            key = (mode_of(one), *(color or ()))
            ink = known.get(key)
            if ink is None:
                ink = known[key] = _ink(key[0], color)
            inks[one] = (ink, order)
        elif kind != FORM:
            _add_shape(found, one, kind, matrix, order)
        elif depth < DEEPEST:
            inner = range(raw().FPDFFormObj_CountObjects(_pointer(one)))
            parts = map(call.form_object, repeat(one), inner)
            _gather(found, parts, _joined(_matrix(one), matrix), known, depth + 1)


def _ink(mode: int, color: list[int] | None) -> Ink:
    filled = mode in (0, 4) and color is not None
    return Ink(mode, filled and min(color[:3]) >= PAPER, filled and color[3] <= 12)  # type: ignore[index]


def _pointer(handle: int) -> Any:
    return ctypes.cast(handle, raw().FPDF_PAGEOBJECT)


def _matrix(handle: int) -> Matrix:
    found = raw().FS_MATRIX()
    if not raw().FPDFPageObj_GetMatrix(_pointer(handle), found):
        return STRAIGHT
    return (found.a, found.b, found.c, found.d, found.e, found.f)


def _joined(first: Matrix, then: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    p, q, r, s, t, u = then
    return (a * p + b * r, a * q + b * s, c * p + d * r, c * q + d * s, e * p + f * r + t, e * q + f * s + u)


def _add_shape(found: Painted, handle: int, kind: int, matrix: Matrix, order: int) -> None:
    box = _bounds(handle, matrix)
    if box is None:
        return
    thin = min(box[2] - box[0], box[3] - box[1]) < THIN_POINTS
    if kind != PATH:
        if not thin:
            found.shapes.append(Shape("image" if kind == IMAGE else "fill", box, order))
        return
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    raw().FPDFPath_GetDrawMode(_pointer(handle), fill, stroke)
    if thin:
        found.rules.append(Shape("rule", box, order))
    elif stroke.value:
        straight = (edge for edge in _edges(handle, matrix) if min(edge[2] - edge[0], edge[3] - edge[1]) < 1)
        found.rules.extend(Shape("rule", edge, order) for edge in straight)
    color = calls().fill(handle)
    if fill.value and not thin and (color is None or color[3] >= 250):
        white = color is not None and min(color[:3]) >= PAPER
        found.shapes.append(Shape("paper" if white else "fill", box, order))


def _edges(handle: int, matrix: Matrix) -> Iterator[Box]:
    """The lines of a path that is drawn, each as a box: a whole grid is often one path."""
    api = raw()
    path, whole = _pointer(handle), _joined(_matrix(handle), matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    begun = last = (0.0, 0.0)
    for index in range(min(api.FPDFPath_CountSegments(path), MOST_SEGMENTS)):
        segment = api.FPDFPath_GetPathSegment(path, index)
        api.FPDFPathSegment_GetPoint(segment, x, y)
        a, b, c, d, e, f = whole
        point = (x.value * a + y.value * c + e, x.value * b + y.value * d + f)
        kind = api.FPDFPathSegment_GetType(segment)
        if kind == api.FPDF_SEGMENT_MOVETO:
            begun = point
        elif kind == api.FPDF_SEGMENT_LINETO:
            yield _around([last, point])
        if api.FPDFPathSegment_GetClose(segment):
            yield _around([point, begun])
        last = point


def _bounds(handle: int, matrix: Matrix) -> Box | None:
    """The box of an object, less what its clip cuts off (of a clip that is not a rectangle: less than that)."""
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not raw().FPDFPageObj_GetBounds(_pointer(handle), left, bottom, right, top):
        return None
    box = _clipped((left.value, bottom.value, right.value, top.value), handle)
    if box is None or matrix == STRAIGHT:
        return box
    a, b, c, d, e, f = matrix
    corners = [(x * a + y * c + e, x * b + y * d + f) for x in (box[0], box[2]) for y in (box[1], box[3])]
    return _around(corners)


def _clipped(box: Box, handle: int) -> Box | None:
    api = raw()
    clip = api.FPDFPageObj_GetClipPath(_pointer(handle))
    x, y = ctypes.c_float(), ctypes.c_float()
    for path in range(min(api.FPDFClipPath_CountPaths(clip), 16) if clip else 0):
        points = []
        for index in range(min(api.FPDFClipPath_CountPathSegments(clip, path), 1_000)):
            if api.FPDFPathSegment_GetPoint(api.FPDFClipPath_GetPathSegment(clip, path, index), x, y):
                points.append((x.value, y.value))
        if points:
            cut = _around(points)
            box = (max(box[0], cut[0]), max(box[1], cut[1]), min(box[2], cut[2]), min(box[3], cut[3]))
    return box if box[0] <= box[2] and box[1] <= box[3] else None


def _around(points: list[tuple[float, float]]) -> Box:
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return min(xs), min(ys), max(xs), max(ys)
