"""What a model needs of a card's memory, and what fits: weights, KV cache, compute buffers and the rest, each with
its formula. The formulas were measured (tests/data/memory/README.md); no part is guessed without saying so."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.memory.gguf import read_gguf
    from ollama_kit.memory.plan import MemoryPlan, make_plan
    from ollama_kit.memory.setup import Setup
    from ollama_kit.memory.shape import ModelShape

_HOMES = {
    "MemoryPlan": "plan",
    "ModelShape": "shape",
    "Setup": "setup",
    "make_plan": "plan",
    "read_gguf": "gguf",
}

__all__ = ["MemoryPlan", "ModelShape", "Setup", "make_plan", "read_gguf"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
