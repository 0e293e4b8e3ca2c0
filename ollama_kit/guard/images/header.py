"""What a file is by its content, and the size of the image in it, read without decoding anything.

PNG   8 bytes of signature, then IHDR: width and height, 4 bytes each, big-endian
JPEG  segments up to the first frame header (SOF): height and width, 2 bytes each, big-endian
WebP  RIFF, then VP8, VP8L or VP8X, each with a size of its own form
GIF   the screen: width and height, 2 bytes each, little-endian
BMP   the header after the file's: 2 bytes each in OS/2's old form, else 4; a negative height is top-down
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ollama_kit.errors import Hint, UsageError

Kind = Literal["PNG", "JPEG", "WEBP", "GIF", "BMP"]
TAKEN = "PNG, JPEG, WebP, GIF or BMP"
SUFFIXES: dict[Kind, tuple[str, ...]] = {
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

_OTHERS: tuple[tuple[bytes, str, Hint], ...] = (
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
class Header:
    """The kind of an image, and its size in pixels as its header states it."""

    kind: Kind
    width: int
    height: int

    @property
    def pixels(self) -> int:
        return self.width * self.height


def read_header(data: bytes, name: str) -> Header:
    """What the image in `data` is. UsageError, naming it as `name`, where it is none of a kind that is taken, or is
    cut short before its size is known or before its own end mark."""
    kind = next((kind for kind, begins in _BEGINS.items() if re.match(begins, data, re.DOTALL)), None)
    if kind is None:
        raise _not_taken(data, name)
    size, whole = _READERS[kind]
    try:
        width, height = size(data)
    except (IndexError, ValueError) as error:
        raise UsageError(f"{name} begins as a {kind} and ends before its size is told: it is cut short") from error
    if width < 1 or height < 1:
        raise UsageError(f"{name} is a {kind} of {width} × {height} pixels: there is nothing to see")
    if not whole(data):
        raise cut_short(name, kind)
    return Header(kind, width, height)


def cut_short(name: str, kind: Kind) -> UsageError:
    """The error for an image that is not all there."""
    return UsageError(
        f"{name} is a {kind} that is cut short: the end of the image is missing",
        hint=("Copy or download it again.", "请重新复制或下载该图片。"),
    )


def _not_taken(data: bytes, name: str) -> UsageError:
    if not data:
        return UsageError(f"{name} is empty; an image is expected: {TAKEN}")
    for begins, what, hint in _OTHERS:
        if re.match(begins, data[:2048], re.DOTALL | re.IGNORECASE):
            return UsageError(f"{name} is {what}; taken are {TAKEN}", hint=hint)
    return UsageError(f"{name} is not an image of a kind that is taken: {TAKEN}")


_BEGINS: dict[Kind, bytes] = {
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
        raise ValueError("the header is not whole")


# What decoders let pass: a file without its end mark, whose last part they fill with grey.
_READERS: dict[Kind, tuple[Callable[[bytes], tuple[int, int]], Callable[[bytes], bool]]] = {
    "PNG": (_png, lambda data: data.rfind(b"IEND") > 0),
    "JPEG": (_jpeg, lambda data: data.rfind(b"\xff\xd9") > data.rfind(b"\xff\xda") > 0),
    "WEBP": (_webp, lambda data: int.from_bytes(data[4:8], "little") <= len(data) - 8),
    "GIF": (_gif, lambda data: len(data) > 13),
    "BMP": (_bmp, lambda data: len(data) > 26),
}


def count_scans(data: bytes) -> int:
    """The scans of a JPEG, those of its previews too."""
    return data.count(b"\xff\xda")
