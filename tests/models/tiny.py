"""Writes tiny random models with real vocabularies: what counting and guarding depend on, without the weights.

Random weights make the most hostile model there is: endless blanks, no end of turn. Each file is under 60 MB.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.models.cache import cached_file
from tests.models.vocabularies import Vocabulary, vocabulary

if TYPE_CHECKING:
    import gguf
    import numpy as np
    from numpy.typing import NDArray

CHATML = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)
"""The chat template inside the files, in the Jinja form that a GGUF carries; Ollama knows it as `chatml`."""

TINY_NAMES = ("tiny-qwen2", "tiny-smollm", "tiny-spm", "tiny-f16")


@dataclass(frozen=True)
class Shape:
    """What a model is apart from its vocabulary. `width` is heads × the size of one head."""

    architecture: str
    layers: int = 2
    width: int = 64
    heads: int = 8
    kv_heads: int = 1
    feed_forward: int = 128
    context: int = 32_768

    @property
    def kv_width(self) -> int:
        """Columns of the key and value projections."""
        return self.width // self.heads * self.kv_heads


_QWEN = Shape("qwen3")
_LLAMA = Shape("llama")
# K-quants work on blocks of 256 weights: with narrower rows the server would fall back to another type.
_WIDE = replace(_LLAMA, width=256, feed_forward=256, kv_heads=2)


def tiny_model(name: str) -> Path:
    """The GGUF of one of TINY_NAMES, written into the cache if it is not there."""
    return cached_file(f"{name}.gguf", _WRITERS[name])


def tiny_lora() -> Path:
    """A GGUF LoRA adapter (rank 4, alpha 8) for the query projections of tiny-qwen2."""
    return cached_file("tiny-lora.gguf", _write_lora)


def _write_model(path: Path, *, shape: Shape, words: str, template: str = "") -> None:
    import gguf

    known = vocabulary(words)
    writer = gguf.GGUFWriter(path, shape.architecture)
    writer.add_type("model")
    writer.add_name(path.stem)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    _add_shape(writer, shape)
    _add_vocabulary(writer, known)
    if template:
        writer.add_chat_template(template)
    rows = len(known["tokenizer.ggml.tokens"])
    for name, tensor in _tensors(shape, rows).items():
        writer.add_tensor(name, tensor)
    _finish(writer)


def _add_shape(writer: gguf.GGUFWriter, shape: Shape) -> None:
    writer.add_context_length(shape.context)
    writer.add_embedding_length(shape.width)
    writer.add_block_count(shape.layers)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.kv_heads)
    writer.add_rope_dimension_count(shape.width // shape.heads)
    writer.add_rope_freq_base(10_000.0)
    writer.add_layer_norm_rms_eps(1e-6)


def _add_vocabulary(writer: gguf.GGUFWriter, known: Vocabulary) -> None:
    import gguf

    for key, value in known.items():
        if isinstance(value, bool):
            writer.add_bool(key, value)
        elif isinstance(value, int):
            writer.add_uint32(key, value)
        elif isinstance(value, str):
            writer.add_string(key, value)
        elif key == "tokenizer.ggml.scores":
            writer.add_key_value(key, value, gguf.GGUFValueType.ARRAY, gguf.GGUFValueType.FLOAT32)
        else:
            writer.add_array(key, value)


def _tensors(shape: Shape, rows: int) -> Mapping[str, NDArray[Any]]:
    """Every tensor by its GGUF name, as numpy shapes it: (outputs, inputs). The output reuses the embedding."""
    import numpy as np

    random = np.random.default_rng(20_260_801)

    def weights(outputs: int, inputs: int) -> NDArray[np.float16]:
        scale = np.float32(inputs**-0.5)
        return np.asarray(random.standard_normal((outputs, inputs), dtype=np.float32) * scale, dtype=np.float16)

    def ones(size: int) -> NDArray[np.float32]:
        return np.ones(size, dtype=np.float32)

    found: dict[str, NDArray[Any]] = {
        "token_embd.weight": weights(rows, shape.width),
        "output_norm.weight": ones(shape.width),
    }
    for layer in range(shape.layers):
        block = f"blk.{layer}"
        found |= {
            f"{block}.attn_norm.weight": ones(shape.width),
            f"{block}.attn_q.weight": weights(shape.width, shape.width),
            f"{block}.attn_k.weight": weights(shape.kv_width, shape.width),
            f"{block}.attn_v.weight": weights(shape.kv_width, shape.width),
            f"{block}.attn_output.weight": weights(shape.width, shape.width),
            f"{block}.ffn_norm.weight": ones(shape.width),
            f"{block}.ffn_gate.weight": weights(shape.feed_forward, shape.width),
            f"{block}.ffn_up.weight": weights(shape.feed_forward, shape.width),
            f"{block}.ffn_down.weight": weights(shape.width, shape.feed_forward),
        }
        if shape.architecture == "qwen3":
            head = shape.width // shape.heads
            found |= {f"{block}.attn_q_norm.weight": ones(head), f"{block}.attn_k_norm.weight": ones(head)}
    return found


def _write_lora(path: Path) -> None:
    import gguf
    import numpy as np

    random = np.random.default_rng(20_260_802)
    rank = 4
    writer = gguf.GGUFWriter(path, _QWEN.architecture)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 8.0)
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    for layer in range(_QWEN.layers):
        name = f"blk.{layer}.attn_q.weight"
        writer.add_tensor(f"{name}.lora_a", random.standard_normal((rank, _QWEN.width), dtype=np.float32))
        writer.add_tensor(f"{name}.lora_b", random.standard_normal((_QWEN.width, rank), dtype=np.float32))
    _finish(writer)


def _finish(writer: gguf.GGUFWriter) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


_WRITERS: Mapping[str, Callable[[Path], None]] = {
    "tiny-qwen2": partial(_write_model, shape=_QWEN, words="qwen2", template=CHATML),
    "tiny-smollm": partial(_write_model, shape=_LLAMA, words="smollm", template=CHATML),
    "tiny-spm": partial(_write_model, shape=_LLAMA, words="spm"),
    "tiny-f16": partial(_write_model, shape=_WIDE, words="smollm", template=CHATML),
}
