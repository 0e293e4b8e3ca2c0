"""Small models of many architectures, written as GGUF files of zeros: memory depends on shapes and types alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.models.vocabularies import vocabulary

Shapes = Iterator[tuple[str, tuple[int, ...]]]


@dataclass(frozen=True)
class Written:
    """A model to be written: `metadata` without the architecture's prefix, and its kind of layers."""

    architecture: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tied: bool = False
    biased: bool = False
    normed: bool = False

    def __getitem__(self, key: str) -> int:
        return int(self.metadata.get(key, _DENSE.get(key, 0)))

    @property
    def keys(self) -> dict[str, Any]:
        return {**_DENSE, **self.metadata}


_DENSE: Mapping[str, Any] = {
    "block_count": 4,
    "context_length": 65_536,
    "embedding_length": 256,
    "feed_forward_length": 768,
    "attention.head_count": 8,
    "attention.head_count_kv": 2,
    "attention.key_length": 64,
    "attention.value_length": 64,
    "rope.dimension_count": 64,
    "rope.freq_base": 10_000.0,
    "attention.layer_norm_rms_epsilon": 1e-6,
}
_EXPERTS = {"expert_count": 16, "expert_used_count": 4, "expert_feed_forward_length": 256}
_HYBRID = {
    "block_count": 8,
    "full_attention_interval": 4,
    "ssm.conv_kernel": 4,
    "ssm.state_size": 32,
    "ssm.group_count": 4,
    "ssm.time_step_rank": 8,
    "ssm.inner_size": 256,
    "rope.dimension_count": 32,
    "rope.dimension_sections": [8, 4, 4, 0],
}

MODELS: Mapping[str, Written] = {
    "llama": Written("llama"),
    "llama-tied": Written("llama", tied=True),
    "qwen2": Written("qwen2", {"attention.head_count": 4}, biased=True),
    "qwen3": Written("qwen3", {"attention.head_count": 12}, normed=True),
    "qwen3moe": Written("qwen3moe", _EXPERTS, normed=True),
    "gemma3": Written("gemma3", {"block_count": 12, "attention.sliding_window": 512}, tied=True, normed=True),
    "qwen35": Written("qwen35", _HYBRID, normed=True),
    "qwen35moe": Written("qwen35moe", {**_HYBRID, **_EXPERTS, "expert_shared_feed_forward_length": 256}, normed=True),
}


def write_model(path: Path, model: Written) -> Path:
    """Writes the file: F16 matrices and F32 vectors of zeros, and the vocabulary of SmolLM."""
    import gguf
    import numpy as np

    words = vocabulary("smollm")
    writer = gguf.GGUFWriter(path, model.architecture)
    for key, value in model.keys.items():
        _add(writer, f"{model.architecture}.{key}", value)
    for key, value in words.items():
        _add(writer, key, value)
    for name, shape in _tensors(model, len(words["tokenizer.ggml.tokens"])):
        kind = np.float16 if len(shape) > 1 and _is_half(name) else np.float32
        writer.add_tensor(name, np.zeros(shape[::-1], dtype=kind))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add(writer: Any, key: str, value: Any) -> None:
    import gguf

    if isinstance(value, bool):
        writer.add_bool(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    elif key == "tokenizer.ggml.scores":
        writer.add_key_value(key, value, gguf.GGUFValueType.ARRAY, gguf.GGUFValueType.FLOAT32)
    else:
        writer.add_array(key, value)


def _is_half(name: str) -> bool:
    return "ffn_gate_inp" not in name and "conv1d" not in name


def _tensors(model: Written, words: int) -> Shapes:
    e = model["embedding_length"]
    yield "token_embd.weight", (e, words)
    yield "output_norm.weight", (e,)
    if not model.tied:
        yield "output.weight", (e, words)
    for at in range(model["block_count"]):
        for name, shape in _layer(model, at):
            yield f"blk.{at}.{name}", shape


def _layer(model: Written, at: int) -> Shapes:
    e, interval = model["embedding_length"], model["full_attention_interval"]
    yield "attn_norm.weight", (e,)
    yield from _delta(model) if interval and (at + 1) % interval else _attention(model)
    if interval:
        yield "post_attention_norm.weight", (e,)
    else:
        yield "ffn_norm.weight", (e,)
    if model.architecture == "gemma3":
        yield "post_attention_norm.weight", (e,)
        yield "post_ffw_norm.weight", (e,)
    yield from _experts(model) if model["expert_count"] else _feed_forward(model)


def _attention(model: Written) -> Shapes:
    e, head = model["embedding_length"], model["attention.key_length"]
    q, kv = model["attention.head_count"] * head, model["attention.head_count_kv"] * head
    yield "attn_q.weight", (e, q * (2 if model["full_attention_interval"] else 1))
    yield "attn_k.weight", (e, kv)
    yield "attn_v.weight", (e, kv)
    yield "attn_output.weight", (q, e)
    if model.biased:
        yield "attn_q.bias", (q,)
        yield "attn_k.bias", (kv,)
        yield "attn_v.bias", (kv,)
    if model.normed:
        yield "attn_q_norm.weight", (head,)
        yield "attn_k_norm.weight", (head,)


def _delta(model: Written) -> Shapes:
    e, inner, ranks = model["embedding_length"], model["ssm.inner_size"], model["ssm.time_step_rank"]
    channels = inner + 2 * model["ssm.group_count"] * model["ssm.state_size"]
    yield "attn_qkv.weight", (e, channels)
    yield "attn_gate.weight", (e, inner)
    yield "ssm_conv1d.weight", (model["ssm.conv_kernel"], channels)
    yield "ssm_dt.bias", (ranks,)
    yield "ssm_a", (ranks,)
    yield "ssm_beta.weight", (e, ranks)
    yield "ssm_alpha.weight", (e, ranks)
    yield "ssm_norm.weight", (model["ssm.state_size"],)
    yield "ssm_out.weight", (inner, e)


def _feed_forward(model: Written) -> Shapes:
    e, ff = model["embedding_length"], model["feed_forward_length"]
    yield "ffn_gate.weight", (e, ff)
    yield "ffn_up.weight", (e, ff)
    yield "ffn_down.weight", (ff, e)


def _experts(model: Written) -> Shapes:
    e, ff, experts = model["embedding_length"], model["expert_feed_forward_length"], model["expert_count"]
    yield "ffn_gate_inp.weight", (e, experts)
    yield "ffn_gate_exps.weight", (e, ff, experts)
    yield "ffn_up_exps.weight", (e, ff, experts)
    yield "ffn_down_exps.weight", (ff, e, experts)
    shared = model["expert_shared_feed_forward_length"]
    if shared:
        yield "ffn_gate_inp_shexp.weight", (e,)
        yield "ffn_gate_shexp.weight", (e, shared)
        yield "ffn_up_shexp.weight", (e, shared)
        yield "ffn_down_shexp.weight", (shared, e)
