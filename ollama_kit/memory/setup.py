"""How a model is run: what a user may choose, and what Ollama chooses where nobody does."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

CacheType = Literal["f16", "q8_0", "q4_0"]
Engine = Literal["b10488", "b11434", "0.9"]
"""llama.cpp b10488 is what Ollama 0.30 and later run; b11434 a current llama.cpp; 0.9 is Ollama's own runner before."""

CACHE_TYPES: tuple[CacheType, ...] = ("f16", "q8_0", "q4_0")
ELEMENT_BYTES = {"f16": Fraction(2), "q8_0": Fraction(34, 32), "q4_0": Fraction(18, 32)}
"""Bytes of one element of the cache: quantized ones come in blocks of 32 with their scale."""
DEFAULT_BATCH = 512


@dataclass(frozen=True)
class Setup:
    """One way to run a model. `context` is num_ctx, the tokens of one slot; `batch` num_batch, None for Ollama's own
    choice. `gpu_layers` is num_gpu, the output layer counting as one; None for all, 0 with `on_card` False for a
    machine without a card. `draft_tokens` above 0 turns speculation by the model's own prediction block on. `unified`
    is one pool of cells for all slots, `context` then its size; Ollama from 0.30 on gives each slot its own. `logits`
    is how many rows of them a batch keeps, None for one a slot."""

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
