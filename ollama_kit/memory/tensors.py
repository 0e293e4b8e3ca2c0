"""One tensor of a model, and the bytes it takes in a file and on a card."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
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
        """The number of the layer it is in; None for what stands outside (embedding, output)."""
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
