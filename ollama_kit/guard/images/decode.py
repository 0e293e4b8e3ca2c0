"""Pixels: the only place that imports Pillow. What comes in has passed the header's checks."""

from __future__ import annotations

import io
import struct
import zlib
from types import ModuleType
from typing import TYPE_CHECKING

from ollama_kit.errors import UsageError
from ollama_kit.guard.images.header import Header, cut_short
from ollama_kit.guard.images.image import STAGE, Image, ImageRules, check_size
from ollama_kit.guard.report import Action, Finding, Severity

if TYPE_CHECKING:
    from PIL.Image import Image as Pixels
    from PIL.Image import Transpose

EXTRA = "ollama-kit[images]"
ORIENTATION, GPS = 0x0112, 0x8825  # EXIF tags
LOSSY = frozenset({"JPEG", "WEBP"})
JPEG_QUALITY = 92
METADATA = {"exif": "EXIF", "xmp": "XMP", "icc_profile": "colour profile", "comment": "comment", "photoshop": "IPTC"}
_XMP_IN_PNG = "XML:com.adobe.xmp"

# What Pillow's decoders raise at a damaged file, and its own refusal of a bomb. MemoryError is not among them.
_DAMAGED = (OSError, EOFError, ValueError, SyntaxError, TypeError, KeyError, IndexError, OverflowError)
_BROKEN = (*_DAMAGED, AttributeError, ZeroDivisionError, struct.error, zlib.error)


def decode(data: bytes, header: Header, rules: ImageRules, name: str, findings: tuple[Finding, ...] = ()) -> Image:
    """The image of `prepare_image`, from bytes whose header has been checked. UsageError where they are damaged, or
    Pillow is not there."""
    pillow = load_pillow()
    try:
        with pillow.open(io.BytesIO(data), formats=[header.kind]) as opened:
            return _prepared(opened, header, rules, name, list(findings))
    except pillow.UnidentifiedImageError as error:
        raise UsageError(f"{name} begins as a {header.kind}, and is damaged beyond reading") from error
    except pillow.DecompressionBombError as error:
        raise UsageError(f"{name} can not be decoded: {error}") from error
    except _BROKEN as error:
        if "truncated" in str(error):
            raise cut_short(name, header.kind) from error
        raise UsageError(f"{name} is a {header.kind} that is damaged: {error}") from error


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


def _prepared(opened: Pixels, header: Header, rules: ImageRules, name: str, findings: list[Finding]) -> Image:
    def note(rule: str, action: Action, detail: str, severity: Severity = "info") -> None:
        findings.append(Finding(STAGE, rule, severity, action, name, (0, 0), detail))

    # A frame, or a second header, may be larger than what the first one said.
    check_size(Header(header.kind, *opened.size), rules, name)
    if header.kind != "JPEG" and getattr(
        opened, "is_animated", False
    ):  # its frames are not counted: there may be millions
        note("animated", "removed", "all frames but the first")
    side = rules.longest_side
    before = opened.size
    opened.draft(None, (side, side))  # a JPEG is decoded at a half, a quarter or an eighth, never smaller than that
    opened.load()
    kept = _metadata(opened)
    if kept:
        where = "GPS position" in kept
        note("metadata", "removed", ", ".join(kept), "low" if where else "info")
    turned = _orientation(opened)
    pixels, said = _in_plain_colours(opened, side)
    if said:
        note("colours", "converted", said)
    if pixels.size != before:
        note("downscaled", "converted", f"{before[0]} × {before[1]} to {pixels.width} × {pixels.height} pixels")
    if turned > 1:
        pixels = pixels.transpose(_turns()[turned])
        note("orientation", "converted", "turned as its EXIF says")
    media_type, encoded = _encoded(pixels, lossy=header.kind in LOSSY)
    return Image(encoded, media_type, pixels.width, pixels.height, tuple(findings), name)


