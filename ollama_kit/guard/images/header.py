"""What a file is by its content, the size of the image in it, and its EXIF: read without decoding anything.

PNG   8 bytes of signature, then IHDR: width and height, 4 bytes each, big-endian
JPEG  segments up to the first frame header (SOF): height and width, 2 bytes each, big-endian
WebP  RIFF, then VP8, VP8L or VP8X, each with a size of its own form
GIF   the screen: width and height, 2 bytes each, little-endian
BMP   the header after the file's: 2 bytes each in OS/2's old form, else 4; a negative height is top-down
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from ollama_kit.errors import Hint, UsageError

ImageFormat = Literal["PNG", "JPEG", "WEBP", "GIF", "BMP"]
SUPPORTED = "PNG, JPEG, WebP, GIF or BMP"
SUFFIXES: dict[ImageFormat, tuple[str, ...]] = {
    "PNG": (".png", ".apng"),
    "JPEG": (".jpg", ".jpeg", ".jpe", ".jfif", ".mpo"),
    "WEBP": (".webp",),
    "GIF": (".gif",),
    "BMP": (".bmp", ".dib"),
}
MOST_SCANS = 100
"""Scans of one JPEG. A real progressive one has about ten; each costs a pass over the whole image."""

_AS_PNG: Hint = ("Save it as PNG or JPEG and send that.", "请另存为 PNG 或 JPEG 后再发送。")
_PAGE: Hint = (
    "Save the page as PNG, or extract its text and send it as a document.",
    "请把页面另存为 PNG，或提取文字后作为文档发送。",
)
_HEIC: Hint = (
    "Export it as JPEG first; a phone can be set to take JPEGs (iPhone: Camera, Formats, Most Compatible).",
    "请先导出为 JPEG；手机也可设为直接拍 JPEG（iPhone：相机 → 格式 → 兼容性最佳）。",
)

_OTHER_FILES: tuple[tuple[bytes, str, Hint], ...] = (
    (rb"%PDF", "a PDF", _PAGE),
    (rb"....ftyp(?:hei|hev|mif1|msf1)", "a HEIC photo", _HEIC),
    (rb"....ftyp(?:avif|avis)", "an AVIF image", _AS_PNG),
    (rb"....ftyp", "a video", _AS_PNG),
    (rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml|<!--|<!doctype svg|<svg)[^\0]*?<svg[\s>]", "an SVG drawing", _AS_PNG),
    (rb"(?:\xef\xbb\xbf)?\s*<svg[\s>]", "an SVG drawing", _AS_PNG),
    (rb"(?:II\*\0|MM\0\*|II\+\0|MM\0\+)", "a TIFF", _AS_PNG),
    (rb"PK\x03\x04", "a ZIP archive (or an Office file)", ""),
    (rb"8BPS", "a Photoshop file", _AS_PNG),
    (rb"\0\0\x01\0", "an icon (ICO)", _AS_PNG),
    (rb"(?:\xff\x0a|\0\0\0\x0cJXL )", "a JPEG XL image", _AS_PNG),
    (rb"(?:\xff\x4f\xff\x51|\0\0\0\x0cjP  )", "a JPEG 2000 image", _AS_PNG),
    (rb"\s*<(?:!doctype html|html)", "an HTML page", ""),
    (rb"GGUF", "a model's weights (GGUF)", ""),
)
"""What else a file may be: how it begins, what to call it, what to do."""


@dataclass(frozen=True)
class ImageHeader:
    """The format of an image, and its size in pixels as its header states it."""

    format: ImageFormat
    width: int
    height: int

    @property
    def pixels(self) -> int:
        return self.width * self.height


def read_header(data: bytes, name: str) -> ImageHeader:
    """What the image in `data` is. UsageError, naming it as `name`, if its format is not supported, or it is
    truncated before its size is known or before its own end mark."""
    kind = next((kind for kind, begins in _BEGINS.items() if re.match(begins, data, re.DOTALL)), None)
    if kind is None:
        raise _unsupported(data, name)
    size, complete = _READERS[kind]
    try:
        width, height = size(data)
    except (IndexError, ValueError) as error:
        raise UsageError(f"{name} begins as a {kind}, but is cut short: it ends before its size is given") from error
    if width < 1 or height < 1:
        raise UsageError(f"{name} is a {kind} of {width} × {height} pixels: it has no content")
    if not complete(data):
        raise cut_short(name, kind)
    return ImageHeader(kind, width, height)


def cut_short(name: str, kind: ImageFormat) -> UsageError:
    """The error for an image whose end is missing."""
    return UsageError(
        f"{name} is a {kind} that is cut short: the end of the image is missing",
        hint=("Copy or download it again.", "请重新复制或下载该图片。"),
    )


def _unsupported(data: bytes, name: str) -> UsageError:
    if not data:
        return UsageError(f"{name} is empty; expected an image: {SUPPORTED}")
    for begins, what, hint in _OTHER_FILES:
        if re.match(begins, data[:2048], re.DOTALL | re.IGNORECASE):
            return UsageError(f"{name} is {what}; supported formats are {SUPPORTED}", hint=hint)
    return UsageError(f"{name} is not an image of a supported format ({SUPPORTED})")


_BEGINS: dict[ImageFormat, bytes] = {
    "PNG": rb"\x89PNG\r\n\x1a\n",
    "JPEG": rb"\xff\xd8\xff",
    "WEBP": rb"RIFF....WEBP",
    "GIF": rb"GIF8[79]a",
    "BMP": rb"BM.{4}",
}


def _png(data: bytes) -> tuple[int, int]:
    _need(data[12:16] == b"IHDR" and len(data) >= 33)
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def _jpeg(data: bytes) -> tuple[int, int]:
    at = 2
    while True:
        while data[at] == 0xFF:
            at += 1
        marker, at = data[at], at + 1
        if marker in _ALONE:
            at = data.index(b"\xff", at)
            continue
        _need(marker not in _NO_FRAME_YET)
        length = int.from_bytes(data[at : at + 2], "big")
        if marker in _FRAMES:
            _need(len(data) >= at + 7)
            return int.from_bytes(data[at + 5 : at + 7], "big"), int.from_bytes(data[at + 3 : at + 5], "big")
        _need(length >= 2)
        at = data.index(b"\xff", at + length)


_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
_NO_FRAME_YET = frozenset({0xD9, 0xDA})
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def _webp(data: bytes) -> tuple[int, int]:
    _need(len(data) >= (25 if data[12:16] == b"VP8L" else 30))
    if data[12:16] == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if data[12:16] == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    _need(data[12:16] == b"VP8 ")
    return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF


def _gif(data: bytes) -> tuple[int, int]:
    _need(len(data) >= 13)
    return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")


def _bmp(data: bytes) -> tuple[int, int]:
    _need(len(data) >= 26)
    if int.from_bytes(data[14:18], "little") == 12:
        return int.from_bytes(data[18:20], "little"), int.from_bytes(data[20:22], "little")
    width = int.from_bytes(data[18:22], "little", signed=True)
    return width, abs(int.from_bytes(data[22:26], "little", signed=True))


def _need(there: bool) -> None:
    if not there:
        raise ValueError("the header is truncated")


# What decoders accept: a file without its end mark, whose last part they fill with grey.
_READERS: dict[ImageFormat, tuple[Callable[[bytes], tuple[int, int]], Callable[[bytes], bool]]] = {
    "PNG": (_png, lambda data: data.rfind(b"IEND") > 0),
    "JPEG": (_jpeg, lambda data: data.rfind(b"\xff\xd9") > data.rfind(b"\xff\xda") > 0),
    "WEBP": (_webp, lambda data: int.from_bytes(data[4:8], "little") <= len(data) - 8),
    "GIF": (_gif, lambda data: len(data) > 13),
    "BMP": (_bmp, lambda data: len(data) > 26),
}


def count_scans(data: bytes) -> int:
    """The scans of a JPEG, those of its previews too."""
    return data.count(b"\xff\xda")


# The two things of EXIF that matter before it is dropped: how the image is oriented, and whether it tells where it was
# taken. Read here and not by Pillow, which warns on stderr if EXIF is damaged.


MARK = b"Exif\0\0"
ORIENTATION, GPS, LATITUDE = 0x0112, 0x8825, 0x0002  # tags of EXIF 2.3
MOST_BYTES = 2**16  # a JPEG segment is no longer

# Inside compressed pixels FF is followed by 00, so that these are segments wherever they are found.
_SEGMENT = re.compile(rb"\xff\xe1..Exif\0\0", re.DOTALL)
_PARSED = re.compile(rb"(\xff\xe1..)Exif\0\0|(\xff\xe2..)MPF\0", re.DOTALL)


@dataclass(frozen=True)
class Exif:
    """`there`: the file has any. `orientation` is 1 to 8, 1 being upright."""

    there: bool = False
    orientation: int = 1
    has_position: bool = False


def exif_of_jpeg(data: bytes) -> Exif:
    """What the first EXIF segment of a JPEG says."""
    found = _SEGMENT.search(data)
    return read_exif(data[found.end() : found.end() + MOST_BYTES]) if found else Exif()


def without_exif(data: bytes) -> bytes:
    """A JPEG, of the same length, in which a decoder finds neither EXIF nor a list of further pictures."""
    return _PARSED.sub(lambda found: (found[1] or found[2]).ljust(len(found[0]), b"\0"), data)


def read_exif(blob: bytes) -> Exif:
    """What a block of EXIF says, with or without its mark; if it is damaged, as far as it can be read.

    >>> read_exif(b"MM\\0*\\0\\0\\0\\x08\\0\\x01\\x01\\x12\\0\\x03\\0\\0\\0\\x01\\0\\x06\\0\\0")
    Exif(there=True, orientation=6, has_position=False)
    """
    blob = blob[:MOST_BYTES].removeprefix(MARK)
    order = {b"II": "<", b"MM": ">"}.get(blob[:2])
    if order is None:
        return Exif(there=bool(blob))
    orientation, has_position = 1, False
    for tag, at in _entries(blob, 4, order):
        if tag == ORIENTATION:
            stored = _number(blob, at, f"{order}H")
            orientation = stored if 1 <= stored <= 8 else 1
        elif tag == GPS:
            has_position = any(tag == LATITUDE for tag, _ in _entries(blob, at, order))
    return Exif(True, orientation, has_position)


def _entries(blob: bytes, pointer: int, order: str) -> Iterator[tuple[int, int]]:
    """(tag, offset of its value) of each entry of the directory that `pointer` points to."""
    begins = _number(blob, pointer, f"{order}I")
    for entry in range(_number(blob, begins, f"{order}H") if begins >= 8 else 0):
        at = begins + 2 + 12 * entry
        if at + 12 > len(blob):
            return
        yield _number(blob, at, f"{order}H"), at + 8


def _number(blob: bytes, at: int, form: str) -> int:
    """The number at a place, 0 beyond the end."""
    if at + struct.calcsize(form) > len(blob):
        return 0
    return int(struct.unpack_from(form, blob, at)[0])
