"""Shapes of Qwen models by their names on Ollama, for plans before anything is downloaded.

The tensors are made from a model's dimensions as llama.cpp's quantizer would write them. Source: llama.cpp
llama-quant.cpp (the Q4_K_M rule: the output, and half of the value and down projections, in Q6_K), llama-arch.cpp
(names). Compared with the shapes of tests/data/memory tensor by tensor. A published file may differ by a few tensors;
the file itself is exact.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ollama_kit import resources
from ollama_kit.memory.gguf_shape import shape_of
from ollama_kit.memory.shape import ModelShape, Tensor

QUANTIZATIONS = {"q4_k_m": "Q4_K_M", "q8_0": "Q8_0", "fp16": "F16", "f16": "F16", "bf16": "BF16"}
"""The ends of tags that are known. A bare tag is Q4_K_M, as on Ollama."""
ROPE_SECTIONS = (11, 11, 10, 0)
NOTE = "from the model's published dimensions; the file itself, once it is here, is exact"


@dataclass(frozen=True)
class Dimensions:
    """What a model's config says. `metadata` is keyed as in a GGUF, without the architecture's prefix."""

    architecture: str
    vocabulary: int
    tied: bool
    metadata: Mapping[str, int]

    def __getitem__(self, key: str) -> int:
        return self.metadata.get(key, 0)


def cataloged(name: str) -> ModelShape | None:
    """The shape of a model of the table (`qwen3.6:27b`, `qwen3.6:35b-a3b-q8_0`), None for any other.

    >>> cataloged("qwen3.6:27b").tensor_bytes
    16526575616
    """
    tag, quantization = _parsed(name.strip().casefold().removeprefix("registry.ollama.ai/").removeprefix("library/"))
    known = _table()
    entry = known["models"].get(known["aliases"].get(tag, tag))
    if entry is None:
        return None
    model = Dimensions(entry["architecture"], entry["vocabulary"], entry["tied"], entry["metadata"])
    metadata: dict[str, Any] = {f"{model.architecture}.{key}": value for key, value in model.metadata.items()}
    metadata["general.architecture"] = model.architecture
    if model["full_attention_interval"]:
        metadata[f"{model.architecture}.rope.dimension_sections"] = ROPE_SECTIONS
    tensors = list(tensors_of(model, quantization))
    shape = shape_of(name, "ollama-kit's table of Qwen models", metadata, tensors)
    return _with_note(shape, f"{quantization}, {NOTE}")


def cataloged_names() -> tuple[str, ...]:
    """The names that a plan knows without a file or a server."""
    known = _table()
    return (*known["models"], *known["aliases"])


def _parsed(name: str) -> tuple[str, str]:
    for ending, quantization in QUANTIZATIONS.items():
        if name.endswith(f"-{ending}"):
            return name.removesuffix(f"-{ending}"), quantization
    return name, "Q4_K_M"


def _with_note(shape: ModelShape, note: str) -> ModelShape:
    return replace(shape, notes=(*shape.notes, note))


@cache
def _table() -> dict[str, Any]:
    path = resources.shipped_root() / "templates" / "memory" / "qwen.json"
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return table


def tensors_of(model: Dimensions, quantization: str) -> Iterator[Tensor]:
    """Every tensor of the model. `quantization` is Q4_K_M, Q8_0, F16 or BF16."""
    embedding = model["embedding_length"]
    ends = "Q6_K" if quantization == "Q4_K_M" else quantization
    yield Tensor("token_embd.weight", ends if model.tied else _plain(quantization), (embedding, model.vocabulary))
    yield Tensor("output_norm.weight", "F32", (embedding,))
    if not model.tied:
        yield Tensor("output.weight", ends, (embedding, model.vocabulary))
    interval, blocks = model["full_attention_interval"], model["block_count"]
    for at in range(blocks):
        better = _gets_more(at, blocks)
        if interval and (at + 1) % interval:
            yield from _delta(model, at, quantization)
        else:
            yield from _attention(model, at, quantization, better=better)
        yield from _feed_forward(model, at, quantization, better=better)


def _plain(quantization: str) -> str:
    return "Q4_K" if quantization == "Q4_K_M" else quantization


def _gets_more(at: int, count: int) -> bool:
    """Which layers' value and down projections are kept in Q6_K (llama-quant.cpp, use_more_bits)."""
    return at < count // 8 or at >= 7 * count // 8 or (at - count // 8) % 3 == 2


