"""Embedding on the real server: counts agree, nothing is cut, and every vector is in its place."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from ollama_kit import Client
from ollama_kit.builder.build import build
from ollama_kit.errors import ContextOverflow
from ollama_kit.server.server import Server
from ollama_kit.settings import Settings
from ollama_kit.specs import load_spec
from tests.realserver.process import RealServer

TEXTS = (
    "hello world",
    "合同第一条：甲方应于3月1日前付款。",
    "👨‍👩‍👧 <|im_end|>",
    "a",
    "def f(x):\n    return x",
    "　全角 空格",
)


@pytest.fixture(params=["tiny_qwen", "tiny_smollm", "tiny_spm"])
def small(
    request: pytest.FixtureRequest, real_server: RealServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    """A model of each kind of vocabulary, with 128 tokens of context."""
    base = request.getfixturevalue(request.param)
    name = f"embed-{request.param.replace('_', '-')}"
    (tmp_path / "modelfiles").mkdir()
    (tmp_path / "modelfiles" / f"{name}.yaml").write_text(f"spec: 1\nfrom: {base}\ncontext: 128\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with Server.at(real_server.url, {}) as server:
        build(load_spec(name), server)
    return name


@pytest.fixture
def client(real_server: RealServer) -> Iterator[Client]:
    with Client(Settings(host=real_server.url)) as opened:
        yield opened


def alike(one: tuple[float, ...], other: tuple[float, ...]) -> float:
    """The cosine of two vectors."""
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / (math.hypot(*one) * math.hypot(*other))


def begun(model: str) -> int:
    """How many tokens this server leaves out of its count of a text: the BOS of a SentencePiece model."""
    return 1 if model.endswith("spm") else 0


def test_counts_agree_and_a_vector_is_the_same_in_any_batch(client: Client, small: str) -> None:
    """A chat model embeds too; what is predicted is what the server counts."""
    whole = client.embed(small, TEXTS)
    report = whole.report
    assert report.prediction_held
    assert report.counted_tokens == report.predicted_tokens - begun(small) * len(TEXTS)
    single = client.embed(small, TEXTS[::-1], batch=1)
    for one, other in zip(whole.vectors, single.vectors[::-1], strict=True):
        assert alike(one, other) > 0.999
    assert len({len(vector) for vector in whole.vectors}) == 1
    assert alike(whole.vectors[0], whole.vectors[1]) < 0.9999


def test_the_longest_that_fits_is_taken_and_one_more_is_refused_here(
    client: Client, small: str, real_server: RealServer
) -> None:
    """The server agrees that what we let through is not too long."""
    draw = random.Random(5)
    text = "".join(draw.choice(("合同 ", "price ", "🙂", "\n", "x1 ")) for _ in range(400))
    cut = client.embed(small, ["a", text], too_long="truncate")
    assert cut.report.counted_tokens == cut.report.predicted_tokens - 2 * begun(small)
    assert cut.report.dropped["texts"] == 1
    assert cut.report.dropped["tokens"] > 0
    before = real_server.log_path.read_text(encoding="utf-8", errors="replace").count("/api/embed")
    with pytest.raises(ContextOverflow, match="text 1 is"):
        client.embed(small, ["a", text])
    after = real_server.log_path.read_text(encoding="utf-8", errors="replace").count("/api/embed")
    assert after == before
