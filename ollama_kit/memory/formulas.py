"""The bytes of each part of a plan: weights, KV cache and recurrent state, compute buffers, scratch memory.

Weights go to the card, to the host, or nowhere. Source: llama.cpp b10488 llama-model.cpp, and the measured rows of
tests/data/memory, which this equals to the byte. `token_embd.weight` stays on the host, where a tied model keeps it
beside its copy on the card. Of a partial offload the last layers go to the card, the output first. A prediction block
is loaded only where speculation is on.

The cache is exact in every measured row (tests/data/memory/README.md).

The compute buffer and scratch memory are formulas that were fitted to measured sizes (the same README: llama.cpp
b10488 and b11434 on a GPU). Letters as there: e embedding, ff feed-forward, q and kv the columns of all query and key
heads, u the micro-batch, n the cells of a slot, S slots, K = experts used × expert ff, M = experts used × e. With flash
attention the buffer is mask + inputs + 4·u·P, P the columns of the widest moment; a quantized cache needs an f16 copy
of one layer's whole K and V beside attention.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ollama_kit.memory.quantities import MIB, rounded_up
from ollama_kit.memory.setup import ELEMENT_BYTES, Setup
from ollama_kit.memory.shape import CUDA_ALIGNMENT, CUDA_ROW, Layer, ModelShape, Tensor

EMBEDDING = "token_embd.weight"
CELL_STEP = 256
"""llama.cpp rounds the cells of a slot up to it."""
CUDA_CONTEXT_BYTES = 527 * MIB
KERNELS_BYTES = 68 * MIB
CUBLAS_BYTES: Mapping[str, int] = {"b10488": 66 * MIB, "b11434": 98 * MIB, "0.9": 66 * MIB}
BUFFER_STEP_BYTES = 2 * MIB
"""Measured on one H200, driver 580; taken for every card, as a stated assumption."""


@dataclass(frozen=True)
class Place:
    """Bytes of weights in one place: of the experts of a mixture, of embedding and output, and of the layers' rest."""

    experts: int = 0
    ends: int = 0
    layers: int = 0

    @property
    def size_bytes(self) -> int:
        return self.experts + self.ends + self.layers


def first_layer_on_card(shape: ModelShape, setup: Setup) -> int:
    """The number of the first layer on the card; the number of layers where there is none."""
    count = len(shape.main_layers)
    if not setup.on_card:
        return count
    return 0 if setup.gpu_layers is None else min(max(count + 1 - setup.gpu_layers, 0), count)


def weights_of(shape: ModelShape, setup: Setup) -> tuple[Place, Place]:
    """The weights on the card, padded as its buffers are, and on the host."""
    start = first_layer_on_card(shape, setup)
    output_on_card = setup.on_card and setup.gpu_layers != 0
    loaded = len(shape.layers) if setup.draft_tokens else len(shape.main_layers)
    card, host = _Sum(), _Sum()
    for tensor in shape.tensors:
        if tensor.is_vision or (tensor.layer or 0) >= loaded:
            continue
        if tensor.name == EMBEDDING:
            host.add(tensor, tensor.size_bytes)
            if shape.is_tied and output_on_card:
                card.add(tensor, tensor.card_bytes)
            continue
        # What is outside the layers goes with the output, but for rotary factors, which layers read.
        on_card = output_on_card if tensor.layer is None else start <= tensor.layer
        if on_card and not (tensor.layer is None and tensor.name.startswith("rope_") and start):
            card.add(tensor, tensor.card_bytes)
        else:
            host.add(tensor, tensor.size_bytes)
    return card.place(), host.place()


class _Sum:
    """A Place in the making."""

    def __init__(self) -> None:
        self.experts = self.ends = self.layers = 0

    def add(self, tensor: Tensor, size: int) -> None:
        if tensor.layer is None:
            self.ends += size
        elif tensor.is_expert:
            self.experts += size
        else:
            self.layers += size

    def place(self) -> Place:
        return Place(self.experts, self.ends, self.layers)


def cells(setup: Setup) -> int:
    """The cells of one pool: num_ctx, rounded up by the engine. Before 0.30 all slots shared one pool, in 32s."""
    if setup.engine == "0.9":
        return rounded_up(setup.context * setup.parallel, 32)
    return rounded_up(setup.context, CELL_STEP)


