"""The shape of a model: every figure that its memory depends on, as one value."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from ollama_kit.memory.tensors import FLOATS, Tensor


@dataclass(frozen=True)
class Recurrent:
    """The state of a recurrent layer, in f32 elements a slot: the convolution's and the layer's own."""

    convolution: int
    state: int
    channels: int
    """Columns that the convolution runs over: inner + 2·groups·state; 0 where the layer has no such part."""


@dataclass(frozen=True)
class Layer:
    """One layer of the text model. `kv_heads` is 0 where it has no attention; `windowed` where attention looks back a
    bounded number of tokens; `predicts` where it belongs to a multi-token-prediction block."""

    kv_heads: int
    windowed: bool = False
    recurrent: bool = False
    predicts: bool = False


@dataclass(frozen=True)
class ModelShape:
    """A model as a plan sees it. `origin` says where the figures come from, `notes` what they leave open.

    `ff` is the widest feed-forward of a dense layer, 0 for a mixture; `experts_used` × `expert_ff` the working one of
    a mixture. `window` is 0 where no layer has one.
    """

    name: str
    origin: str
    architecture: str
    trained_context: int
    embedding: int
    heads: int
    key_length: int
    value_length: int
    layers: tuple[Layer, ...]
    tensors: tuple[Tensor, ...] = field(repr=False)
    ff: int = 0
    experts: int = 0
    experts_used: int = 0
    expert_ff: int = 0
    window: int = 0
    recurrent: Recurrent = Recurrent(0, 0, 0)
    rope_sections: bool = False
    notes: tuple[str, ...] = ()

    @property
    def q(self) -> int:
        """Columns of all query heads."""
        return self.heads * self.key_length

    @cached_property
    def kv_heads(self) -> int:
        """KV heads of the layer that has the most."""
        return max((layer.kv_heads for layer in self.layers), default=0)

    @property
    def kv(self) -> int:
        """Columns of all key heads of one layer."""
        return self.kv_heads * self.key_length

    @property
    def takes_quantized_cache(self) -> bool:
        """Whether blocks of 32 divide a head; llama.cpp refuses a quantized cache otherwise."""
        return self.key_length % 32 == 0 and self.value_length % 32 == 0

    @property
    def is_hybrid(self) -> bool:
        return any(layer.recurrent for layer in self.layers)

    @cached_property
    def main_layers(self) -> tuple[Layer, ...]:
        """The layers that every token passes, without a prediction block."""
        return tuple(layer for layer in self.layers if not layer.predicts)

    @cached_property
    def tensor_bytes(self) -> int:
        """The bytes of all tensors in the file: what `weights` means to a file."""
        return sum(tensor.size_bytes for tensor in self.tensors)

    @cached_property
    def vision_bytes(self) -> int:
        """The bytes of a projector in the same file."""
        return sum(tensor.size_bytes for tensor in self.tensors if tensor.is_vision)

    @cached_property
    def is_tied(self) -> bool:
        """Whether the embedding serves as the output too, so that a card and the host each hold a copy."""
        return not any(tensor.name == "output.weight" for tensor in self.tensors)

    @cached_property
    def has_float_matrix(self) -> bool:
        """Whether any matrix on the card is not quantized: then cuBLAS is loaded, with its own workspace."""
        return any(
            t.type in FLOATS and t.is_matrix and not t.is_vision and "conv1d" not in t.name for t in self.tensors
        )

    @cached_property
    def vocabulary(self) -> int:
        """Tokens that the embedding has rows for."""
        found = (t.shape[1] for t in self.tensors if t.name == "token_embd.weight" and len(t.shape) > 1)
        return next(found, 0)

    @cached_property
    def parameters(self) -> int:
        """Weights counted one by one."""
        from math import prod

        return sum(prod(tensor.shape) for tensor in self.tensors)
