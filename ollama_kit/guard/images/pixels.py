"""Pixels on their way from whatever a file holds to what a model reads: few, upright, in plain colors."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image as Pixels, Transpose

JPEG_QUALITY = 92


def in_plain_colors(opened: Pixels, side: int) -> tuple[Pixels, str]:
    """The image in RGB or grey, at most `side` pixels a side, and what that took. What is transparent becomes white:
    to a model it would be black."""
    pixels, said = opened, []
    if opened.mode.startswith("I") or opened.mode == "F":
        pixels = opened.point(lambda value: value * (1 / 256)).convert("L")
        said.append("16 bits to 8")
    seen_through = "transparency" in opened.info or opened.mode in ("RGBA", "LA", "PA", "RGBa", "La")
    if pixels.mode not in (("LA", "RGBA") if seen_through else ("L", "RGB", "RGBA", "CMYK")):
        pixels = pixels.convert("RGBA" if seen_through else "RGB")
    if opened.mode not in ("L", "RGB", "RGBA") and not said:
        said.append(f"{_MODES.get(opened.mode, opened.mode)} to RGB")
    pixels = _shrunk(pixels, side)
    if pixels.mode == "CMYK":
        pixels = pixels.convert("RGB")
    if seen_through:
        pixels = pixels.convert("RGBA")
        if pixels.getchannel("A").getextrema() != (255, 255):
            said.append("transparent parts to white")
        pixels = _on_white(pixels)
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


def encode_pixels(pixels: Pixels, *, lossy: bool) -> tuple[str, bytes]:
    """(media type, bytes) of a new file. Never WebP: llama.cpp's own reader does not know it."""
    pixels.info.clear()  # Pillow would write comments and profiles again
    out = io.BytesIO()
    if lossy:
        pixels.save(out, "JPEG", quality=JPEG_QUALITY, subsampling=0)
        return "image/jpeg", out.getvalue()
    pixels.save(out, "PNG")
    return "image/png", out.getvalue()


def turn_upright(pixels: Pixels, orientation: int) -> Pixels:
    """The image as it was seen, where it was stored in one of the eight ways of EXIF 2.3."""
    return pixels.transpose(_turns()[orientation]) if orientation > 1 else pixels


def _turns() -> dict[int, Transpose]:
    """What brings an image that stands so upright (EXIF 2.3, orientation)."""
    from PIL.Image import Transpose as To

    how = (To.FLIP_LEFT_RIGHT, To.ROTATE_180, To.FLIP_TOP_BOTTOM, To.TRANSPOSE, To.ROTATE_270, To.TRANSVERSE)
    return dict(enumerate((*how, To.ROTATE_90), start=2))
