"""What a model needs of a card's memory, and what fits: weights, KV cache, compute buffers and the rest, each with
its formula. The formulas were measured (tests/data/memory/README.md); no part is guessed without saying so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.memory.gguf_shape import read_gguf as read_gguf
    from ollama_kit.memory.plan import MemoryPlan as MemoryPlan, make_plan as make_plan
    from ollama_kit.memory.setup import Setup as Setup
    from ollama_kit.memory.shape import ModelShape as ModelShape
else:
    __getattr__, __dir__ = exports(__name__)
