"""An image as a caller has it → an image as a model gets it. The only place that imports Pillow."""

from __future__ import annotations

import io
import re
import stat
import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ollama_kit.errors import GuardBlocked, Hint, UsageError
from ollama_kit.guard.images.header import (
    MOST_SCANS,
    SUFFIXES,
    Exif,
    ImageHeader,
    count_scans,
    cut_short,
    exif_of_jpeg,
    read_exif,
    read_header,
    without_exif,
)
from ollama_kit.guard.images.image import STAGE, Image, ImageRules
from ollama_kit.records.report import Action, Finding, Severity

if TYPE_CHECKING:
    from PIL.Image import Image as Pixels, Transpose

# One slash is enough: a path made from a URL has lost the other.
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]+:/|data:", re.IGNORECASE)

_NOT_FETCHED: Hint = (
    "Images are never fetched: download it yourself, and pass the file.",
    "图片不会被自动下载：请自行下载后给出文件路径。",
)
_TOO_LARGE: Hint = (
    "Shrink it first, or raise the policy's limit (`image_megapixels`, `image_megabytes`).",
    "请先缩小图片，或在策略中调大 `image_megapixels`、`image_megabytes`。",
)
DEFAULT = ImageRules()


def prepare_image(source: Path | str | bytes, rules: ImageRules = DEFAULT, *, name: str = "") -> Image:
    """The image in a file (or in its bytes): its first frame, upright, in RGB or grey, at most `rules.longest_side`
    pixels per side, encoded again as PNG (JPEG, if it was a lossy format), so that no metadata and no second content is
    left in it. The same image gives the same bytes, and the server's prompt cache still works.

    Its content is untrusted: a picture may hold sentences for the model, and an answer about it is text from
    outside like any document.

    UsageError if it is a URL, not an image of a supported format, or damaged, and if Pillow is not installed;
    GuardBlocked if it is larger than the rules allow. Both before a pixel is decoded, except for damage.
    """
    data = source if isinstance(source, bytes) else _read(source, rules)
    name = name or ("the image" if isinstance(source, bytes) else str(source))
    if len(data) > rules.limit_bytes:
        raise _too_many_bytes(name, len(data), rules)
    header = read_header(data, name)
    _check_size(header, rules, name)
    if header.format == "JPEG" and (scans := count_scans(data)) > MOST_SCANS:
        raise _refusal(f"{name} is a JPEG of {scans:,} scans; {MOST_SCANS} are allowed", "scans")
    suffix = "" if isinstance(source, bytes) else Path(source).suffix.lower()
    findings = (_misnamed(suffix, header, name),) if suffix and suffix not in SUFFIXES[header.format] else ()
    return _decode(_CheckedFile(data, header, rules, name), findings)


def refuse_url(source: object) -> None:
    """UsageError if an image is given as a URL."""
    if isinstance(source, str | Path) and _URL.match(str(source)):
        shown = str(source) if len(str(source)) < 80 else f"{str(source)[:60]}…"
        raise UsageError(f"{shown} is a URL, not a file", hint=_NOT_FETCHED)


def _misnamed(suffix: str, header: ImageHeader, name: str) -> Finding:
    """The finding that a file's name disagrees with its content."""
    detail = f"named {suffix}, is {header.format}"
    return Finding(STAGE, "misnamed", "low", "flagged", name, (0, 0), detail)


def _read(source: Path | str, rules: ImageRules) -> bytes:
    """The bytes of a file, no more than the rules allow. Pipes and devices are not read: they may have no end."""
    refuse_url(source)
    path = Path(source)
    try:
        state = path.stat()
        if not stat.S_ISREG(state.st_mode):
            raise UsageError(f"{path} is not a file")
        if state.st_size > rules.limit_bytes:
            raise _too_many_bytes(str(path), state.st_size, rules)
        with path.open("rb") as file:
            return file.read(rules.limit_bytes + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"the image {path} cannot be read: {reason}") from error


def _too_many_bytes(name: str, size: int, rules: ImageRules) -> GuardBlocked:
    return _refusal(f"{name} is {size / 2**20:,.1f} MiB; {rules.limit_bytes / 2**20:,.1f} are allowed", "bytes")