def _metadata(opened: Pixels) -> list[str]:
    """What is in the file besides pixels, by name."""
    info = {str(key) for key in opened.info}
    kept = [word for key, word in METADATA.items() if key in info or (key == "xmp" and _XMP_IN_PNG in info)]
    try:
        if opened.getexif().get_ifd(GPS):
            kept.append("GPS position")
    except _BROKEN:  # damaged EXIF is dropped like any other
        pass
    texts = [key for key in getattr(opened, "text", {}) if key != _XMP_IN_PNG]
    return [*kept, *(["text"] if texts else [])]


def _orientation(opened: Pixels) -> int:
    """How EXIF says that the image stands: 1 to 8, 1 where it says nothing that makes sense."""
    try:
        stands = opened.getexif().get(ORIENTATION, 1)
    except _BROKEN:
        return 1
    return stands if isinstance(stands, int) and 1 <= stands <= 8 else 1


def _turns() -> dict[int, Transpose]:
    """What brings an image that stands so upright (EXIF 2.3, orientation)."""
    from PIL.Image import Transpose as To

    how = (To.FLIP_LEFT_RIGHT, To.ROTATE_180, To.FLIP_TOP_BOTTOM, To.TRANSPOSE, To.ROTATE_270, To.TRANSVERSE)
    return dict(enumerate((*how, To.ROTATE_90), start=2))


def _in_plain_colours(opened: Pixels, side: int) -> tuple[Pixels, str]:
    """The image in RGB or grey, at most `side` pixels a side, and what that took. What is transparent becomes white:
    to a model it would be black."""
    pixels, said = opened, []
    if opened.mode.startswith("I") or opened.mode == "F":
        pixels = opened.point(lambda value: value * (1 / 256)).convert("L")
        said.append("16 bits to 8")
    seen_through = "transparency" in opened.info or opened.mode in ("RGBA", "LA", "PA", "RGBa", "La")
    if seen_through and pixels.mode not in ("RGBA", "RGBa"):
        pixels = pixels.convert("RGBA")
    elif pixels.mode not in ("L", "RGB", "RGBA", "CMYK"):
        pixels = pixels.convert("RGB")
    if opened.mode not in ("L", "RGB", "RGBA") and not said:
        said.append(f"{_MODES.get(opened.mode, opened.mode)} to RGB")
    pixels = _shrunk(pixels, side)
    if pixels.mode == "CMYK":
        pixels = pixels.convert("RGB")
    if seen_through:
        said.append("transparent parts to white")
        pixels = _on_white(pixels.convert("RGBA"))
    return pixels, ", ".join(said)


_MODES = {"1": "black and white", "P": "palette", "PA": "palette", "LA": "grey", "La": "grey", "YCbCr": "YCbCr"}


def _shrunk(pixels: Pixels, side: int) -> Pixels:
    """At most `side` pixels a side; whole factors first, which takes no second copy of a large image."""
    longest = max(pixels.size)
    if longest <= side:
        return pixels
    factor = longest // (2 * side)
    smaller = pixels.reduce(factor) if factor > 1 else pixels
    width, height = (max(1, round(length * side / longest)) for length in pixels.size)
    from PIL.Image import Resampling

    return smaller.resize((width, height), Resampling.LANCZOS)


def _on_white(pixels: Pixels) -> Pixels:
    from PIL import Image as pillow

    paper = pillow.new("RGBA", pixels.size, (255, 255, 255, 255))
    paper.alpha_composite(pixels)
    return paper.convert("RGB")


def _encoded(pixels: Pixels, *, lossy: bool) -> tuple[str, bytes]:
    """(media type, bytes) of a new file. Never WebP: llama.cpp's own reader does not know it."""
    pixels.info.clear()  # Pillow would write comments and profiles again
    out = io.BytesIO()
    if lossy:
        pixels.save(out, "JPEG", quality=JPEG_QUALITY, subsampling=0)
        return "image/jpeg", out.getvalue()
    pixels.save(out, "PNG")
    return "image/png", out.getvalue()
