"""What goes to the model: an image as bytes without anything but its pixels, and the rules that it obeys."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from ollama_kit.errors import GuardBlocked, Hint
from ollama_kit.guard.images.header import Header
from ollama_kit.records.report import Finding

STAGE = "images"

_TOO_LARGE: Hint = (
    "Shrink it first, or raise the policy's limit (`image_megapixels`, `image_megabytes`).",
    "请先缩小图片，或在策略中调大 `image_megapixels`、`image_megabytes`。",
)


@dataclass(frozen=True)
class ImageRules:
    """The bounds of an image. `longest_side` in pixels: a larger one is shrunk to it; vision models look at 336 to
    about 1,500 pixels a side. A file of more than `limit_bytes`, or whose header says more than `limit_pixels`, is
    refused before it is decoded; decoding takes up to about 10 bytes a pixel, 17 for WebP (measured)."""

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


def check_size(header: Header, rules: ImageRules, name: str) -> None:
    """GuardBlocked if an image of that size is more than the rules allow."""
    if header.pixels > rules.limit_pixels:
        size = f"{header.width:,} × {header.height:,} pixels ({header.pixels / 1e6:,.1f} million)"
        raise refusal(f"{name} is {size}; {rules.limit_pixels / 1e6:,.1f} million are allowed", "pixels")


def refusal(reason: str, rule: str) -> GuardBlocked:
    """The error for an image beyond one of its bounds: "bytes", "pixels" or "scans"."""
    return GuardBlocked(
        f"refused by the guard: {reason}",
        stage=STAGE,
        reason=f"{rule}: {reason}",
        hint=_TOO_LARGE if rule != "scans" else "",
    )
