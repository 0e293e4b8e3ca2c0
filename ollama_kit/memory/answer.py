"""Everything that `plan` answers, as one value."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from ollama_kit.memory.advice import Change, changes
from ollama_kit.memory.available import Memory
from ollama_kit.memory.fit import Fit, Fitting, cards
from ollama_kit.memory.plan import MemoryPlan


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
