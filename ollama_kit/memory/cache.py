"""The KV cache and the recurrent state: exact in every measured row (tests/data/memory/README.md)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from ollama_kit.memory.quantities import rounded_up
from ollama_kit.memory.setup import ELEMENT_BYTES, Setup
from ollama_kit.memory.shape import Layer, ModelShape
from ollama_kit.memory.tensors import CUDA_ALIGNMENT, CUDA_ROW

CELL_STEP = 256
"""llama.cpp rounds the cells of a slot up to it."""


def cells(setup: Setup) -> int:
    """The cells of one pool: num_ctx, rounded up by the engine. Before 0.30 all slots shared one pool, in 32s."""
    if setup.engine == "0.9":
        return rounded_up(setup.context * setup.parallel, 32)
    return rounded_up(setup.context, CELL_STEP)


def pools(setup: Setup) -> int:
    """How many pools of cells there are: one a slot, or one for all."""
    return 1 if setup.unified or setup.engine == "0.9" else setup.parallel


def window_cells(shape: ModelShape, setup: Setup, batch: int) -> int:
    """The cells of a layer that looks back a window only: the window and the micro-batch that passes it."""
    windows = setup.parallel // pools(setup)
    return rounded_up(min(cells(setup), shape.window * windows + batch), CELL_STEP)


@dataclass(frozen=True)
class Cache:
    """The cache of some layers, in bytes: of those that see the whole context, and of those with a window."""

    full_bytes: int
    window_bytes: int
    recurrent_bytes: int

    @property
    def kv_bytes(self) -> int:
        return self.full_bytes + self.window_bytes


def cache_of(layers: Sequence[Layer], shape: ModelShape, setup: Setup, batch: int) -> Cache:
    """The cache that these layers need for all slots, on the card as its buffers are padded."""
    kinds = Counter((layer.kv_heads, layer.windowed) for layer in layers)
    full = windowed = 0
    for (kv_heads, is_windowed), count in kinds.items():
        if is_windowed:
            windowed += count * _layer_bytes(kv_heads, window_cells(shape, setup, batch), shape, setup)
        else:
            full += count * _layer_bytes(kv_heads, cells(setup), shape, setup)
    recurrent = sum(layer.recurrent for layer in layers) * (1 + setup.draft_tokens)
    state = recurrent * setup.parallel * 4 * (shape.recurrent.convolution + shape.recurrent.state)
    return Cache(full, windowed, state)


def _layer_bytes(kv_heads: int, each_cells: int, shape: ModelShape, setup: Setup) -> int:
    """K and V of one layer: two tensors of a row a cell."""
    lengths = (kv_heads * shape.key_length, kv_heads * shape.value_length)
    return sum(_tensor_bytes(elements, each_cells * pools(setup), setup) for elements in lengths)


def _tensor_bytes(row_elements: int, rows: int, setup: Setup) -> int:
    element = ELEMENT_BYTES[setup.kv_cache]
    size = int(row_elements * element * rows)
    ragged = row_elements % CUDA_ROW
    if setup.on_card and setup.kv_cache != "f16" and ragged:
        size += rounded_up(int((CUDA_ROW - ragged) * element), CUDA_ALIGNMENT)
    return size