def _check_size(header: ImageHeader, rules: ImageRules, name: str) -> None:
    """GuardBlocked if an image of that size is more than the rules allow."""
    if header.pixels > rules.limit_pixels:
        size = f"{header.width:,} × {header.height:,} pixels ({header.pixels / 1e6:,.1f} million)"
        raise _refusal(f"{name} is {size}; {rules.limit_pixels / 1e6:,.1f} million are allowed", "pixels")


def _refusal(reason: str, rule: str) -> GuardBlocked:
    """The error for an image beyond one of its bounds: "bytes", "pixels" or "scans"."""
    return GuardBlocked(
        f"refused by the guard: {reason}",
        stage=STAGE,
        reason=f"{rule}: {reason}",
        hint=_TOO_LARGE if rule != "scans" else "",
    )


# Decoding. What comes in has passed the checks of its header.


EXTRA = "ollama-kit[images]"
LOSSY = frozenset({"JPEG", "WEBP"})
METADATA = {"xmp": "XMP", "icc_profile": "color profile", "comment": "comment", "photoshop": "IPTC"}
_XMP_IN_PNG = "XML:com.adobe.xmp"

# What Pillow's decoders raise at a damaged file; warnings too, which are errors if a program says so.
# MemoryError is not among them.
_DAMAGED = (OSError, EOFError, ValueError, SyntaxError, TypeError, KeyError, IndexError, OverflowError)
_BROKEN = (*_DAMAGED, Warning, AttributeError, ZeroDivisionError, struct.error, zlib.error)


@dataclass(frozen=True)
class _CheckedFile:
    """A file whose header has been checked."""

    data: bytes = field(repr=False)
    header: ImageHeader
    rules: ImageRules
    name: str


def _decode(file: _CheckedFile, findings: tuple[Finding, ...] = ()) -> Image:
    """The image of `prepare_image`, from a file whose header has been checked. UsageError if it is damaged, or
    Pillow is not installed."""
    pillow = _load_pillow()
    kind, name = file.header.format, file.name
    data = without_exif(file.data) if kind == "JPEG" else file.data
    try:
        with pillow.open(io.BytesIO(data), formats=[kind]) as opened:
            return _decoded(opened, file, list(findings))
    except pillow.UnidentifiedImageError as error:
        raise UsageError(f"{name} begins as a {kind}, but is too damaged to read") from error
    except pillow.DecompressionBombError as error:
        raise UsageError(f"{name} cannot be decoded: {error}") from error
    except _BROKEN as error:
        if "truncated" in str(error):
            raise cut_short(name, kind) from error
        raise UsageError(f"{name} is a damaged {kind}: {error}") from error


def _load_pillow() -> ModuleType:
    """PIL.Image; UsageError that names the extra if Pillow is not installed."""
    try:
        from PIL import Image as pillow
    except ImportError as error:
        raise UsageError(
            "images need Pillow, which is not installed",
            hint=(f"Install it with `pip install '{EXTRA}'`.", f"请运行 `pip install '{EXTRA}'` 安装。"),
        ) from error
    return pillow


def _decoded(opened: Pixels, file: _CheckedFile, findings: list[Finding]) -> Image:
    def note(rule: str, action: Action, detail: str, severity: Severity = "info") -> None:
        findings.append(Finding(STAGE, rule, severity, action, file.name, (0, 0), detail))

    kind, side, before = file.header.format, file.rules.longest_side, opened.size
    # A frame, or a second header, may be larger than the first one says.
    _check_size(ImageHeader(kind, *before), file.rules, file.name)
    # Frames are not counted: there may be millions. Further pictures in a JPEG are previews or depths.
    if kind != "JPEG" and getattr(opened, "is_animated", False):
        note("animated", "removed", "all frames but the first")
    opened.draft(None, (side, side))  # a JPEG is decoded at a half, a quarter or an eighth, never smaller than that
    opened.load()
    exif = exif_of_jpeg(file.data) if kind == "JPEG" else read_exif(opened.info.get("exif") or b"")
    kept = _metadata(opened, exif)
    if kept:
        note("metadata", "removed", ", ".join(kept), "low" if exif.has_position else "info")
    pixels, changes = _in_plain_colors(opened, side)
    if changes:
        note("colors", "converted", changes)
    if pixels.size != before:
        note("downscaled", "converted", f"{before[0]} × {before[1]} to {pixels.width} × {pixels.height} pixels")
    pixels = _turn_upright(pixels, exif.orientation)
    if exif.orientation > 1:
        note("orientation", "converted", "turned as its EXIF says")
    media_type, encoded = _encode_pixels(pixels, lossy=kind in LOSSY)
    return Image(encoded, media_type, pixels.width, pixels.height, tuple(findings), file.name)