def pools(setup: Setup) -> int:
    """How many pools of cells there are: one per slot, or one for all."""
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
    """K and V of one layer: two tensors of one row per cell."""
    lengths = (kv_heads * shape.key_length, kv_heads * shape.value_length)
    return sum(_tensor_bytes(elements, each_cells * pools(setup), setup) for elements in lengths)


def _tensor_bytes(row_elements: int, rows: int, setup: Setup) -> int:
    element = ELEMENT_BYTES[setup.kv_cache]
    size = int(row_elements * element * rows)
    ragged = row_elements % CUDA_ROW
    if setup.on_card and setup.kv_cache != "f16" and ragged:
        size += rounded_up(int((CUDA_ROW - ragged) * element), CUDA_ALIGNMENT)
    return size


@dataclass(frozen=True)
class Compute:
    """Compute buffers in bytes: on the card, and pinned on the host. `formula` has its numbers in it."""

    card_bytes: int
    host_bytes: int
    formula: str


def compute_buffer(shape: ModelShape, setup: Setup, batch: int) -> Compute:
    """The buffers that are set aside when the context is made; they do not grow afterwards."""
    n, u = cells(setup), batch
    if setup.engine == "0.9":
        return _without_flash_in_0_9(shape, setup, u)
    mask = 2 * u * n + (2 * u * window_cells(shape, setup, u) if shape.window else 0)
    host = mask + (16 if setup.engine == "b11434" else 8) * shape.embedding * u
    if not setup.flash:
        columns = _columns_without_flash(shape, setup)
        card = 4 * shape.heads * u * n + 2 * mask + 4 * u * columns
        said = f"4·heads·u·n + 2·mask + 4·u·columns = 4·{shape.heads}·{u}·{n} + 2·{mask} + 4·{u}·{columns}"
        return _placed(card, host, said, shape, setup, u)
    inputs = u * _input_bytes(shape, setup)
    widest = max(4 * u * widest_columns(shape, setup), _logits_bytes(shape, setup, u))
    said = f"mask + 4·u·P + inputs = {mask} + 4·{u}·{widest_columns(shape, setup)} + {inputs}"
    card = mask + widest + inputs
    if setup.kv_cache != "f16":
        copy = 4 * shape.kv * n * pools(setup)
        beside = attention_columns(shape, setup)
        small = (4 * shape.key_length**2 + 2**14) * (2 if shape.window else 1)
        card = mask + max(widest, copy + 4 * u * beside) + small + inputs
        said = (
            f"mask + max(4·u·P, 4·kv·n·S + 4·u·A) + inputs = {mask} + max({widest}, {copy} + 4·{u}·{beside})"
            f" + {small + inputs}"
        )
    return _placed(card, host, said, shape, setup, u)


def _placed(card: int, host: int, said: str, shape: ModelShape, setup: Setup, u: int) -> Compute:
    logits = 4 * shape.vocabulary * setup.parallel
    host += logits
    if not setup.on_card:  # one buffer, which holds the embedded batch too
        return Compute(0, card + 4 * u * shape.embedding + logits, f"{said} + 4·u·e + logits {logits}")
    if setup.gpu_layers is not None and setup.gpu_layers <= len(shape.layers):
        # Ten measured rows, no formula: between 3 and 8 MiB less, and at most 9 more.
        spare = 4 * u * (shape.q + 2 * shape.kv)
        return Compute(card + spare, host, f"{said} + 4·u·(q + 2kv) for what passes between card and host")
    return Compute(card, host, said)


def _without_flash_in_0_9(shape: ModelShape, setup: Setup, u: int) -> Compute:
    """Ollama before 0.30 (checked on 0.9.3): no flash attention unless asked for, an f32 mask over all slots' cells."""
    n = cells(setup)
    kept, columns = 4 * shape.vocabulary * setup.parallel, widest_columns(shape, setup)
    scores = 0 if setup.flash else 4 * shape.heads * u * n
    # Room is set aside for the logits of a whole batch, though one row per slot is ever asked for.
    logits = 4 * u * (shape.vocabulary + 2 * shape.embedding)
    whole = max(scores + 4 * u * n + 4 * u * columns, logits) + kept
    said = (
        f"max(4·heads·u·n + 4·u·n + 4·u·P, 4·u·(vocabulary + 2e)) + logits = "
        f"max({scores} + 4·{u}·{n} + 4·{u}·{columns}, {logits}) + {kept}"
    )
    return Compute(whole, 0, said) if setup.on_card else Compute(0, whole, said)


