"""The shape of a model in a GGUF file, read from its header; the parts of a split file are taken together."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from ollama_kit.errors import GGUFError
from ollama_kit.memory.metadata import shape_of
from ollama_kit.memory.shape import ModelShape
from ollama_kit.memory.tensors import TYPE_NAMES, Tensor
from ollama_kit.server.gguf_header import ARRAY, SCALAR_BYTES, TEXT, HeaderWalk

MAX_TENSORS = 65_536
MAX_ITEMS = MAX_KEPT = 4096
MAX_VALUE_BYTES = 1024
MAX_NAME_BYTES = 128
MAX_PARTS = 1000
"""What is kept of a header is a few MiB at most, whatever the header says; the largest model known has 3,000."""

_FORMS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)


@dataclass(frozen=True)
class Contents:
    """The header of one file: metadata without the vocabulary, and every tensor."""

    metadata: dict[str, Any] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)


def read_gguf(path: Path) -> ModelShape:
    """The shape of the model in a file, or in all the parts of a split one, of which any may be named.

    Nothing but headers is read. GGUFError for what is no GGUF, is cut short or damaged, is big-endian, or lacks a part.
    """
    paths = parts_of(path)
    first = read_contents(paths[0])
    tensors = list(first.tensors)
    for part in paths[1:]:
        tensors += read_contents(part).tensors
    wanted = first.metadata.get("split.tensors.count")
    if len(paths) > 1 and isinstance(wanted, int) and wanted != len(tensors):
        raise GGUFError(f"its {len(paths)} parts hold {len(tensors)} tensors of {wanted}", path=paths[0], hint=_AGAIN)
    if len(paths) == 1 and isinstance(first.metadata.get("split.count"), int) and first.metadata["split.count"] > 1:
        raise GGUFError(
            f"is one of {first.metadata['split.count']} parts, and its name does not say where the others are",
            path=path,
            hint=(
                "Keep the names as they were: name-00001-of-00003.gguf.",
                "请保留原文件名，如 name-00001-of-00003.gguf。",
            ),
        )
    return shape_of(path.name, str(paths[0]), first.metadata, tensors)


def tensor_bytes(path: Path) -> int:
    """The bytes of all tensors of a file: of a projector, say, of which a plan needs no more."""
    return sum(tensor.size_bytes for tensor in read_contents(path).tensors)


def parts_of(path: Path) -> tuple[Path, ...]:
    """The files of a model, the first one first: the file itself, or every part of a split one."""
    match = _PART.fullmatch(path.name)
    if match is None:
        return (path,)
    count = int(match["count"])
    if not 1 <= count <= MAX_PARTS:
        raise GGUFError(f"its name speaks of {count} parts; 1 to {MAX_PARTS} are read", path=path)
    paths = tuple(path.with_name(f"{match['stem']}-{at:05}-of-{count:05}.gguf") for at in range(1, count + 1))
    missing = [part.name for part in paths if not part.is_file()]
    if missing:
        raise GGUFError(f"{len(missing)} of {count} parts are missing, the first {missing[0]}", path=path, hint=_AGAIN)
    return paths


def read_contents(path: Path) -> Contents:
    """What the header of one file holds."""
    try:
        with path.open("rb") as file:
            return contents_of(file, path, path.stat().st_size)
    except OSError as error:
        raise GGUFError(f"cannot be read: {error.strerror or error}", path=path) from error


def contents_of(file: BinaryIO, path: Path, size_bytes: int) -> Contents:
    """What the header at the start of an open file holds; `path` is for messages."""
    walk = _Keeping(file, path, size_bytes)
    end = walk.header().data_end_bytes
    if end > size_bytes:
        raise GGUFError(
            f"is cut short: {size_bytes} bytes are there, its header speaks of {end}", path=path, hint=_AGAIN
        )
    return walk.contents


class _Keeping(HeaderWalk):
    """Keeps what a plan needs. The vocabulary, long texts and long lists are passed by."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.contents = Contents()

    def _value(self, key: bytes, kind: int) -> None:
        if key.startswith(b"tokenizer.") or len(self.contents.metadata) >= MAX_KEPT or len(key) > MAX_NAME_BYTES:
            self._skip_value(kind)
        elif kind in SCALAR_BYTES:
            self._keep(key, self._scalars(kind, 1)[0])
        elif kind == TEXT:
            length = self._number("<Q")
            if length > MAX_VALUE_BYTES:
                self._skip(length)
            else:
                self._keep(key, self._read(length).decode("utf-8", "replace"))
        elif kind == ARRAY:
            self._list(key)
        else:
            self._skip_value(kind)

    def _list(self, key: bytes) -> None:
        inner, count = self._number("<I"), self._number("<Q")
        if inner in SCALAR_BYTES and count <= MAX_ITEMS:
            self._keep(key, self._scalars(inner, count))
        else:
            self._skip_items(inner, count)

    def _scalars(self, kind: int, count: int) -> tuple[Any, ...]:
        return struct.unpack(f"<{count}{_FORMS[kind]}", self._read(SCALAR_BYTES[kind] * count))

    def _keep(self, key: bytes, value: Any) -> None:
        self.contents.metadata[key.decode("utf-8", "replace")] = value

    def _tensor_found(self, name: bytes, shape: tuple[int, ...], kind: int) -> None:
        if kind not in TYPE_NAMES:
            raise self._broken(f"has a tensor of the unknown type {kind}")
        if len(self.contents.tensors) >= MAX_TENSORS or len(name) > MAX_NAME_BYTES or max(shape, default=0) >= 2**48:
            raise self._broken(f"has the tensor {name[:40]!r} of the shape {shape}, past what a model holds")
        self.contents.tensors.append(Tensor(name.decode("utf-8", "replace"), TYPE_NAMES[kind], shape))


_AGAIN = ("Download or copy the file again.", "请重新下载或复制该文件。")
