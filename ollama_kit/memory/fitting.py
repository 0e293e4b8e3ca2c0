"""What fits: the longest context, how many layers the card takes, the same for cards of the usual sizes; which change
helps most, as the bytes it saves and the flag that makes it; and all of it as the answer of `plan`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from ollama_kit.memory.available import Memory
from ollama_kit.memory.formulas import CELL_STEP
from ollama_kit.memory.plan import NOTHING_BESIDE, Extras, MemoryPlan, make_plan
from ollama_kit.memory.quantities import GIB
from ollama_kit.memory.setup import BATCH_TURNS, BATCHES, CACHE_TYPES, CacheType, Setup
from ollama_kit.memory.shape import ModelShape, Tensor

CARDS_GIB = (6, 8, 12, 16, 24, 48, 80)
UNTRAINED_LIMIT = 2**20
"""Where a model does not say what it was trained on, no longer context is looked for."""
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
class Fit:
    """What a card of `memory_bytes` holds. `contexts` has the longest context that fits whole, 0 for none, by cache
    type; `layers` is how many of `layers_in_all` (the output is one) fit at the context asked for, and `host_bytes`
    what then stays in RAM."""

    memory_bytes: int
    fits: bool
    needed_bytes: int
    contexts: dict[CacheType, int]
    layers: int
    layers_in_all: int
    host_bytes: int


@dataclass(frozen=True)
class Fitting:
    """A model at a setup, to be fitted to a card."""

    shape: ModelShape
    setup: Setup
    extras: Extras = NOTHING_BESIDE

    def plan(self, memory_bytes: int | None = None) -> MemoryPlan:
        return make_plan(self.shape, self.setup, memory_bytes, self.extras)

    def fits(self, memory_bytes: int) -> bool:
        return self.plan(memory_bytes).needed_bytes <= memory_bytes

    def at(self, memory_bytes: int) -> Fit:
        """All answers for one size of card."""
        plan = self.plan(memory_bytes)
        layers = self.layers_that_fit(memory_bytes)
        whole = len(self.shape.main_layers) + 1
        placed = self.with_(gpu_layers=layers).plan(memory_bytes) if layers < whole else plan
        contexts = {kind: self.with_(kv_cache=kind).longest_context(memory_bytes) for kind in CACHE_TYPES}
        fits = plan.needed_bytes <= memory_bytes
        return Fit(memory_bytes, fits, plan.needed_bytes, contexts, layers, whole, placed.host_bytes)

    def longest_context(self, memory_bytes: int) -> int:
        """The longest context, a multiple of 256 or the trained one, that fits; 0 where not even 256 tokens do.

        Ollama takes a larger num_batch for a longer context where there is room, so that a longer context may need
        less than a shorter one. What fits with one batch is found by halving; of these, and of the contexts at which
        Ollama's choice changes, it is the longest that fits with the batch that Ollama would take.
        """
        if self.setup.kv_cache != "f16" and not self.shape.takes_quantized_cache:
            return 0
        limit = self.shape.trained_context or UNTRAINED_LIMIT
        if self.setup.batch:
            return self._longest_with(self.setup.batch, memory_bytes, limit)
        found = [self._longest_with(batch, memory_bytes, limit) for batch in BATCHES]
        turns = [context // self.setup.parallel for context in BATCH_TURNS]
        for context in sorted({*found, *(turn for turn in turns if turn <= found[0])}, reverse=True):
            if context and self.with_(context=context).fits(memory_bytes):
                return context
        return 0

    def _longest_with(self, batch: int, memory_bytes: int, limit: int) -> int:
        fixed = self.with_(batch=batch)
        low, high = 0, -(-limit // CELL_STEP)
        while low < high:
            middle = -(-(low + high) // 2)
            if fixed.with_(context=min(middle * CELL_STEP, limit)).fits(memory_bytes):
                low = middle
            else:
                high = middle - 1
        return min(low * CELL_STEP, limit)

    def layers_that_fit(self, memory_bytes: int) -> int:
        """How many layers, counted as num_gpu does, a card takes at the context asked for; the host takes the rest."""
        if not self.setup.on_card:
            return 0
        whole = len(self.shape.main_layers) + 1
        low, high = 0, whole
        while low < high:
            middle = -(-(low + high) // 2)
            if self.with_(gpu_layers=middle).fits(memory_bytes):
                low = middle
            else:
                high = middle - 1
        return low

    def with_(self, **changes: object) -> Fitting:
        """The same with another setup."""
        return replace(self, setup=replace(self.setup, **changes))  # type: ignore[arg-type]


def cards(fitting: Fitting, sizes_gib: Iterable[int] = CARDS_GIB) -> tuple[Fit, ...]:
    """The answers for cards of these sizes."""
    return tuple(fitting.at(size * GIB) for size in sizes_gib)


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


@dataclass(frozen=True)
class Answer:
    """A plan, and what it means for the memory there is (None where nobody knows it). `cards` is the same model on
    cards of the usual sizes; `changes` what would help, the best first."""

    plan: MemoryPlan
    memory: Memory | None
    fit: Fit | None
    cards: tuple[Fit, ...]
    changes: tuple[Change, ...]

    @property
    def fits(self) -> bool:
        """Whether it fits; True where nobody knows the memory."""
        return self.fit is None or self.fit.fits

    @property
    def longest_context(self) -> int:
        """The longest context that fits with the cache type asked for; 0 where none does or nobody knows."""
        return self.fit.contexts[self.plan.setup.kv_cache] if self.fit else 0

    def as_dict(self) -> dict[str, Any]:
        """The answer as a program reads it."""
        return {
            **self.plan.as_dict(),
            "memory": asdict(self.memory) if self.memory else None,
            "fits": self.fit.fits if self.fit else None,
            "fit": asdict(self.fit) if self.fit else None,
            "cards": [asdict(fit) for fit in self.cards],
            "changes": [asdict(change) for change in self.changes],
        }


def answer(fitting: Fitting, memory: Memory | None) -> Answer:
    """The plan for the memory there is: on a card, or in RAM where the memory is RAM."""
    if memory is not None and not memory.is_card:
        fitting = replace(fitting, setup=replace(fitting.setup, on_card=False))
    size = memory.size_bytes if memory else None
    on_card = replace(fitting, setup=replace(fitting.setup, on_card=True, gpu_layers=None))
    return Answer(
        plan=fitting.plan(size),
        memory=memory,
        fit=fitting.at(size) if size else None,
        cards=cards(on_card),
        changes=changes(fitting, size) if size else (),
    )
