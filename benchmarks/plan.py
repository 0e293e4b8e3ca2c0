"""A plan from a 16 GB file reads the header only: how long, beside the gguf package's own reader."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.timing import in_ms, in_turns, median_ratio, verdict
from ollama_kit.memory.fitting import Fitting
from ollama_kit.memory.gguf_shape import read_gguf
from ollama_kit.memory.plan import make_plan
from ollama_kit.memory.qwen_table import cataloged
from ollama_kit.memory.setup import Setup
from ollama_kit.memory.shape import ModelShape
from tests.models.vocabularies import vocabulary

MODEL = "qwen3.6:27b"
LIMIT_S = 0.150
ROUNDS = 7


def run() -> Iterable[str]:
    shape = cataloged(MODEL)
    assert shape is not None
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = write_sparse(Path(folder) / "27b.gguf", shape)
        size = path.stat().st_size
        assert read_gguf(path).tensor_bytes == shape.tensor_bytes

        def ours() -> object:
            return make_plan(read_gguf(path), Setup(8192))

        def theirs() -> object:
            import gguf

            return gguf.GGUFReader(path)

        found = in_turns({"ours": ours, "theirs": theirs}, ROUNDS)
        fitted = in_turns({"fit": lambda: Fitting(shape, Setup(8192)).at(24 * 2**30)}, ROUNDS)
    yield f"{size / 1e9:.1f} GB, {len(shape.tensors)} tensors, a vocabulary of 151,936 with its merges"
    met = verdict(sorted(found["ours"])[ROUNDS // 2] < LIMIT_S)
    yield f"{'header and plan':<24}{in_ms(found['ours']):<32}target {LIMIT_S * 1e3:.0f} ms: {met}"
    ratio = median_ratio(found["theirs"], found["ours"])
    yield f"{'gguf, header alone':<24}{in_ms(found['theirs']):<32}{ratio:.1f} x ours: {verdict(ratio > 1)}"
    yield f"{'all answers, one card':<24}{in_ms(fitted['fit'])}"


def write_sparse(path: Path, shape: ModelShape) -> Path:
    """A GGUF of the whole size whose weights are holes."""
    import gguf
    import numpy as np

    words = vocabulary("qwen2")
    writer = gguf.GGUFWriter(path, shape.architecture)
    for key, value in _metadata(shape).items():
        writer.add_uint32(f"{shape.architecture}.{key}", value)
    for key, value in words.items():
        if isinstance(value, str):
            writer.add_string(key, value)
        elif isinstance(value, list) and "scores" not in key:
            writer.add_array(key, value)
    for tensor in shape.tensors:
        kind = gguf.GGMLQuantizationType[tensor.type]
        rows = tensor.shape[::-1]
        writer.add_tensor_info(tensor.name, rows, np.dtype(np.float32), tensor.size_bytes, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    writer.close()
    start = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(start + sum(-(-tensor.size_bytes // 32) * 32 for tensor in shape.tensors) + 64)
    return path


def _metadata(shape: ModelShape) -> dict[str, int]:
    return {
        "block_count": len(shape.layers),
        "context_length": shape.trained_context,
        "embedding_length": shape.embedding,
        "feed_forward_length": shape.ff,
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.kv_heads,
        "attention.key_length": shape.key_length,
        "full_attention_interval": 4,
    }
