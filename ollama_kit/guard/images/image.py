"""What goes to the model: an image as bytes that hold nothing but its pixels, and the bounds it is kept to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from ollama_kit.records.report import Finding

STAGE = "images"


@dataclass(frozen=True)
class ImageRules:
    """The bounds of an image. `longest_side` in pixels: a larger one is shrunk to it; vision models look at 336 to
    about 1,500 pixels per side. A file of more than `limit_bytes`, or whose header says more than `limit_pixels`, is
    refused before it is decoded; decoding takes up to about 10 bytes per pixel, 17 for WebP (measured)."""

    longest_side: int = 1536
    limit_pixels: int = 50_000_000
    limit_bytes: int = 20 * 2**20


@dataclass(frozen=True)
class Image:
    """A prepared image: PNG or JPEG, RGB or grey, upright, no larger than the rules allow, nothing in it but pixels.
    `findings` say what was done to it; `name` is what messages call it."""

    data: bytes = field(repr=False)
    media_type: str
    width: int
    height: int
    findings: tuple[Finding, ...] = ()
    name: str = ""

    def found_as(self, source: str) -> tuple[Finding, ...]:
        """The findings under the name that a report gives the image: "message 0 image 1"."""
        return tuple(replace(found, source=source) for found in self.findings)


ImageLike = Image | Path | str | bytes
"""An image of a message: prepared, or the path or the bytes of a file. Never a URL: nothing is fetched."""
