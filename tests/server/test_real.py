"""The same calls against a real Ollama 0.9.3."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ollama_kit.errors import GGUFError, ModelMissing, ProtocolError, ServerError, ServerRefused
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.server import AsyncServer, Server, check_gguf, wire
from ollama_kit.server.blobs import digest_of_bytes

pytestmark = pytest.mark.real

STOPS = ["<|im_end|>", 'say "stop"', "a\\nb\n\tc", "第一条 👩‍👩‍👧\u3000\u2028", "`back`", "#", " x "]


@pytest.fixture(scope="module")
def server(real_server: Any) -> Iterator[Server]:
    with Server.at(real_server.url, {}) as opened:
        yield opened


@pytest.fixture
def made(server: Server, tiny_qwen: str) -> Iterator[str]:
    """A model made from the tiny Qwen, with parameters that are hard to read back."""
    name = "server-test-made"
    body = {
        "model": name,
        "from": tiny_qwen,
        "system": "你好　\u200d<b>",
        "parameters": {"num_ctx": 1048576, "temperature": 0.7, "seed": -1, "use_mmap": True, "stop": STOPS},
        "messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}],
    }
    said: list[str] = []
    server.create(body, lambda what, done, total: said.append(what))
    assert said[-1] == "success"
    yield name
    server.delete(name)


def test_version_and_lists(server: Server, tiny_qwen: str) -> None:
    """The version, what is installed, what is loaded."""
    assert server.version() == ServerVersion(0, 9, 3)
    assert any(model.name.startswith(tiny_qwen) and len(model.digest) == 64 for model in server.models())
    assert isinstance(server.running(), tuple)


def test_create_and_show_agree(server: Server, made: str, tiny_qwen: str) -> None:
    """What was created is what show says, character for character and type for type."""
    facts = server.show(made)
    assert facts.parameters == {
        "num_ctx": 1048576,
        "temperature": 0.7,
        "seed": -1,
        "use_mmap": True,
        "stop": tuple(STOPS),
    }
    assert isinstance(facts.parameters["num_ctx"], int)
    assert facts.system == "你好　\u200d<b>"
    assert facts.messages == (("user", "hi"), ("assistant", "ho"))
    base = server.show(tiny_qwen)
    assert facts.base_blob == base.base_blob != ""
    assert facts.digest != base.digest
    assert len(facts.digest) == 64
    assert (base.architecture, base.gqa, base.tokenizer_pre) == ("qwen3", 8, "qwen2")
    assert "completion" in base.capabilities


def test_verbose_show_has_the_vocabulary(server: Server, tiny_qwen: str) -> None:
    """Only the verbose form carries arrays."""
    assert server.show(tiny_qwen).model_info["tokenizer.ggml.tokens"] is None
    assert len(server.show(tiny_qwen, verbose=True).model_info["tokenizer.ggml.tokens"]) > 150_000


def test_copy_and_delete(server: Server, made: str) -> None:
    """A copy has the same digest; deleted, it is missing, and the error says what is there."""
    server.copy(made, "server-test-copy")
    assert server.show("server-test-copy").digest == server.show(made).digest
    server.delete("server-test-copy")
    with pytest.raises(ModelMissing) as caught:
        server.show("server-test-copy")
    assert f"{made}:latest" in caught.value.installed
    with pytest.raises(ModelMissing):
        server.copy("server-test-gone", "x")
    with pytest.raises(ModelMissing):
        server.delete("server-test-gone")


def test_blobs(server: Server, tiny_qwen: str, tiny_gguf: Callable[[str], Path]) -> None:
    """The weights of an installed model are there; new bytes are not, until they were sent; lies are refused."""
    digest = f"sha256:{server.show(tiny_qwen).base_blob}"
    assert server.has_blob(digest)
    steps: list[str] = []
    assert server.upload_blob(tiny_gguf("tiny-qwen2"), lambda what, done, total: steps.append(what)) == digest
    assert "uploading" not in steps
    data = b"server-test " * 1000
    assert not server.has_blob(digest_of_bytes(data))
    server.upload_blob(data)
    assert server.has_blob(digest_of_bytes(data))
    with pytest.raises(ServerRefused, match="digest mismatch"):
        server.send(wire.blob("sha256:" + "0" * 64, _Lie()))


class _Lie:
    size_bytes = 3

    def __iter__(self) -> Iterator[bytes]:
        yield b"abc"


@pytest.mark.parametrize("name", ["tiny-qwen2", "tiny-smollm", "tiny-spm"])
def test_real_files_are_whole(name: str, tiny_gguf: Callable[[str], Path], tmp_path: Path) -> None:
    """Real GGUFs are taken to their last byte, and without it are cut short."""
    path = tiny_gguf(name)
    assert check_gguf(path).data_end_bytes <= path.stat().st_size
    cut = tmp_path / "cut.gguf"
    data = path.read_bytes()
    cut.write_bytes(data[: check_gguf(path).data_end_bytes - 1])
    with pytest.raises(GGUFError, match="truncated"):
        check_gguf(cut)


def test_chat_streams_and_can_be_left(server: Server, tiny_qwen: str) -> None:
    """A chat ends with its counts; one that is left early does not disturb the next."""
    body = {
        "model": tiny_qwen,
        "messages": [{"role": "user", "content": "hi"}],
        "options": {"num_predict": 4, "num_ctx": 512, "seed": 1},
    }
    with server.chat(body) as lines:
        last = list(lines)[-1]
    assert last["done"] is True
    assert last["eval_count"] <= 4
    endless = {**body, "options": {"num_predict": -1, "num_ctx": 512}}
    with server.chat(endless) as lines:
        next(lines)
    whole = server.send(wire.chat({**body, "stream": False}))
    assert whole["prompt_eval_count"] == last["prompt_eval_count"]
    assert any(model.name.startswith(tiny_qwen) for model in server.running())
    server.unload(tiny_qwen)


def test_the_async_server_agrees(server: Server, tiny_qwen: str) -> None:
    """Facts, a chat and a missing model through the event loop."""

    async def ask() -> tuple[Any, Any]:
        async with AsyncServer.at(server.url, {}) as other:
            facts = await other.show(tiny_qwen)
            with pytest.raises(ModelMissing):
                await other.show("server-test-gone")
            options = {"num_predict": 2, "num_ctx": 512}
            async with other.chat({"model": tiny_qwen, "messages": [], "options": options}) as lines:
                return facts, [line async for line in lines]

    facts, lines = asyncio.run(ask())
    assert facts == server.show(tiny_qwen)
    assert lines[-1]["done"] is True


def test_real_refusals(server: Server, tiny_qwen: str) -> None:
    """What 0.9.3 answers to wrong calls, as our errors."""
    with pytest.raises(ServerRefused, match="thinking") as refused:
        server.send(wire.chat({"model": tiny_qwen, "messages": [{"role": "user", "content": "x"}], "think": True}))
    assert (refused.value.status, refused.value.retryable) == (400, False)
    with pytest.raises(ServerRefused, match="num_ctx"):
        server.send(wire.generate({"model": tiny_qwen, "prompt": "x", "options": {"num_ctx": "8k"}}))
    with pytest.raises(ServerError):
        server.create({"model": "server-test-bad", "files": {"x.gguf": "sha256:" + "1" * 64}})
    with pytest.raises(ModelMissing):
        server.send(wire.embed("server-test-gone", ["x"]))
    with pytest.raises(ProtocolError, match="404"):
        server.send(wire.Call("GET", "/api/none"))


def test_embeddings(server: Server, tiny_smollm: str) -> None:
    """One vector a text."""
    vectors = server.embed(tiny_smollm, ["one", "two"], options={"num_ctx": 256})
    assert len(vectors) == 2
    assert len(vectors[0]) == len(vectors[1]) > 0
    assert server.embed(tiny_smollm, []) == []
