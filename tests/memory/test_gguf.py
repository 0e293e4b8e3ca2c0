"""Headers of GGUF files: what is read, what is refused, and that nothing hostile costs time or memory."""

from __future__ import annotations

import io
import random
import struct
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from ollama_kit.errors import GGUFError
from ollama_kit.memory.gguf_shape import contents_of, parts_of, read_contents, read_gguf, shape_of, tensor_bytes
from ollama_kit.memory.plan import make_plan
from ollama_kit.memory.setup import Setup
from ollama_kit.memory.shape import TYPE_NAMES, TYPE_NUMBERS, Tensor
from ollama_kit.server.gguf_header import BLOCKS, MAX_HEADER_BYTES, check_gguf
from tests.intensity import times
from tests.models.tiny import TINY_NAMES, tiny_model
from tests.realserver.install import Install

gguf = pytest.importorskip("gguf")

MUTATIONS = times(100_000, ci=4_000)
MEMORY_BYTES = 64 * 2**20
NAME = Path("合同 model.gguf")


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def pair(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def number(key: str, value: int) -> bytes:
    return pair(key, 4, struct.pack("<I", value))


def words(key: str, values: list[str]) -> bytes:
    return pair(key, 9, struct.pack("<IQ", 8, len(values)) + b"".join(map(text, values)))


def tensor(name: str, shape: tuple[int, ...], kind: int) -> bytes:
    return text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, 0)


PAIRS = (
    pair("general.architecture", 8, text("qwen3")),
    number("qwen3.block_count", 2),
    number("qwen3.context_length", 4096),
    number("qwen3.embedding_length", 64),
    number("qwen3.feed_forward_length", 128),
    pair("qwen3.attention.head_count", 9, struct.pack("<IQII", 4, 2, 8, 8)),
    number("qwen3.attention.head_count_kv", 2),
    words("tokenizer.ggml.tokens", ["a", "甲", "<|im_end|>"]),
)
TENSORS = (
    tensor("token_embd.weight", (64, 3), 1),
    *(tensor(f"blk.{at}.attn_k.weight", (64, 16), 12) for at in range(2)),
    *(tensor(f"blk.{at}.ffn_down.weight", (128, 64), 8) for at in range(2)),
)


def header(pairs: tuple[bytes, ...] = PAIRS, tensors: tuple[bytes, ...] = TENSORS, version: int = 3) -> bytes:
    start = b"GGUF" + struct.pack("<IQQ", version, len(tensors), len(pairs))
    return start + b"".join(pairs) + b"".join(tensors)


WHOLE = header() + bytes(32_768)


def planned(data: bytes, size_bytes: int | None = None, file: io.RawIOBase | None = None) -> None:
    """The whole way from bytes to a plan."""
    contents = contents_of(file or io.BytesIO(data), NAME, size_bytes or len(data))  # type: ignore[arg-type]
    shape = shape_of("m", str(NAME), contents.metadata, contents.tensors)
    make_plan(shape, Setup(4096))


def test_a_header_is_read() -> None:
    """Metadata without the vocabulary, lists of a few numbers, and every tensor."""
    contents = contents_of(io.BytesIO(WHOLE), NAME, len(WHOLE))
    assert contents.metadata["qwen3.attention.head_count"] == (8, 8)
    assert not [key for key in contents.metadata if key.startswith("tokenizer.")]
    assert contents.tensors[1] == Tensor("blk.0.attn_k.weight", "Q4_K", (64, 16))
    planned(WHOLE)


@pytest.mark.parametrize("kind", [kind for kind in TYPE_NUMBERS if TYPE_NUMBERS[kind] in BLOCKS])
def test_tensor_bytes_of_every_type_are_those_of_a_written_file(kind: str, tmp_path: Path) -> None:
    """Written by the gguf package, a tensor of each type it can name."""
    quantization = gguf.GGMLQuantizationType[kind]
    per_block, block_bytes = gguf.GGML_QUANT_SIZES[quantization]
    path = tmp_path / "m.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    data = np.zeros((3, 5, 2 * block_bytes), dtype=np.uint8)
    writer.add_tensor("blk.0.ffn_down.weight", data, raw_dtype=quantization)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    found = read_contents(path).tensors
    assert found == [Tensor("blk.0.ffn_down.weight", kind, (2 * per_block, 5, 3))]
    assert tensor_bytes(path) == data.nbytes


