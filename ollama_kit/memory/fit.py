"""What fits: the longest context, how many layers the card takes, and the same for cards of the usual sizes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ollama_kit.memory.batch import BATCH_TURNS, BATCHES
from ollama_kit.memory.cache import CELL_STEP
from ollama_kit.memory.plan import NOTHING_BESIDE, Extras, MemoryPlan, make_plan
from ollama_kit.memory.quantities import GIB
from ollama_kit.memory.setup import CACHE_TYPES, CacheType, Setup
from ollama_kit.memory.shape import ModelShape

CARDS_GIB = (6, 8, 12, 16, 24, 48, 80)
UNTRAINED_LIMIT = 2**20
"""Where a model does not say what it was trained on, no longer context is looked for."""


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