def _input_bytes(shape: ModelShape, setup: Setup) -> int:
    """Positions and indices, bytes for each token of the micro-batch."""
    plain, sections, window = (20, 32, 36) if setup.engine == "b10488" else (28, 40, 48)
    return sections if shape.rope_sections else window if shape.window else plain


def widest_columns(shape: ModelShape, setup: Setup) -> int:
    """P: the columns of f32 that the widest moment of one layer keeps, for each token of the micro-batch."""
    return max(_feed_forward(shape, setup), _attention_moment(shape, setup), _recurrent_moment(shape, setup))


def _logits_bytes(shape: ModelShape, setup: Setup, u: int) -> int:
    """What keeping the logits of many rows takes; less than the rest where there is one per slot."""
    rows = setup.parallel if setup.logits is None else setup.logits
    columns = 4 if setup.engine == "b11434" else 2 if shape.is_hybrid else 0
    return 4 * shape.vocabulary * rows + (4 * u * columns * shape.embedding if rows >= u else 0)


def _columns_without_flash(shape: ModelShape, setup: Setup) -> int:
    """What is beside the scores."""
    e, q, kv = shape.embedding, shape.q, shape.kv
    if setup.engine == "b11434":
        return 4 * e + (3 * q if shape.is_hybrid or q > e else q) + 2 * kv
    if shape.is_hybrid:
        return 4 * q + 6 * kv
    return 4 * e + q + 2 * kv if shape.window else 2 * e + 2 * q + 2 * kv


def _feed_forward(shape: ModelShape, setup: Setup) -> int:
    e, q, new = shape.embedding, shape.q, setup.engine == "b11434"
    dense = 0
    if shape.ff:
        dense = 3 * shape.ff + (4 * e if new else 2 * e if shape.is_hybrid else 2 * e + q)
    if not shape.experts_used:
        return dense
    k, m = shape.experts_used * shape.expert_ff, shape.experts_used * e
    outputs = (m if m > 2 * k else 0) + (m if m > 3 * k and new else 0)
    if shape.is_hybrid:
        return max(dense, 3 * k + (5 if new else 3) * e + outputs)
    return max(dense, 3 * k + (4 * e if new else 2 * e + q) + outputs)


def _attention_moment(shape: ModelShape, setup: Setup) -> int:
    e, q, kv = shape.embedding, shape.q, shape.kv
    if setup.engine == "b11434":
        return 4 * e + (4 * q if shape.is_hybrid else 2 * q if q > e else q)
    return 2 * e + (4 * q + 4 * kv if shape.is_hybrid else 2 * q + 2 * kv)


def _recurrent_moment(shape: ModelShape, setup: Setup) -> int:
    """Gated DeltaNet keeps its convolution's input three times."""
    if not shape.recurrent.channels:
        return 0
    return (4 if setup.engine == "b11434" else 2) * shape.embedding + 3 * shape.recurrent.channels


def attention_columns(shape: ModelShape, setup: Setup) -> int:
    """A: what is beside the copy of a quantized cache, in columns as P."""
    e, q, new = shape.embedding, shape.q, setup.engine == "b11434"
    if shape.is_hybrid:
        if shape.experts_used:
            return (4 if new else 3) * e + 5 * q
        return 4 * e + (5 * q if q > e else 4 * q) if new else 2 * e + 5 * q
    if not new:
        return 2 * e + 2 * q
    if shape.experts_used:
        k, m = shape.experts_used * shape.expert_ff, shape.experts_used * e
        return 4 * e + 2 * q + (3 * k if m > 2 * k else 0)
    return 4 * e + 2 * q if q > e else 4 * e + q


def scratch_bytes(shape: ModelShape, setup: Setup, batch: int) -> int:
    """The pool that kernels take at their first use: quantized copies of the activations. Without flash attention the
    scores are copied to f16 as well, and no log line shows it."""
    widest = max(shape.ff, shape.experts_used * shape.embedding)
    scores = 0 if setup.flash else 2 * shape.heads * batch * cells(setup)
    return max(16 * MIB, 9 * batch * widest // 8) + scores


def cublas_bytes(shape: ModelShape, setup: Setup) -> int:
    """cuBLAS and its workspace, loaded where any product is not of a quantized matrix: attention without flash too."""
    return CUBLAS_BYTES[setup.engine] if shape.has_float_matrix or not setup.flash else 0
