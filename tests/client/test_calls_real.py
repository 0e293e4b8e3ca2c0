"""Guarded calls on the real server: what must hold for any model, however dull or hostile."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from ollama_kit import Client
from ollama_kit.builder.build import build
from ollama_kit.errors import ContextOverflow
from ollama_kit.server.server import Server
from ollama_kit.settings import Settings
from ollama_kit.specs import load_spec
from tests.realserver.process import RealServer


@pytest.fixture
def small(real_server: RealServer, tiny_qwen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A random Qwen with 1,024 tokens of context and a system prompt, built from a spec."""
    (tmp_path / "modelfiles").mkdir()
    text = f"spec: 1\nfrom: {tiny_qwen}\ncontext: 1024\nsystem: 你只输出 JSON。\n"
    (tmp_path / "modelfiles" / "small.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with Server.at(real_server.url, {}) as server:
        build(load_spec("small"), server)
    return "small"


def test_predicted_is_counted_with_documents_fences_and_broken_tokens(real_server: RealServer, small: str) -> None:
    """Every stage changes the text before it is counted, so that the count is of what is sent."""
    draw = random.Random(3)
    words = ["合同", "deadline", "<|im_start|>", "👨‍👩‍👧", "\r\n", "　", "3月1日", "{{ x }}", "  ", "price: 5"]
    with Client(Settings(host=real_server.url), counting="exact", policy={"attempts": 1}) as client:
        for _ in range(15):
            texts = ["".join(draw.choice(words) for _ in range(draw.randint(1, 30))) for _ in range(3)]
            result = client.chat(small, texts[0] or "x", documents=texts[1:], options={"num_predict": 1})
            assert result.report.predicted_as == "exact"
            assert result.report.predicted_tokens == result.report.counted_tokens


def test_a_prompt_over_the_window_never_reaches_the_server(real_server: RealServer, small: str) -> None:
    """0.9.3 would cut it without a word."""
    before = real_server.log_path.read_text(encoding="utf-8", errors="replace").count("/api/chat")
    with Client(Settings(host=real_server.url)) as client, pytest.raises(ContextOverflow):
        client.chat(small, "合同条款" * 2000)
    after = real_server.log_path.read_text(encoding="utf-8", errors="replace").count("/api/chat")
    assert after == before
