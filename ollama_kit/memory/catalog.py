"""Shapes of Qwen models by their names on Ollama, for plans before anything is downloaded."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from ollama_kit import resources
from ollama_kit.memory.metadata import shape_of
from ollama_kit.memory.mixture import Dimensions, tensors_of
from ollama_kit.memory.shape import ModelShape

QUANTIZATIONS = {"q4_k_m": "Q4_K_M", "q8_0": "Q8_0", "fp16": "F16", "f16": "F16", "bf16": "BF16"}
"""The ends of tags that are known. A bare tag is Q4_K_M, as on Ollama."""
ROPE_SECTIONS = (11, 11, 10, 0)
NOTE = "from the model's published dimensions; the file itself, once it is here, is exact"


def catalogd(name: str) -> ModelShape | None:
    """The shape of a model of the table (`qwen3.6:27b`, `qwen3.6:35b-a3b-q8_0`), None for any other.

    >>> catalogd("qwen3.6:27b").tensor_bytes
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


def catalogd_names() -> tuple[str, ...]:
    """The names that a plan knows without a file or a server."""
    known = _table()
    return (*known["models"], *known["aliases"])


def _parsed(name: str) -> tuple[str, str]:
    for ending, quantization in QUANTIZATIONS.items():
        if name.endswith(f"-{ending}"):
            return name.removesuffix(f"-{ending}"), quantization
    return name, "Q4_K_M"


def _with_note(shape: ModelShape, note: str) -> ModelShape:
    from dataclasses import replace

    return replace(shape, notes=(*shape.notes, note))


@cache
def _table() -> dict[str, Any]:
    path = resources.shipped_root() / "templates" / "memory" / "qwen.json"
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return table
