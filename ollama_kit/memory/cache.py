"""The KV cache and the recurrent state: exact in every measured row (tests/data/memory/README.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ollama_kit.memory.quantities import rounded_up
from ollama_kit.memory.setup import ELEMENT_BYTES, Setup
from ollama_kit.memory.shape import Layer, ModelShape

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
    """The cache that these layers need for all slots."""
    full = windowed = recurrent = 0
    for layer in layers:
        recurrent += layer.recurrent
        if layer.windowed:
            windowed += layer.kv_heads
        else:
            full += layer.kv_heads
    states = 1 + setup.draft_tokens if setup.draft_tokens else 1
    state = recurrent * setup.parallel * 4 * (shape.recurrent.convolution + shape.recurrent.state) * states
    return Cache(
        _kv_bytes(full, cells(setup), shape, setup),
        _kv_bytes(windowed, window_cells(shape, setup, batch), shape, setup),
        state,
    )


def _kv_bytes(kv_heads: int, each_cells: int, shape: ModelShape, setup: Setup) -> int:
    """`kv_heads` is counted over all layers meant."""
    row = kv_heads * (shape.key_length + shape.value_length) * ELEMENT_BYTES[setup.kv_cache]
    return int(row * each_cells * pools(setup))
