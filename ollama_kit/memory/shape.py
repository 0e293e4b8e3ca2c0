"""The shape of a model: its tensors, with the bytes each takes in a file and on a card, and every other figure that its
memory depends on.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from ollama_kit.server.gguf_header import BLOCKS

TYPE_NAMES: Mapping[int, str] = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0",
    10: "Q2_K", 11: "Q3_K", 12: "Q4_K", 13: "Q5_K", 14: "Q6_K",
    16: "IQ2_XXS", 17: "IQ2_XS", 18: "IQ3_XXS", 19: "IQ1_S", 20: "IQ4_NL", 21: "IQ3_S", 22: "IQ2_S", 23: "IQ4_XS",
    24: "I8", 25: "I16", 26: "I32", 27: "I64", 28: "F64", 29: "IQ1_M", 30: "BF16",
    34: "TQ1_0", 35: "TQ2_0", 39: "MXFP4", 40: "NVFP4", 41: "Q1_0",
}  # fmt: skip
"""The tensor types of a GGUF by number (ggml.h, ggml_type)."""
TYPE_NUMBERS: Mapping[str, int] = {name: number for number, name in TYPE_NAMES.items()}

CUDA_ALIGNMENT = 128
CUDA_ROW = 512
"""ggml-cuda.cu: a quantized row is padded to 512 elements (MATRIX_ROW_PADDING), a tensor to 128 bytes."""
FLOATS = frozenset({"F32", "F16", "BF16"})


@dataclass(frozen=True)
class Tensor:
    """A tensor's name, type by ggml's name (`Q4_K`), and shape as GGUF writes it: the row length first."""

    name: str
    type: str
    shape: tuple[int, ...]

    @cached_property
    def size_bytes(self) -> int:
        """The bytes of its data in the file."""
        per_block, block_bytes = BLOCKS[TYPE_NUMBERS[self.type]]
        return -(-math.prod(self.shape) // per_block) * block_bytes

    @cached_property
    def card_bytes(self) -> int:
        """The bytes it takes in a CUDA buffer, padding and alignment included (exact in every row measured)."""
        per_block, block_bytes = BLOCKS[TYPE_NUMBERS[self.type]]
        size = self.size_bytes
        ragged = self.shape[0] % CUDA_ROW if self.shape else 0
        if per_block > 1 and ragged:
            size += (CUDA_ROW - ragged) // per_block * block_bytes
        return -(-size // CUDA_ALIGNMENT) * CUDA_ALIGNMENT

    @cached_property
    def layer(self) -> int | None:
        """The number of the layer it is in; None for what is outside of them (embedding, output)."""
        parts = self.name.split(".", 2)
        return (
            int(parts[1])
            if parts[0] == "blk" and len(parts) > 2 and parts[1].isascii() and parts[1].isdigit()
            else None
        )

    @property
    def is_matrix(self) -> bool:
        """Whether a matrix product reads it: two dimensions at the least, each longer than one."""
        return len(self.shape) >= 2 and min(self.shape[:2]) > 1 and self.name.endswith(".weight")

    @property
    def is_expert(self) -> bool:
        """Whether it holds the experts of a mixture, of which few work on a token."""
        return "_exps." in self.name

    @property
    def is_vision(self) -> bool:
        """Whether it belongs to a vision or audio projector that came in the same file."""
        return self.name.startswith(("v.", "mm.", "a.", "vision_", "resampler."))


@dataclass(frozen=True)
class Recurrent:
    """The state of a recurrent layer, in f32 elements per slot: the convolution's and the layer's own."""

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
