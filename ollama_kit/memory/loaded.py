"""A plan beside what a server says of a model that is loaded (/api/ps)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ollama_kit.memory.plan import MemoryPlan, make_plan
from ollama_kit.memory.quantities import MIB
from ollama_kit.memory.sources import Subject
from ollama_kit.server.facts import RunningModel

TOLERANCE = 0.03
TOLERANCE_BYTES = 64 * MIB
UNTOLD_SLOTS = (1, 2, 4)
"""Servers before 0.12 do not say the context, and choose the slots by themselves."""


@dataclass(frozen=True)
class Comparison:
    """What a loaded model takes by the server's account, and by the plan that comes nearest."""

    name: str
    reported_bytes: int
    planned_bytes: int
    plan: MemoryPlan

    @property
    def is_estimate(self) -> bool:
        """Whether the server's figure is what it guessed before it loaded the model (before 0.30)."""
        return self.plan.setup.engine == "0.9"

    @property
    def agrees(self) -> bool:
        """Within 3 % or 64 MiB."""
        allowed = max(TOLERANCE * self.reported_bytes, TOLERANCE_BYTES)
        return abs(self.planned_bytes - self.reported_bytes) <= allowed


def compare(running: RunningModel, subject: Subject) -> Comparison:
    """The comparison for a loaded model. /api/ps leaves out what no log line shows (context, kernels, scratch), and so
    does the figure it is compared with."""
    plans = [(plan, _reported(plan)) for plan in _candidates(running, subject)]
    plan, planned = min(plans, key=lambda found: abs(found[1] - running.size_bytes))
    return Comparison(running.name, running.size_bytes, planned, plan)


def _candidates(running: RunningModel, subject: Subject) -> Iterator[MemoryPlan]:
    on_card = running.size_vram_bytes > 0
    batches = (None,) if subject.batch or subject.engine == "0.9" else (512, 1024, 2048)
    for parallel in UNTOLD_SLOTS:
        for batch in batches:
            for kv_cache in ("f16", "q8_0", "q4_0"):
                setup = subject.setup(
                    context=running.context_length, parallel=parallel, batch=batch, kv_cache=kv_cache, on_card=on_card
                )
                yield make_plan(subject.shape, setup)


def _reported(plan: MemoryPlan) -> int:
    """What Ollama would report: of a model that is on the card as a whole only the card's part."""
    whole = plan.setup.gpu_layers is None
    return plan.reported_bytes if whole or not plan.setup.on_card else plan.reported_bytes + plan.host_bytes
