"""Whether a file is a complete GGUF, checked by its header before gigabytes are sent.

Format: ggml docs/gguf.md, versions 2 and 3. Only the header is read (key-values are skipped, not kept), so the cost
does not grow with the weights.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ollama_kit.errors import GGUFError

MAGIC = b"GGUF"
MAX_TENSORS = 1_000_000
MAX_KEY_VALUES = 2**16
MAX_KEY_BYTES = 2**16  # docs/gguf.md: a key has at most 2^16 - 1 bytes, a tensor's name 64
MAX_TEXTS = 2**24
MAX_LISTS = 2**12
MAX_HEADER_BYTES = 2**28
DEFAULT_ALIGNMENT = 32
WINDOW_BYTES = 2**20

# Key-value types and their sizes in bytes; 8 is a string, 9 an array.
SCALAR_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
TEXT, ARRAY, UINT32 = 8, 9, 4

# Tensor types: (elements in a block, bytes of a block), from ggml-common.h. One that is not here has an unknown
# extent; q8_1 and q8_K are left out because they live in memory only.
BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17), 40: (64, 36), 41: (128, 18),
}  # fmt: skip


@dataclass(frozen=True)
class GGUFHeader:
    """What the header says: how many tensors, where their data begins, and where it ends at the earliest."""

    version: int
    tensor_count: int
    key_value_count: int
    data_start_bytes: int
    data_end_bytes: int


def check_gguf(path: Path) -> GGUFHeader:
    """The header of a complete GGUF; GGUFError for a file that is not one, is truncated, or has another byte order."""
    try:
        size_bytes = path.stat().st_size
        with path.open("rb") as file:
            header = HeaderWalk(file, path, size_bytes).header()
    except OSError as error:
        raise GGUFError(f"cannot be read: {error.strerror or error}", path=path) from error
    if header.data_end_bytes > size_bytes:
        raise GGUFError(
            f"is truncated: it has {size_bytes} bytes, its header needs {header.data_end_bytes}",
            path=path,
            hint=("Download or copy the file again.", "请重新下载或复制该文件。"),
        )
    return header


class HeaderWalk:
    """Reads a header front to back; every length is checked against the file before it is used.

    `_window` holds the piece of the file around the position `_at`, so that 300,000 short texts (a vocabulary and its
    merges) do not cost a system call each, and memory stays bounded.
    """

    def __init__(self, file: BinaryIO, path: Path, size_bytes: int) -> None:
        self._file, self._path, self._size_bytes = file, path, size_bytes
        self._alignment = DEFAULT_ALIGNMENT
        self._window, self._at, self._start = b"", 0, 0

    def header(self) -> GGUFHeader:
        version = self._version()
        tensors, pairs = self._number("<Q"), self._number("<Q")
        if tensors > MAX_TENSORS or pairs > MAX_KEY_VALUES:
            raise self._broken(f"claims {tensors} tensors and {pairs} key-values")
        for _ in range(pairs):
            self._key_value()
        ends = [self._tensor() for _ in range(tensors)]
        start = -(-self._position // self._alignment) * self._alignment
        end = start + max(ends, default=0)
        return GGUFHeader(version, tensors, pairs, start, end if tensors else self._position)

    def _version(self) -> int:
        magic = self._start_of_file()
        if magic != MAGIC:
            raise GGUFError(f"is not a GGUF: it starts with {magic!r}", path=self._path, hint=_HINT)
        version = self._number("<I")
        if version & 0xFFFF == 0 and version:
            raise GGUFError(
                "is a big-endian GGUF, which Ollama does not read",
                path=self._path,
                hint=("Convert it with gguf-convert-endian.", "请用 gguf-convert-endian 转换。"),
            )
        if version not in (2, 3):
            raise GGUFError(
                f"is a GGUF of version {version}; versions 2 and 3 are supported", path=self._path, hint=_HINT
            )
        return version

    def _start_of_file(self) -> bytes:
        self._refill(4)
        self._at = 4
        return self._window[:4]

    def _key_value(self) -> None:
        key = self._text()
        kind = self._number("<I")
        if key == b"general.alignment" and kind == UINT32:
            self._alignment = self._number("<I")
            if not 0 < self._alignment <= 2**20:
                raise self._broken(f"has an alignment of {self._alignment}")
        else:
            self._value(key, kind)

    def _value(self, key: bytes, kind: int) -> None:
        """Handles a key-value whose value comes next: skipped here, kept by a walk that wants it."""
        self._skip_value(kind)

    def _skip_value(self, kind: int, depth: int = 0) -> None:
        if kind in SCALAR_BYTES:
            self._skip(SCALAR_BYTES[kind])
        elif kind == TEXT:
            self._skip(self._number("<Q"))
        elif kind == ARRAY and depth < 4:
            self._skip_items(self._number("<I"), self._number("<Q"), depth)
        else:
            raise self._broken(f"has a value of the unknown type {kind}")

    def _skip_items(self, inner: int, count: int, depth: int = 0) -> None:
        """Skips the items of an array."""
        if inner in SCALAR_BYTES:
            self._skip(SCALAR_BYTES[inner] * count)
            return
        # A string or an array takes at least 8 bytes: a count past that is a lie, not a long wait; and a sparse
        # file of zeros contains as many empty texts as anybody likes.
        if count * 8 > self._size_bytes or count > MAX_TEXTS:
            raise self._broken(f"has an array of {count} values")
        if inner == TEXT:
            self._skip_texts(count)
            return
        if count > MAX_LISTS:
            raise self._broken(f"has an array of {count} arrays")
        for _ in range(count):
            self._skip_value(inner, depth + 1)

    def _tensor(self) -> int:
        """Where a tensor's data ends, counted from the start of the data; its beginning where its type is unknown."""
        name = self._text()
        dimensions = self._number("<I")
        if dimensions > 8:
            raise self._broken(f"has a tensor of {dimensions} dimensions")
        shape = tuple(self._number("<Q") for _ in range(dimensions))
        kind, offset = self._number("<I"), self._number("<Q")
        per_block, block_bytes = BLOCKS.get(kind, (1, 0))
        self._tensor_found(name, shape, kind)
        return offset + -(-math.prod(shape) // per_block) * block_bytes

    def _tensor_found(self, name: bytes, shape: tuple[int, ...], kind: int) -> None:
        """Handles a tensor: does nothing here."""

    def _text(self) -> bytes:
        length = self._number("<Q")
        if length > MAX_KEY_BYTES:
            raise self._broken(f"has a text of {length} bytes in place of a name")
        return self._read(length)

    def _number(self, form: str) -> int:
        return int(struct.unpack(form, self._read(struct.calcsize(form)))[0])

    def _skip_texts(self, count: int) -> None:
        """Skips `count` texts; the plain case is written out because it runs once per token and once per merge."""
        length_at = struct.Struct("<Q").unpack_from
        while count:
            window, at = self._window, self._at
            last = len(window) - 8
            while count and at <= last:
                end = at + 8 + length_at(window, at)[0]
                if end > len(window):
                    break
                at = end
                count -= 1
            self._at = at
            if count:
                self._skip(self._number("<Q"))
                count -= 1

    @property
    def _position(self) -> int:
        """The position in the file."""
        return self._start + self._at

    def _read(self, length: int) -> bytes:
        if self._at + length > len(self._window):
            self._refill(length)
        data = self._window[self._at : self._at + length]
        self._at += length
        if len(data) < length:
            raise self._cut()
        return data

    def _refill(self, length: int) -> None:
        place = self._position
        if place > MAX_HEADER_BYTES:
            raise self._broken(f"has a header of more than {MAX_HEADER_BYTES // 2**20} MiB")
        self._file.seek(place)
        self._window, self._at, self._start = self._file.read(max(length, WINDOW_BYTES)), 0, place

    def _skip(self, length: int) -> None:
        if self._position + length > self._size_bytes:
            raise self._cut()
        self._at += length

    def _cut(self) -> GGUFError:
        return GGUFError(
            f"is truncated or damaged: its header extends past the end of the file at {self._size_bytes} bytes",
            path=self._path,
            hint=("Download or copy the file again.", "请重新下载或复制该文件。"),
        )

    def _broken(self, what: str) -> GGUFError:
        return GGUFError(f"is a damaged GGUF: it {what}", path=self._path, hint=_HINT)


_HINT = (
    "`from` and `adapter` take a GGUF file; convert other weights with llama.cpp's convert_hf_to_gguf.py.",
    "`from` 与 `adapter` 需要 GGUF 文件；其他权重请用 llama.cpp 的 convert_hf_to_gguf.py 转换。",
)
