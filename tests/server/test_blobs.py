"""Files on their way to a server: checked, hashed once, sent whole from disk, never twice."""

from __future__ import annotations

import hashlib
import json
import os
import struct
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit.errors import GGUFError, ProtocolError, ServerRefused
from ollama_kit.server import Server, check_gguf
from ollama_kit.server.blobs import PIECE_BYTES, digest_of_bytes, digest_of_file
from ollama_kit.server.connection import connect
from ollama_kit.server.gguf_header import BLOCKS
from ollama_kit.server.transport import Transport
from tests import scripted as say
from tests.intensity import examples
from tests.scripted import ScriptedServer


def _text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def tiny_gguf(*, version: int = 3, elements: int = 64, alignment: int | None = None) -> bytes:
    """A whole GGUF by hand: values of each kind, and one F32 tensor of `elements`."""
    pairs = [
        _text("general.architecture") + struct.pack("<I", 8) + _text("llama"),
        _text("llama.block_count") + struct.pack("<II", 4, 2),
        _text("flag") + struct.pack("<I?", 7, True),
        _text("tokens") + struct.pack("<IIQ", 9, 8, 2) + _text("a") + _text("词"),
        _text("scores") + struct.pack("<IIQ", 9, 6, 2) + struct.pack("<2f", 0.5, 1.5),
    ]
    if alignment:
        pairs.append(_text("general.alignment") + struct.pack("<II", 4, alignment))
    tensor = _text("weight") + struct.pack("<IQIQ", 1, elements, 0, 0)
    head = b"GGUF" + struct.pack("<IQQ", version, 1, len(pairs)) + b"".join(pairs) + tensor
    boundary = alignment or 32
    return head + b"\0" * (-len(head) % boundary) + b"\1" * (4 * elements)


@pytest.fixture
def gguf(tmp_path: Path) -> Path:
    path = tmp_path / "合同 model.gguf"
    path.write_bytes(tiny_gguf())
    return path


def test_a_whole_file_is_taken(gguf: Path) -> None:
    """The header's figures are read, for both versions and another alignment."""
    header = check_gguf(gguf)
    assert (header.version, header.tensor_count, header.key_value_count) == (3, 1, 5)
    assert header.data_end_bytes == gguf.stat().st_size
    for made in (tiny_gguf(version=2), tiny_gguf(alignment=64)):
        gguf.write_bytes(made)
        assert check_gguf(gguf).data_end_bytes == len(made)


def test_every_cut_is_seen(gguf: Path) -> None:
    """Wherever the file ends too early, the error says so, with the path; in the data with both sizes."""
    whole = tiny_gguf()
    for size in range(len(whole)):
        gguf.write_bytes(whole[:size])
        with pytest.raises(GGUFError) as caught:
            check_gguf(gguf)
        assert str(gguf) in str(caught.value)
    assert f"{len(whole) - 1} bytes" in caught.value.message
    assert str(len(whole)) in caught.value.message


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is not a GGUF"),
        (b"PK\x03\x04 a zip", "is not a GGUF"),
        (b"<!DOCTYPE html>", "is not a GGUF"),
        (b"version https://git-lfs.github.com/spec/v1", "is not a GGUF"),
        (b"GGUF" + struct.pack(">I", 3) + b"\0" * 64, "big-endian"),
        (b"GGUF" + struct.pack("<I", 1) + b"\0" * 64, "version 1"),
        (b"GGUF" + struct.pack("<IQQ", 3, 2**60, 1), "tensors"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + _text("k") + struct.pack("<IIQ", 9, 8, 2**60), "array"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**62), "text"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + _text("k") + struct.pack("<I", 77), "unknown type"),
    ],
)
def test_what_is_no_gguf(data: bytes, words: str, gguf: Path) -> None:
    """Another file, another byte order and lying lengths are each told apart, at once and without memory."""
    gguf.write_bytes(data)
    with pytest.raises(GGUFError, match=words):
        check_gguf(gguf)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    """A path that cannot be read is an error of the file, not a traceback."""
    for path in (tmp_path / "gone.gguf", tmp_path):
        with pytest.raises(GGUFError):
            check_gguf(path)


