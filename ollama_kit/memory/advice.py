"""Which change helps most, told as the bytes it saves and the flag that makes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ollama_kit.memory.fit import Fitting
from ollama_kit.memory.plan import make_plan
from ollama_kit.memory.shape import ModelShape
from ollama_kit.memory.tensors import Tensor

MIN_SAVED_BYTES = 2**20
SMALLER = {"F32": "Q8_0", "F16": "Q8_0", "BF16": "Q8_0", "Q8_0": "Q4_K", "Q6_K": "Q4_K", "Q5_K": "Q4_K"} | {
    "Q5_0": "Q4_0",
    "Q5_1": "Q4_0",
    "Q4_1": "Q3_K",
    "Q4_0": "Q3_K",
    "Q4_K": "Q3_K",
}
"""The next smaller type of a matrix, where there is one that is still of use."""


@dataclass(frozen=True)
class Change:
    """One change. `saves_bytes` is on the card, or in RAM where there is none; `fits` whether it alone is enough."""

    what: str
    how: str
    saves_bytes: int
    fits: bool


def changes(fitting: Fitting, memory_bytes: int) -> tuple[Change, ...]:
    """Every change that saves something: those that are enough by themselves first, then by what they save."""
    now = fitting.plan(memory_bytes).needed_bytes
    found = []
    for what, how, changed in _candidates(fitting, memory_bytes):
        needed = changed.plan(memory_bytes).needed_bytes
        if now - needed >= MIN_SAVED_BYTES:
            found.append(Change(what, how, now - needed, needed <= memory_bytes))
    return tuple(sorted(found, key=lambda change: (not change.fits, -change.saves_bytes)))


def _candidates(fitting: Fitting, memory_bytes: int) -> Iterator[tuple[str, str, Fitting]]:
    setup = fitting.setup
    quantizable = setup.flash and fitting.shape.takes_quantized_cache
    if setup.kv_cache == "f16" and quantizable:
        yield "an 8-bit cache", "OLLAMA_KV_CACHE_TYPE=q8_0", fitting.with_(kv_cache="q8_0")
    if setup.kv_cache != "q4_0" and quantizable:
        yield "a 4-bit cache", "OLLAMA_KV_CACHE_TYPE=q4_0", fitting.with_(kv_cache="q4_0")
    longest = fitting.longest_context(memory_bytes)
    shorter = longest if 0 < longest < setup.context else max(setup.context // 2, 256)
    if shorter < setup.context:
        yield f"a context of {shorter:,} tokens", f"context: {shorter}", fitting.with_(context=shorter)
    if setup.parallel > 1:
        yield "one slot", "OLLAMA_NUM_PARALLEL=1", fitting.with_(parallel=1)
    plan = make_plan(fitting.shape, setup, memory_bytes)
    if plan.batch > 512:
        yield "a smaller batch", "parameters: {num_batch: 512}", fitting.with_(batch=512)
    if not setup.flash:
        yield "flash attention", "OLLAMA_FLASH_ATTENTION=1", fitting.with_(flash=True)
    smaller = smaller_quantization(fitting.shape)
    if smaller is not None:
        yield "the next smaller quantization", "another tag of the model", replace(fitting, shape=smaller)
    layers = fitting.layers_that_fit(memory_bytes)
    if setup.on_card and 0 < layers <= len(fitting.shape.main_layers):
        of = len(fitting.shape.main_layers) + 1
        yield (
            f"{layers} of {of} layers on the card",
            f"parameters: {{num_gpu: {layers}}}",
            fitting.with_(gpu_layers=layers),
        )


def smaller_quantization(shape: ModelShape) -> ModelShape | None:
    """The model with each matrix in its next smaller type: about what the next smaller tag weighs. None if there is
    nothing smaller."""
    tensors = tuple(
        Tensor(tensor.name, SMALLER.get(tensor.type, tensor.type), tensor.shape) if _can_shrink(tensor) else tensor
        for tensor in shape.tensors
    )
    return replace(shape, tensors=tensors) if tensors != shape.tensors else None


def _can_shrink(tensor: Tensor) -> bool:
    kept = (
        "_gate_inp" in tensor.name or "conv1d" in tensor.name or tensor.name in ("output.weight", "token_embd.weight")
    )
    return tensor.is_matrix and not kept and tensor.shape[0] % 256 == 0