def _metadata(opened: Pixels, exif: Exif) -> list[str]:
    """What is in the file besides pixels, by name."""
    info = {str(key) for key in opened.info}
    kept = [word for key, word in METADATA.items() if key in info or (key == "xmp" and _XMP_IN_PNG in info)]
    texts = [key for key in getattr(opened, "text", {}) if key != _XMP_IN_PNG]
    named = (("EXIF", exif.there), ("GPS position", exif.has_position), ("text", bool(texts)))
    return [*(word for word, there in named if there), *kept]


# Pixels on their way from whatever a file holds to what a model reads: few, upright, in plain colors.


JPEG_QUALITY = 92


def _in_plain_colors(opened: Pixels, side: int) -> tuple[Pixels, str]:
    """The image in RGB or grey, at most `side` pixels per side, and what that took. What is transparent becomes white:
    a model would see it as black."""
    pixels, changes = opened, []
    if opened.mode.startswith("I") or opened.mode == "F":
        pixels = opened.point(lambda value: value * (1 / 256)).convert("L")
        changes.append("16 bits to 8")
    transparent = "transparency" in opened.info or opened.mode in ("RGBA", "LA", "PA", "RGBa", "La")
    if pixels.mode not in (("LA", "RGBA") if transparent else ("L", "RGB", "RGBA", "CMYK")):
        pixels = pixels.convert("RGBA" if transparent else "RGB")
    if opened.mode not in ("L", "RGB", "RGBA") and not changes:
        changes.append(f"{_MODES.get(opened.mode, opened.mode)} to RGB")
    pixels = _shrunk(pixels, side)
    if pixels.mode == "CMYK":
        pixels = pixels.convert("RGB")
    if transparent:
        pixels = pixels.convert("RGBA")
        if pixels.getchannel("A").getextrema() != (255, 255):
            changes.append("transparent parts to white")
        pixels = _on_white(pixels)
    return pixels, ", ".join(changes)


_MODES = {"1": "black and white", "P": "palette", "PA": "palette", "LA": "grey", "La": "grey", "YCbCr": "YCbCr"}


def _shrunk(pixels: Pixels, side: int) -> Pixels:
    """At most `side` pixels per side; whole factors first, which takes no second copy of a large image."""
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


def _encode_pixels(pixels: Pixels, *, lossy: bool) -> tuple[str, bytes]:
    """(media type, bytes) of a new file. Never WebP: llama.cpp's own reader does not know it."""
    pixels.info.clear()  # Pillow would write comments and profiles again
    out = io.BytesIO()
    if lossy:
        pixels.save(out, "JPEG", quality=JPEG_QUALITY, subsampling=0)
        return "image/jpeg", out.getvalue()
    pixels.save(out, "PNG")
    return "image/png", out.getvalue()


def _turn_upright(pixels: Pixels, orientation: int) -> Pixels:
    """The image as it is meant to be seen, if it was stored in another of the eight ways of EXIF 2.3."""
    return pixels.transpose(_turns()[orientation]) if orientation > 1 else pixels


def _turns() -> dict[int, Transpose]:
    """What turns an image of each orientation upright (EXIF 2.3, orientation)."""
    from PIL.Image import Transpose as To

    how = (To.FLIP_LEFT_RIGHT, To.ROTATE_180, To.FLIP_TOP_BOTTOM, To.TRANSPOSE, To.ROTATE_270, To.TRANSVERSE)
    return dict(enumerate((*how, To.ROTATE_90), start=2))
