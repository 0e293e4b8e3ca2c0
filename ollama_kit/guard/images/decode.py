"""Pixels: the only place that imports Pillow. What comes in has passed the header's checks."""

from __future__ import annotations

import io
import struct
import zlib
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING

from ollama_kit.errors import UsageError
from ollama_kit.guard.images.exif import Exif, exif_of_jpeg, read_exif, without_exif
from ollama_kit.guard.images.header import Header, cut_short
from ollama_kit.guard.images.image import STAGE, Image, ImageRules, check_size
from ollama_kit.guard.images.pixels import encode_pixels, in_plain_colors, turn_upright
from ollama_kit.records.report import Action, Finding, Severity

if TYPE_CHECKING:
    from PIL.Image import Image as Pixels

EXTRA = "ollama-kit[images]"
LOSSY = frozenset({"JPEG", "WEBP"})
METADATA = {"xmp": "XMP", "icc_profile": "color profile", "comment": "comment", "photoshop": "IPTC"}
_XMP_IN_PNG = "XML:com.adobe.xmp"

# What Pillow's decoders raise at a damaged file; warnings too, which are errors where a program says so.
# MemoryError is not among them.
_DAMAGED = (OSError, EOFError, ValueError, SyntaxError, TypeError, KeyError, IndexError, OverflowError)
_BROKEN = (*_DAMAGED, Warning, AttributeError, ZeroDivisionError, struct.error, zlib.error)


@dataclass(frozen=True)
class Checked:
    """A file whose header has been checked."""

    data: bytes = field(repr=False)
    header: Header
    rules: ImageRules
    name: str


def decode(file: Checked, findings: tuple[Finding, ...] = ()) -> Image:
    """The image of `prepare_image`, from a file whose header has been checked. UsageError where it is damaged, or
    Pillow is not there."""
    pillow = load_pillow()
    kind, name = file.header.kind, file.name
    data = without_exif(file.data) if kind == "JPEG" else file.data
    try:
        with pillow.open(io.BytesIO(data), formats=[kind]) as opened:
            return _prepared(opened, file, list(findings))
    except pillow.UnidentifiedImageError as error:
        raise UsageError(f"{name} begins as a {kind}, and is damaged beyond reading") from error
    except pillow.DecompressionBombError as error:
        raise UsageError(f"{name} cannot be decoded: {error}") from error
    except _BROKEN as error:
        if "truncated" in str(error):
            raise cut_short(name, kind) from error
        raise UsageError(f"{name} is a {kind} that is damaged: {error}") from error


def load_pillow() -> ModuleType:
    """PIL.Image; UsageError that names the extra where Pillow is not installed."""
    try:
        from PIL import Image as pillow
    except ImportError as error:
        raise UsageError(
            "images need Pillow, which is not installed",
            hint=(f"Install it with `pip install '{EXTRA}'`.", f"请运行 `pip install '{EXTRA}'` 安装。"),
        ) from error
    return pillow


def _prepared(opened: Pixels, file: Checked, findings: list[Finding]) -> Image:
    def note(rule: str, action: Action, detail: str, severity: Severity = "info") -> None:
        findings.append(Finding(STAGE, rule, severity, action, file.name, (0, 0), detail))

    kind, side, before = file.header.kind, file.rules.longest_side, opened.size
    # A frame, or a second header, may be larger than what the first one said.
    check_size(Header(kind, *before), file.rules, file.name)
    # Frames are not counted: there may be millions. Further pictures in a JPEG are previews or depths.
    if kind != "JPEG" and getattr(opened, "is_animated", False):
        note("animated", "removed", "all frames but the first")
    opened.draft(None, (side, side))  # a JPEG is decoded at a half, a quarter or an eighth, never smaller than that
    opened.load()
    exif = exif_of_jpeg(file.data) if kind == "JPEG" else read_exif(opened.info.get("exif") or b"")
    kept = _metadata(opened, exif)
    if kept:
        note("metadata", "removed", ", ".join(kept), "low" if exif.has_position else "info")
    pixels, said = in_plain_colors(opened, side)
    if said:
        note("colors", "converted", said)
    if pixels.size != before:
        note("downscaled", "converted", f"{before[0]} × {before[1]} to {pixels.width} × {pixels.height} pixels")
    pixels = turn_upright(pixels, exif.orientation)
    if exif.orientation > 1:
        note("orientation", "converted", "turned as its EXIF says")
    media_type, encoded = encode_pixels(pixels, lossy=kind in LOSSY)
    return Image(encoded, media_type, pixels.width, pixels.height, tuple(findings), file.name)


def _metadata(opened: Pixels, exif: Exif) -> list[str]:
    """What is in the file besides pixels, by name."""
    info = {str(key) for key in opened.info}
    kept = [word for key, word in METADATA.items() if key in info or (key == "xmp" and _XMP_IN_PNG in info)]
    texts = [key for key in getattr(opened, "text", {}) if key != _XMP_IN_PNG]
    named = (("EXIF", exif.there), ("GPS position", exif.has_position), ("text", bool(texts)))
    return [*(word for word, there in named if there), *kept]
