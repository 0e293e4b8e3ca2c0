"""How a model is run: what a user may choose, and what Ollama chooses where nobody does.

Source of Ollama's own choices: ollama server/sched.go and llm/llama_server.go, August 2026 (0.33-rc).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ollama_kit.memory.quantities import GIB, MIB
from ollama_kit.memory.shape import ModelShape

CacheType = Literal["f16", "q8_0", "q4_0"]
Engine = Literal["b10488", "b11434", "0.9"]
"""llama.cpp b10488 is what Ollama 0.30 and later run; b11434 a current llama.cpp; 0.9 is Ollama's own runner before."""

CACHE_TYPES: tuple[CacheType, ...] = ("f16", "q8_0", "q4_0")
ELEMENT_BYTES = {"f16": Fraction(2), "q8_0": Fraction(34, 32), "q4_0": Fraction(18, 32)}
"""Bytes of one element of the cache: quantized ones come in blocks of 32 with their scale."""
DEFAULT_BATCH = 512
_STEPS = ((32_768, 2048, 60, 2 * GIB), (4096, 1024, 75, 768 * MIB))
"""Above so many cells: the batch, the percentage of memory that may be taken before it, and what it is charged."""

BATCHES = (512, 1024, 2048)
BATCH_TURNS = (4096, 32_768)
"""The batches that Ollama takes by itself, the smallest first, and the cells above which it takes the next."""

ONE_SLOT = frozenset(("mllama", "qwen3vl", "qwen3vlmoe", "qwen35", "qwen35moe", "qwen3next", "lfm2", "lfm2moe")) | {
    "nemotron_h",
    "nemotron_h_moe",
    "nemotron_h_omni",
}
"""Architectures that Ollama gives one slot, whatever OLLAMA_NUM_PARALLEL says."""


@dataclass(frozen=True)
class Setup:
    """One way to run a model. `context` is num_ctx, the tokens of one slot; `batch` num_batch, None for Ollama's own
    choice. `gpu_layers` is num_gpu, the output layer counting as one; None for all, 0 with `on_card` False for a
    machine without a card. `draft_tokens` above 0 turns speculation by the model's own prediction block on. `unified`
    is one pool of cells for all slots, `context` then its size; Ollama from 0.30 on gives each slot its own. `logits`
    is how many rows of them a batch keeps, None for one per slot."""

    context: int
    kv_cache: CacheType = "f16"
    parallel: int = 1
    batch: int | None = None
    gpu_layers: int | None = None
    flash: bool = True
    engine: Engine = "b10488"
    on_card: bool = True
    draft_tokens: int = 0
    unified: bool = False
    logits: int | None = None


def automatic_batch(shape: ModelShape, setup: Setup, memory_bytes: int | None = None) -> int:
    """Ollama's own choice: 512, and from 0.30 on more for a long context where the memory has room for it.

    Without `memory_bytes` room is taken to be there, as Ollama does.
    """
    if setup.engine != "b10488" or not setup.flash or not setup.on_card:
        return DEFAULT_BATCH
    context = min(setup.context, shape.trained_context or setup.context)
    total = context * setup.parallel
    predicted = _predicted_bytes(shape, total)
    for above, batch, percent, surcharge in _STEPS:
        if total <= above:
            continue
        if memory_bytes is None:
            return batch
        threshold = memory_bytes * 80 // 100
        if predicted <= memory_bytes * percent // 100 and predicted + surcharge <= threshold:
            return batch
    return DEFAULT_BATCH


def _predicted_bytes(shape: ModelShape, context: int) -> int:
    """What Ollama itself predicts (PredictServerVRAM): the file, and a cache on every layer. Far above the truth for
    hybrids, but it decides."""
    each = min((layer.kv_heads for layer in shape.layers), default=0) or 1
    head = shape.embedding // max(shape.heads, 1)
    return shape.tensor_bytes + 2 * len(shape.layers) * each * head * context * 2


def slots(shape: ModelShape, parallel: int) -> int:
    """The slots that Ollama really gives a model."""
    return 1 if shape.architecture in ONE_SLOT else max(parallel, 1)