def _better(quantization: str, better: bool) -> str:
    return "Q6_K" if quantization == "Q4_K_M" and better else _plain(quantization)


def _attention(model: Dimensions, at: int, quantization: str, *, better: bool) -> Iterator[Tensor]:
    e, head, plain = model["embedding_length"], model["attention.key_length"], _plain(quantization)
    q, kv = model["attention.head_count"] * head, model["attention.head_count_kv"] * head
    gated = 2 if model["full_attention_interval"] else 1  # the 3.5 line's queries come with a gate
    yield Tensor(f"blk.{at}.attn_norm.weight", "F32", (e,))
    yield Tensor(f"blk.{at}.attn_q.weight", plain, (e, q * gated))
    yield Tensor(f"blk.{at}.attn_k.weight", plain, (e, kv))
    yield Tensor(f"blk.{at}.attn_v.weight", _better(quantization, better), (e, kv))
    yield Tensor(f"blk.{at}.attn_output.weight", plain, (q, e))
    yield Tensor(f"blk.{at}.attn_q_norm.weight", "F32", (head,))
    yield Tensor(f"blk.{at}.attn_k_norm.weight", "F32", (head,))


def _delta(model: Dimensions, at: int, quantization: str) -> Iterator[Tensor]:
    """A Gated DeltaNet layer."""
    e, inner, ranks = model["embedding_length"], model["ssm.inner_size"], model["ssm.time_step_rank"]
    channels, plain = inner + 2 * model["ssm.group_count"] * model["ssm.state_size"], _plain(quantization)
    yield Tensor(f"blk.{at}.attn_norm.weight", "F32", (e,))
    yield Tensor(f"blk.{at}.attn_qkv.weight", "Q5_K" if quantization == "Q4_K_M" else plain, (e, channels))
    yield Tensor(f"blk.{at}.attn_gate.weight", plain, (e, inner))
    yield Tensor(f"blk.{at}.ssm_conv1d.weight", "F32", (model["ssm.conv_kernel"], channels))
    yield Tensor(f"blk.{at}.ssm_dt.bias", "F32", (ranks,))
    yield Tensor(f"blk.{at}.ssm_a", "F32", (ranks,))
    yield Tensor(f"blk.{at}.ssm_beta.weight", plain, (e, ranks))
    yield Tensor(f"blk.{at}.ssm_alpha.weight", plain, (e, ranks))
    yield Tensor(f"blk.{at}.ssm_norm.weight", "F32", (model["ssm.state_size"],))
    yield Tensor(f"blk.{at}.ssm_out.weight", plain, (inner, e))


def _feed_forward(model: Dimensions, at: int, quantization: str, *, better: bool) -> Iterator[Tensor]:
    e, plain, down = model["embedding_length"], _plain(quantization), _better(quantization, better)
    norm = "post_attention_norm" if model["full_attention_interval"] else "ffn_norm"
    yield Tensor(f"blk.{at}.{norm}.weight", "F32", (e,))
    experts = model["expert_count"]
    if not experts:
        ff = model["feed_forward_length"]
        yield Tensor(f"blk.{at}.ffn_gate.weight", plain, (e, ff))
        yield Tensor(f"blk.{at}.ffn_up.weight", plain, (e, ff))
        yield Tensor(f"blk.{at}.ffn_down.weight", down, (ff, e))
        return
    ff, shared = model["expert_feed_forward_length"], model["expert_shared_feed_forward_length"]
    yield Tensor(f"blk.{at}.ffn_gate_inp.weight", "F32", (e, experts))
    yield Tensor(f"blk.{at}.ffn_gate_exps.weight", plain, (e, ff, experts))
    yield Tensor(f"blk.{at}.ffn_up_exps.weight", plain, (e, ff, experts))
    yield Tensor(f"blk.{at}.ffn_down_exps.weight", down, (ff, e, experts))
    if shared:
        yield Tensor(f"blk.{at}.ffn_gate_inp_shexp.weight", "F32", (e,))
        yield Tensor(f"blk.{at}.ffn_gate_shexp.weight", plain, (e, shared))
        yield Tensor(f"blk.{at}.ffn_up_shexp.weight", plain, (e, shared))
        yield Tensor(f"blk.{at}.ffn_down_shexp.weight", down, (shared, e))
