"""The shape of a model in a GGUF: which layers attend, which look back how far, which only keep a state.

`shape_of` reads metadata and tensors, wherever they come from; `read_gguf` takes them from the header of a file, or
from those of all parts of a split one.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from ollama_kit.errors import GGUFError
from ollama_kit.memory.shape import TYPE_NAMES, Layer, ModelShape, Recurrent, Tensor
from ollama_kit.server.gguf_header import ARRAY, SCALAR_BYTES, TEXT, HeaderWalk

MAX_LAYERS = 4096
MAX_FIGURE = 2**31

WINDOW_EVERY: Mapping[str, int] = {
    "cohere2": 4,
    "exaone4": 4,
    "gemma2": 2,
    "gemma3": 6,
    "gemma3n": 5,
    "gpt-oss": 2,
    "gptoss": 2,
    "olmo2": 4,
}
"""Architectures whose layers look back a window only, but for the last of every so many (llama.cpp llama-model.cpp,
`set_swa_pattern`). Others that name a window are given the whole context there, and so here."""

MEASURED = frozenset({"llama", "qwen2", "qwen3", "gemma3", "qwen35", "qwen3moe", "qwen35moe"})
"""Architectures whose compute buffers were measured."""

_ATTENTION = ("attn_k.", "attn_kv_", "attn_k_b.")
_RECURRENT = ("ssm_conv1d.", "ssm_a", "shortconv.conv.", "time_mix_")

MAX_TENSORS = 65_536
MAX_ITEMS = MAX_KEPT = 4096
MAX_VALUE_BYTES = 1024
MAX_NAME_BYTES = 128
MAX_PARTS = 1000
"""What is kept of a header is a few MiB at most, whatever the header says; the largest model known has 3,000."""

_FORMS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE)
_AGAIN = ("Download or copy the file again.", "请重新下载或复制该文件。")


def shape_of(name: str, origin: str, metadata: Mapping[str, Any], tensors: Sequence[Tensor]) -> ModelShape:
    """The shape of the model that the metadata describes; GGUFError where what a plan needs is missing or absurd."""
    return _Described(name, origin, metadata, tuple(tensors)).shape()


@dataclass(frozen=True)
class _Described:
    name: str
    origin: str
    metadata: Mapping[str, Any]
    tensors: tuple[Tensor, ...]

    def shape(self) -> ModelShape:
        blocks = self.figure("block_count")
        if not blocks or blocks > MAX_LAYERS:
            raise self.fails(f"gives {blocks} layers")
        embedding, heads = self.figure("embedding_length"), self.widest("attention.head_count")
        key_length = self.figure("attention.key_length") or embedding // max(heads, 1)
        experts_used = self.figure("expert_used_count")
        layers = self.layers(blocks, heads)
        return ModelShape(
            name=self.name,
            origin=self.origin,
            architecture=self.architecture,
            trained_context=self.figure("context_length"),
            embedding=embedding,
            heads=heads,
            key_length=key_length,
            value_length=self.figure("attention.value_length") or key_length,
            layers=layers,
            tensors=self.tensors,
            ff=self.widest("feed_forward_length") if self.has_dense_layer or not experts_used else 0,
            experts=self.figure("expert_count"),
            experts_used=experts_used,
            expert_ff=self.figure("expert_feed_forward_length") or self.widest("feed_forward_length"),
            window=self.window if any(layer.windowed for layer in layers) else 0,
            recurrent=self.recurrent,
            rope_sections=f"{self.architecture}.rope.dimension_sections" in self.metadata,
            notes=tuple(self.notes(layers)),
        )

    @property
    def architecture(self) -> str:
        found = self.metadata.get("general.architecture")
        if not isinstance(found, str) or not found:
            raise self.fails("names no architecture")
        return found

    @property
    def window(self) -> int:
        return self.figure("attention.sliding_window")

    @property
    def has_dense_layer(self) -> bool:
        return any(tensor.name.endswith("ffn_down.weight") for tensor in self.tensors)

    @property
    def recurrent(self) -> Recurrent:
        """llama.cpp llama-hparams.cpp, n_embd_r and n_embd_s."""
        short = self.figure("shortconv.l_cache")
        if short:
            return Recurrent((short - 1) * self.figure("embedding_length"), 0, 0)
        inner, state = self.figure("ssm.inner_size"), self.figure("ssm.state_size")
        channels = inner + 2 * self.figure("ssm.group_count") * state
        return Recurrent(max(self.figure("ssm.conv_kernel") - 1, 0) * channels, state * inner, channels)

    def layers(self, blocks: int, heads: int) -> tuple[Layer, ...]:
        kv_heads, windowed = self.per_layer("attention.head_count_kv", blocks, heads), self.windowed(blocks)
        predicting = blocks - min(self.figure("nextn_predict_layers"), blocks)
        sharing = predicting - min(self.figure("attention.shared_kv_layers"), predicting)
        held: list[set[str]] = [set() for _ in range(blocks)]
        for tensor in self.tensors:
            if tensor.layer is not None and tensor.layer < blocks:
                held[tensor.layer].add(tensor.name.split(".", 2)[2])
        found = []
        for at, names in enumerate(held):
            recurrent = _any_starts(names, _RECURRENT)
            attends = _any_starts(names, _ATTENTION) or (_any_starts(names, ("attn_qkv.",)) and not recurrent)
            own = attends and not sharing <= at < predicting
            found.append(Layer(kv_heads[at] if own else 0, own and windowed[at], recurrent, at >= predicting))
        return tuple(found)

    def windowed(self, blocks: int) -> list[bool]:
        """Which layers look back a window only."""
        if not self.window:
            return [False] * blocks
        pattern = self.value("attention.sliding_window_pattern")
        if isinstance(pattern, list | tuple):
            return [bool(flag) for flag in pattern[:blocks]] + [False] * (blocks - len(pattern))
        every = pattern if isinstance(pattern, int) else WINDOW_EVERY.get(self.architecture, 1)
        return [every > 1 and at % every < every - 1 for at in range(blocks)]

    def notes(self, layers: tuple[Layer, ...]) -> Iterable[str]:
        if self.architecture not in MEASURED:
            yield (
                f"compute buffers of {self.architecture} were not measured; those of the nearest architecture are used"
            )
        if self.window and not any(layer.windowed for layer in layers):
            yield f"a window of {self.window:,} tokens is given; the cache is counted for the whole context"
        if any(layer.recurrent for layer in layers) and not self.recurrent.convolution:
            yield f"the recurrent state of {self.architecture} is unknown and not counted"

    # -- reading

    def value(self, key: str) -> Any:
        return self.metadata.get(f"{self.architecture}.{key}")

    def figure(self, key: str) -> int:
        """A number, 0 where it is absent."""
        return self.checked(key, self.value(key))

    def widest(self, key: str) -> int:
        """The largest of a number, or of a list of one for each layer."""
        value = self.value(key)
        return max((self.checked(key, item) for item in value), default=0) if _is_list(value) else self.figure(key)

    def per_layer(self, key: str, blocks: int, default: int) -> list[int]:
        value = self.value(key)
        if not _is_list(value):
            return [self.figure(key) if value is not None else default] * blocks
        if len(value) < blocks:
            raise self.fails(f"gives {key} for {len(value)} of {blocks} layers")
        return [self.checked(key, item) for item in value[:blocks]]

    def checked(self, key: str, value: Any) -> int:
        if value is None:
            return 0
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < MAX_FIGURE:
            raise self.fails(f"gives {value!r:.40} for {self.architecture}.{key}")
        return int(value)

    def fails(self, what: str) -> GGUFError:
        return GGUFError(
            f"cannot be planned: its metadata {what}",
            path=self.origin,
            hint=("A plan needs a language model's whole GGUF.", "规划需要完整的语言模型 GGUF。"),
        )


def _any_starts(names: Iterable[str], beginnings: tuple[str, ...]) -> bool:
    return any(name.startswith(beginnings) for name in names)


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


@dataclass(frozen=True)
class Contents:
    """The header of one file: metadata without the vocabulary, and every tensor."""

    metadata: dict[str, Any] = field(default_factory=dict)
    tensors: list[Tensor] = field(default_factory=list)


def read_gguf(path: Path) -> ModelShape:
    """The shape of the model in a file, or in all the parts of a split one, of which any may be named.

    Nothing but headers is read. GGUFError for what is not a GGUF, is cut short or damaged, is big-endian, or lacks a
    part.
    """
    paths = parts_of(path)
    first = read_contents(paths[0])
    tensors = list(first.tensors)
    for part in paths[1:]:
        tensors += read_contents(part).tensors
    wanted = first.metadata.get("split.tensors.count")
    if len(paths) > 1 and isinstance(wanted, int) and wanted != len(tensors):
        raise GGUFError(f"its {len(paths)} parts hold {len(tensors)} of {wanted} tensors", path=paths[0], hint=_AGAIN)
    if len(paths) == 1 and isinstance(first.metadata.get("split.count"), int) and first.metadata["split.count"] > 1:
        raise GGUFError(
            f"is one of {first.metadata['split.count']} parts, but its name does not tell the others' names",
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
        raise GGUFError(f"its name says {count} parts; 1 to {MAX_PARTS} can be read", path=path)
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
            f"is cut short: {size_bytes} bytes of the {end} that its header describes", path=path, hint=_AGAIN
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
            raise self._broken(f"has the tensor {name[:40]!r} of the shape {shape}, larger than any model's")
        self.contents.tensors.append(Tensor(name.decode("utf-8", "replace"), TYPE_NAMES[kind], shape))
