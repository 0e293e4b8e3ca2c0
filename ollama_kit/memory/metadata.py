"""From a GGUF's metadata to a ModelShape: which layers attend, which look back how far, which only keep a state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ollama_kit.errors import GGUFError
from ollama_kit.memory.shape import Layer, ModelShape, Recurrent
from ollama_kit.memory.tensors import Tensor

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
            raise self.fails(f"speaks of {blocks} layers")
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
            yield f"compute buffers of {self.architecture} were not measured; those of the nearest kind are taken"
        if self.window and not any(layer.windowed for layer in layers):
            yield f"a window of {self.window:,} tokens is named; the cache is counted for the whole context"
        if any(layer.recurrent for layer in layers) and not self.recurrent.convolution:
            yield f"the recurrent state of {self.architecture} is not known and not counted"

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
            raise self.fails(f"gives {key} for {len(value)} layers of {blocks}")
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