@pytest.mark.parametrize("name", [*TINY_NAMES, "smollm2"])
def test_weights_are_the_tensor_bytes_of_every_file_at_hand(name: str, real_install: Install) -> None:
    """They fill the file from the end of its header to the last byte, each tensor padded to 32."""
    path = real_install.smollm2_gguf if name == "smollm2" else tiny_model(name)
    padded = sum(-(-tensor.size_bytes // 32) * 32 for tensor in read_gguf(path).tensors)
    found = check_gguf(path)
    assert found.data_start_bytes + padded in (found.data_end_bytes, path.stat().st_size)


def test_weights_are_what_the_gguf_package_reads(real_install: Install) -> None:
    """Tensor by tensor, by its own reader."""
    theirs = {tensor.name: int(tensor.n_bytes) for tensor in gguf.GGUFReader(real_install.smollm2_gguf).tensors}
    assert {tensor.name: tensor.size_bytes for tensor in read_gguf(real_install.smollm2_gguf).tensors} == theirs


def test_types_are_those_of_ggml() -> None:
    """Numbers and names as the gguf package has them."""
    theirs = {int(kind): kind.name for kind in gguf.GGMLQuantizationType}
    assert {number: name for number, name in theirs.items() if number in TYPE_NAMES} == dict(TYPE_NAMES)


def test_parts_of_a_split_file_are_taken_together(tmp_path: Path) -> None:
    """Any part may be named; the first one has the metadata."""
    split = (number("split.count", 2), number("split.tensors.count", len(TENSORS)))
    first, second = (tmp_path / f"m-0000{at}-of-00002.gguf" for at in (1, 2))
    first.write_bytes(header((*PAIRS, *split), TENSORS[:2]) + bytes(32_768))
    second.write_bytes(header(split, TENSORS[2:]) + bytes(32_768))
    assert parts_of(second) == (first, second)
    whole = contents_of(io.BytesIO(WHOLE), NAME, len(WHOLE)).tensors
    for named in (first, second):
        assert list(read_gguf(named).tensors) == whole
    second.write_bytes(header(split, TENSORS[3:]) + bytes(32_768))
    with pytest.raises(GGUFError, match="4 of 5 tensors"):
        read_gguf(first)
    second.unlink()
    with pytest.raises(GGUFError, match=r"m-00002-of-00002\.gguf"):
        read_gguf(first)
    renamed = first.rename(tmp_path / "m.gguf")
    with pytest.raises(GGUFError, match="one of 2 parts"):
        read_gguf(renamed)


REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "big-endian": (lambda: b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "big-endian"),
    "no GGUF": (lambda: b"PK\x03\x04" + bytes(100), "not a GGUF"),
    "cut in the header": (lambda: header()[:-9], "truncated"),
    "cut in the weights": (lambda: header() + bytes(100), "cut short"),
    "an unknown type": (lambda: header(tensors=(tensor("blk.0.x.weight", (64,), 99),)) + bytes(512), "unknown type 99"),
    "no model": (lambda: header(PAIRS[:1]) + bytes(32_768), "0 layers"),
    "no architecture": (lambda: header(PAIRS[1:]) + bytes(32_768), "no architecture"),
    "absurd layers": (
        lambda: header((*PAIRS[:1], number("qwen3.block_count", 2**31))) + bytes(32_768),
        "2147483648",
    ),
    "nesting": (lambda: header((pair("x", 9, struct.pack("<IQ", 9, 1) * 9),)) + bytes(32_768), "unknown type 9"),
    "an endless list": (lambda: header((pair("x", 9, struct.pack("<IQ", 8, 2**60)),)) + bytes(999), "array of"),
    "many lists": (lambda: header((pair("x", 9, struct.pack("<IQ", 9, 2**13)),)) + bytes(10**6), "arrays"),
    "a short list": (
        lambda: (
            header((*PAIRS[:5], pair("qwen3.attention.head_count_kv", 9, struct.pack("<IQI", 4, 1, 8)))) + bytes(32_768)
        ),
        "for 1 of 2 layers",
    ),
}


@pytest.mark.parametrize(("data", "says"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused(data: Callable[[], bytes], says: str) -> None:
    """Each with what is wrong, the file, and never anything but a GGUFError."""
    with pytest.raises(GGUFError, match=says) as caught:
        planned(data())
    assert str(NAME) in str(caught.value)


@pytest.mark.kills
def test_a_hundred_thousand_mutated_headers_end_in_a_plan_or_an_error() -> None:
    """Bytes flipped, lengths made huge, pieces cut out, doubled or swapped."""
    chance = random.Random(20_261_130)
    outcomes = {True: 0, False: 0}
    for data in _mutated(chance, MUTATIONS):
        outcomes[_accepted(data)] += 1
    assert sum(outcomes.values()) == MUTATIONS
    assert min(outcomes.values()) > MUTATIONS // 50


@pytest.mark.kills
def test_mutated_headers_stay_within_memory() -> None:
    """A sample, measured: less than 64 MiB at any moment, also where the file claims to be 16 GB of holes."""
    chance = random.Random(7)
    tracemalloc.start()
    try:
        for at, data in enumerate(_mutated(chance, times(3000, ci=1000))):
            _accepted(data, sparse=at % 10 == 0)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < MEMORY_BYTES


@pytest.mark.slow
def test_a_sparse_file_is_not_walked_to_its_end() -> None:
    """Zeros read as empty names, texts and lists without an end: few bytes are looked at before it is refused."""
    for kind, inner in ((9, 8), (9, 9), (9, 0), (8, 0)):
        holes = _Holes(header((pair("x", kind, struct.pack("<IQ", inner, 2**24 - 1)),), ()) + bytes(64), 16 * 10**9)
        _accepted(b"", file=holes)
        assert holes.read_bytes <= 2 * MAX_HEADER_BYTES


def _accepted(data: bytes, *, sparse: bool = False, file: io.RawIOBase | None = None) -> bool:
    size = 16 * 10**9
    try:
        if sparse or file is not None:
            planned(data, size, file or _Holes(data, size))
        else:
            planned(data)
    except GGUFError:
        return False
    return True


class _Holes(io.RawIOBase):
    """A file whose end is zeros, of which `read_bytes` were asked for."""

    def __init__(self, data: bytes, size: int) -> None:
        self.data, self.size, self.at, self.read_bytes = data, size, 0, 0

    def seek(self, offset: int, whence: int = 0, /) -> int:
        self.at = offset
        return offset

    def read(self, size: int = -1, /) -> bytes:
        size = max(min(size, self.size - self.at), 0)
        found = self.data[self.at : self.at + size]
        self.at += size
        self.read_bytes += size
        return found + bytes(size - len(found))


def _mutated(chance: random.Random, count: int) -> Iterator[bytes]:
    source, length = WHOLE, len(header())
    huge = [struct.pack("<Q", value) for value in (2**63, 2**64 - 1, 2**40, 2**31, 2**24, 2**16, 0)]
    for _ in range(count):
        data = bytearray(source)
        for _ in range(chance.randint(1, 3)):
            at = chance.randrange(max(min(length, len(data)), 1))
            way = chance.randrange(6)
            if way == 0:
                data[at : at + 1] = bytes([chance.randrange(256) & 0xF0])
            elif way == 1:
                data[at : at + 1] = bytes([chance.randrange(256)])
            elif way == 2:
                data[at : at + 8] = chance.choice(huge)
            elif way == 3:
                del data[at : at + chance.randint(1, 16)]
            elif way == 4:
                data[at:at] = data[at : at + chance.randint(1, 64)]
            else:
                del data[at + 1 :]
        yield bytes(data)
