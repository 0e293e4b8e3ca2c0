"""Rules of thumb that articles give for a model's memory, as functions, and the table of docs/memory.md from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from ollama_kit.memory.plan import MemoryPlan, make_plan
from ollama_kit.memory.qwen_table import cataloged
from ollama_kit.memory.setup import Setup
from ollama_kit.memory.shape import ModelShape

MODELS = ("qwen3:8b", "qwen3:32b", "qwen3:30b-a3b", "qwen3.6:27b", "qwen3.6:35b-a3b")
CONTEXT = 32_768
ACTIVE_BILLIONS = {"qwen3:30b-a3b": 3.3, "qwen3.6:35b-a3b": 3.0}


@dataclass(frozen=True)
class Rule:
    """What is said, what it would come to in bytes, and the part of a plan that it means."""

    said: str
    claims: Callable[[ModelShape], float]
    meant: Callable[[MemoryPlan], int]


def _weights(plan: MemoryPlan) -> int:
    return plan.shape.tensor_bytes


def _cache(plan: MemoryPlan) -> int:
    return plan.part("kv cache").card_bytes


def _total(plan: MemoryPlan) -> int:
    return plan.card_bytes


def _saved_by_q8_0(plan: MemoryPlan) -> int:
    quantized = make_plan(plan.shape, replace(plan.setup, kv_cache="q8_0"))
    return plan.card_bytes - quantized.card_bytes


def _active(shape: ModelShape) -> float:
    return ACTIVE_BILLIONS.get(shape.name, shape.parameters / 1e9) * 1e9


def _f16_cache(shape: ModelShape, heads: int, head: int) -> float:
    return 2 * len(shape.layers) * heads * head * CONTEXT * 2


RULES = (
    Rule("Q4 weights: parameters × 4 bits", lambda m: m.parameters * 0.5, _weights),
    Rule("Q4 weights: parameters × 4.85 bits", lambda m: m.parameters * 4.85 / 8, _weights),
    Rule("a mixture needs its active parameters only", lambda m: _active(m) * 4.85 / 8, _weights),
    Rule("cache: 2 × layers × heads × head size", lambda m: _f16_cache(m, m.heads, m.key_length), _cache),
    Rule("the same with KV heads", lambda m: _f16_cache(m, m.kv_heads, m.key_length), _cache),
    Rule("KV heads, head size = width / heads", lambda m: _f16_cache(m, m.kv_heads, m.embedding // m.heads), _cache),
    Rule("in all: parameters × 4 bits × 1.2", lambda m: m.parameters * 0.5 * 1.2, _total),
    Rule("in all: 0.6 GB a billion parameters", lambda m: m.parameters * 0.6, _total),
    Rule("in all: the file and 2 GB", lambda m: m.tensor_bytes + 2e9, _total),
    Rule("a q8_0 cache saves half the cache", lambda m: _cache(planned(m)) / 2, _saved_by_q8_0),
)


def planned(shape: ModelShape) -> MemoryPlan:
    return make_plan(shape, Setup(CONTEXT, batch=512))


def table() -> list[str]:
    """The rows of the table in Markdown: how far each rule is off for each model."""
    shapes = [shape for name in MODELS if (shape := cataloged(name)) is not None]
    rows = [f"| rule | {' | '.join(MODELS)} |", f"|---|{'---:|' * len(MODELS)}"]
    for rule in RULES:
        off = [rule.claims(shape) / rule.meant(planned(shape)) - 1 for shape in shapes]
        rows.append(f"| {rule.said} | {' | '.join(_shown(part) for part in off)} |")
    return rows


def _shown(off: float) -> str:
    return f"× {off + 1:.1f}" if off >= 1 else f"{off:+.0%}"