@settings(deadline=None, max_examples=examples(300))
@given(position=st.integers(0, 300), value=st.integers(0, 255), cut=st.integers(0, 60))
def test_any_damage_is_an_error_or_a_header(
    position: int, value: int, cut: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A changed byte and a missing end never crash the reader."""
    data = bytearray(tiny_gguf())
    data[position % len(data)] = value
    path = tmp_path_factory.getbasetemp() / "damaged.gguf"
    path.write_bytes(bytes(data[: len(data) - cut]))
    try:
        check_gguf(path)
    except GGUFError:
        pass


def test_tensor_sizes_agree_with_the_gguf_package() -> None:
    """The table of block sizes is the one of the gguf package."""
    gguf_package = pytest.importorskip("gguf")
    sizes = {int(kind): tuple(size) for kind, size in gguf_package.GGML_QUANT_SIZES.items()}
    assert {kind: size for kind, size in sizes.items() if kind in BLOCKS} == {
        kind: size for kind, size in BLOCKS.items() if kind in sizes
    }


def test_uploads_once(gguf: Path, scripted: ScriptedServer) -> None:
    """HEAD first; the bytes go once, whole and with their length; a server that has them gets none."""
    digest = "sha256:" + hashlib.sha256(gguf.read_bytes()).hexdigest()
    blob = f"/api/blobs/{digest}"
    scripted.on("HEAD", blob, say.empty(404), say.empty(200))
    scripted.on("POST", blob, say.empty(201))
    steps: list[tuple[str, int, int]] = []
    with Server.at(scripted.url, {}) as server:
        assert server.upload_blob(gguf, lambda *step: steps.append(step)) == digest
        assert server.upload_blob(gguf) == digest
    assert scripted.calls == [("HEAD", blob), ("POST", blob), ("HEAD", blob)]
    sent = scripted.seen("POST", blob)[0]
    size = gguf.stat().st_size
    assert sent.body == gguf.read_bytes()
    assert sent.headers["content-length"] == str(size)
    assert steps == [("hashing", size, size), ("uploading", size, size)]


def test_bytes_are_uploaded_too(scripted: ScriptedServer) -> None:
    """A blob in memory goes the same way; an empty one as well."""
    for data in (b"x" * (PIECE_BYTES + 1), b""):
        blob = f"/api/blobs/{digest_of_bytes(data)}"
        scripted.on("HEAD", blob, say.empty(404))
        scripted.on("POST", blob, say.empty(201))
        with Server.at(scripted.url, {}) as server:
            server.upload_blob(data)
        assert scripted.seen("POST", blob)[0].body == data


def test_a_lost_upload_starts_again_from_the_beginning(gguf: Path, scripted: ScriptedServer) -> None:
    """After a reset the whole file is sent anew, not the rest of a half-read one."""
    digest = digest_of_file(gguf)
    blob = f"/api/blobs/{digest}"
    scripted.on("HEAD", blob, say.empty(404))
    scripted.on("POST", blob, say.reset(), say.error(503, "server busy"), say.empty(201))
    connection = connect(scripted.url, {})
    with Server(connection, transport=Transport(connection, sleep=lambda seconds: None)) as server:
        server.upload_blob(gguf)
    assert [seen.body for seen in scripted.seen("POST", blob)] == [gguf.read_bytes()] * 3


@pytest.mark.parametrize(
    ("status", "message", "hint"),
    [
        (400, 'digest mismatch, expected "sha256:a", got "sha256:b"', "changed while it was being sent"),
        (500, "write /models/blobs/sha256-1: no space left on device", "disk is full"),
    ],
)
def test_a_refused_upload(status: int, message: str, hint: str, gguf: Path, scripted: ScriptedServer) -> None:
    """A damaged upload and a full disk are told with what to do."""
    blob = f"/api/blobs/{digest_of_file(gguf)}"
    scripted.on("HEAD", blob, say.empty(404))
    scripted.on("POST", blob, say.error(status, message))
    with Server.at(scripted.url, {}) as server, pytest.raises(ServerRefused) as caught:
        server.upload_blob(gguf)
    assert hint in caught.value.hint


def test_a_bad_file_is_never_sent(gguf: Path, scripted: ScriptedServer) -> None:
    """A truncated file is never sent: no request at all. `check=False` is for what is not a GGUF on purpose."""
    gguf.write_bytes(tiny_gguf()[:-1])
    with Server.at(scripted.url, {}) as server:
        with pytest.raises(GGUFError, match="truncated"):
            server.upload_blob(gguf)
        assert scripted.calls == []
        with pytest.raises(ProtocolError):
            server.upload_blob(gguf, check=False)


def test_a_hash_is_remembered_until_the_file_changes(gguf: Path, tmp_path: Path) -> None:
    """The second time nothing is read; another time of change or size hashes anew."""
    steps: list[Any] = []
    first = digest_of_file(gguf, progress=lambda *step: steps.append(step), cache=tmp_path)
    assert digest_of_file(gguf, progress=lambda *step: steps.append(step), cache=tmp_path) == first
    assert len(steps) == 1
    gguf.write_bytes(tiny_gguf(elements=32))
    second = digest_of_file(gguf, cache=tmp_path)
    assert second == "sha256:" + hashlib.sha256(gguf.read_bytes()).hexdigest() != first
    stat = gguf.stat()
    os.utime(gguf, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    assert digest_of_file(gguf, progress=lambda *step: steps.append(step), cache=tmp_path) == second
    assert len(steps) == 2


@pytest.mark.parametrize("damage", ["", "{}", "[]", "\0\0", '{"digest": "sha256:short"}'])
def test_a_damaged_memory_is_rebuilt(damage: str, gguf: Path, tmp_path: Path) -> None:
    """A broken cache entry costs one hashing and is mended."""
    right = digest_of_file(gguf, cache=tmp_path)
    (entry,) = (tmp_path / "digests").iterdir()
    known = json.loads(entry.read_text(encoding="utf-8"))
    text = json.dumps({**known, "digest": "sha256:short"}) if "short" in damage else damage
    entry.write_text(text, encoding="utf-8")
    assert digest_of_file(gguf, cache=tmp_path) == right
    assert json.loads(entry.read_text(encoding="utf-8")) == known


def test_a_memory_that_can_not_be_written_is_no_error(gguf: Path, tmp_path: Path) -> None:
    """Where the cache folder cannot be made, the hash is still right."""
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    assert digest_of_file(gguf, cache=tmp_path / "file") == digest_of_bytes(gguf.read_bytes())


def test_many_at_once_agree(gguf: Path, tmp_path: Path) -> None:
    """Eight threads hashing one file leave one good entry and nothing half-written."""
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.append(digest_of_file(gguf, cache=tmp_path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {digest_of_bytes(gguf.read_bytes())}
    assert len(found) == 8
    assert [path.suffix for path in (tmp_path / "digests").iterdir()] == [".json"]


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """Hashing 64 MB takes a few pieces of memory."""
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(64 * 2**20)
    tracemalloc.start()
    try:
        digest_of_file(big, cache=tmp_path)
        _, peak_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_bytes < 8 * PIECE_BYTES


def test_a_file_that_shrinks_on_the_way(tmp_path: Path, scripted: ScriptedServer) -> None:
    """A file that becomes shorter between hashing and sending is an error that names it."""
    path = tmp_path / "shrinking.gguf"
    path.write_bytes(b"x" * (3 * PIECE_BYTES))
    blob = f"/api/blobs/{digest_of_file(path)}"
    scripted.on("HEAD", blob, say.empty(404))

    def shrink(what: str, done_bytes: int, total_bytes: int) -> None:
        if what == "uploading":
            path.write_bytes(b"x")

    with Server.at(scripted.url, {}) as server, pytest.raises(GGUFError, match="shrunk"):
        server.upload_blob(path, shrink, check=False)
