"""The plan of a model at a setup: weights, KV cache, compute buffers and the rest, on the card and on the host."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from ollama_kit.memory.formulas import (
    BUFFER_STEP_BYTES,
    CUDA_CONTEXT_BYTES,
    KERNELS_BYTES,
    Cache,
    Compute,
    Place,
    cache_of,
    cells,
    compute_buffer,
    cublas_bytes,
    first_layer_on_card,
    pools,
    scratch_bytes,
    weights_of,
    window_cells,
)
from ollama_kit.memory.quantities import MIB, rounded_up
from ollama_kit.memory.setup import ELEMENT_BYTES, Setup, automatic_batch
from ollama_kit.memory.shape import ModelShape


@dataclass(frozen=True)
class Extras:
    """What is loaded beside the model, in bytes: a vision projector's tensors, and a draft model's whole plan."""

    projector_bytes: int = 0
    draft_bytes: int = 0


NOTHING_BESIDE = Extras()


@dataclass(frozen=True)
class Part:
    """One part of a plan. `formula` says how its bytes come about, with the numbers in it."""

    name: str
    card_bytes: int
    host_bytes: int
    formula: str


@dataclass(frozen=True)
class MemoryPlan:
    """What a model needs. `batch` is the num_batch that is in force; `setup` as it was asked for."""

    shape: ModelShape
    setup: Setup
    batch: int
    parts: tuple[Part, ...]

    @property
    def card_bytes(self) -> int:
        """All that the card loses."""
        return sum(part.card_bytes for part in self.parts)

    @property
    def host_bytes(self) -> int:
        """All that the host holds."""
        return sum(part.host_bytes for part in self.parts)

    @property
    def needed_bytes(self) -> int:
        """What has to fit: into the card, or into RAM where there is none."""
        return self.card_bytes if self.setup.on_card else self.host_bytes

    @property
    def reported_bytes(self) -> int:
        """What the engine's own log and /api/ps would say: the buffers, without context, kernels and scratch."""
        return self.needed_bytes - self.part("overhead").card_bytes

    def part(self, name: str) -> Part:
        """A part by its name: weights, kv cache, recurrent state, compute, overhead, vision projector, draft model."""
        return next((part for part in self.parts if part.name == name), Part(name, 0, 0, ""))

    def as_dict(self) -> dict[str, Any]:
        """The plan as a program reads it."""
        return {
            "model": self.shape.name,
            "origin": self.shape.origin,
            "architecture": self.shape.architecture,
            "setup": {**asdict(self.setup), "batch": self.batch},
            "card_bytes": self.card_bytes,
            "host_bytes": self.host_bytes,
            "needed_bytes": self.needed_bytes,
            "reported_bytes": self.reported_bytes,
            "parts": [asdict(part) for part in self.parts],
            "notes": list(self.shape.notes),
        }


def make_plan(
    shape: ModelShape, setup: Setup, memory_bytes: int | None = None, extras: Extras = NOTHING_BESIDE
) -> MemoryPlan:
    """The plan of a model. `memory_bytes` is what there is: it matters where num_batch is left to Ollama, which takes
    a larger one where there is room."""
    batch = min(setup.batch or automatic_batch(shape, setup, memory_bytes), cells(setup))
    card, host = weights_of(shape, setup)
    start = first_layer_on_card(shape, setup)
    layers = shape.layers if setup.draft_tokens else shape.main_layers
    on_card = cache_of(layers[start:], shape, setup, batch)
    on_host = cache_of(layers[:start], shape, setup, batch)
    if start >= len(shape.main_layers):
        on_card, on_host = cache_of((), shape, setup, batch), cache_of(layers, shape, setup, batch)
    compute = _with_draft_context(compute_buffer(shape, setup, batch), shape, setup, batch)
    parts = [
        Part("weights", card.size_bytes, host.size_bytes, _weights_formula(card, host)),
        Part("kv cache", on_card.kv_bytes, on_host.kv_bytes, _cache_formula(shape, setup, batch)),
        Part("recurrent state", on_card.recurrent_bytes, on_host.recurrent_bytes, _state_formula(shape, setup)),
        Part("compute", compute.card_bytes, compute.host_bytes, compute.formula),
        _overhead(shape, setup, batch, (card.size_bytes, on_card, compute)),
    ]
    vision = shape.vision_bytes + extras.projector_bytes
    if vision:
        parts.append(_beside("vision projector", vision, "its tensors; its own buffers are not counted", setup))
    if extras.draft_bytes:
        parts.append(_beside("draft model", extras.draft_bytes, "its own plan at the same context", setup))
    return MemoryPlan(shape, setup, batch, tuple(part for part in parts if part.card_bytes or part.host_bytes))


def _beside(name: str, size: int, formula: str, setup: Setup) -> Part:
    return Part(name, size if setup.on_card else 0, 0 if setup.on_card else size, formula)


def _with_draft_context(compute: Compute, shape: ModelShape, setup: Setup, batch: int) -> Compute:
    """Speculation by the model's own block has a context of its own; one row measured, on b11434."""
    if not setup.draft_tokens:
        return compute
    second = 2 * batch * cells(setup) + 4 * batch * (3 * shape.ff + 2 * shape.embedding)
    said = f"{compute.formula} + {second} for the prediction block"
    return Compute(compute.card_bytes + second, compute.host_bytes, said)


def _overhead(shape: ModelShape, setup: Setup, batch: int, buffers: tuple[int, Cache, Compute]) -> Part:
    """What no log line shows. CUDA's share was measured on one card and is assumed for all."""
    if not setup.on_card:
        return Part("overhead", 0, 0, "")
    weights, cache, compute = buffers
    sizes = (weights, cache.full_bytes, cache.window_bytes, cache.recurrent_bytes, compute.card_bytes)
    rounding = sum(rounded_up(size, BUFFER_STEP_BYTES) - size for size in sizes)
    cublas, scratch = cublas_bytes(shape, setup), scratch_bytes(shape, setup, batch)
    said = (
        f"CUDA {CUDA_CONTEXT_BYTES // MIB} MiB + kernels {KERNELS_BYTES // MIB} MiB (of one card, assumed for "
        f"yours) + scratch max(16 MiB, 1.125·u·max(ff, M)) = {scratch} + "
        f"cuBLAS {cublas // MIB} MiB + rounding {rounding}"
    )
    return Part("overhead", CUDA_CONTEXT_BYTES + KERNELS_BYTES + scratch + cublas + rounding, 0, said)


def _weights_formula(card: Place, host: Place) -> str:
    said = f"tensor bytes by type and shape: layers {card.layers + host.layers}"
    if card.experts or host.experts:
        said += f", experts {card.experts + host.experts}"
    return f"{said}, output {card.ends}, embedding on the host {host.ends}"


def _cache_formula(shape: ModelShape, setup: Setup, batch: int) -> str:
    layers = [layer for layer in shape.main_layers if layer.kv_heads]
    windowed = sum(layer.windowed for layer in layers)
    element = f"{float(ELEMENT_BYTES[setup.kv_cache]):g}"
    said = (
        f"layers × slots × cells × KV heads × (K + V) × bytes = {len(layers) - windowed} × {pools(setup)} × "
        f"{cells(setup)} × {shape.kv_heads} × ({shape.key_length} + {shape.value_length}) × {element}"
    )
    if windowed:
        said += f", and {windowed} layers of {window_cells(shape, setup, batch)} cells (window {shape.window} + batch)"
    return said


def _state_formula(shape: ModelShape, setup: Setup) -> str:
    count = sum(layer.recurrent for layer in shape.main_layers)
    return (
        f"layers × slots × 4 × (convolution + state) = {count} × {setup.parallel} × 4 × "
        f"({shape.recurrent.convolution} + {shape.recurrent.state})"
    )
