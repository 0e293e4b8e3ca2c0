"""The tiny models are taken by the real server, show what they were made with, and chat."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.models.tiny import TINY_NAMES
from tests.realserver import api
from tests.realserver.process import RealServer

FIXTURE_OF = {"tiny-qwen2": "tiny_qwen"} | {name: name.replace("-", "_") for name in TINY_NAMES[1:]}


@pytest.fixture(params=TINY_NAMES)
def tiny_name(request: pytest.FixtureRequest) -> str:
    """Each tiny model in turn, created on the real server."""
    return str(request.getfixturevalue(FIXTURE_OF[request.param]))


def chat(server: RealServer, model: str, **options: Any) -> dict[str, Any]:
    """One bounded answer of the server."""
    body = {"model": model, "stream": False, "messages": [{"role": "user", "content": "你好"}]}
    answer: dict[str, Any] = api.call(
        server.url, "POST", "/api/chat", {**body, "options": {"seed": 1, "num_predict": 8, "num_ctx": 512, **options}}
    )
    return answer


def test_a_tiny_model_chats(real_server: RealServer, tiny_name: str) -> None:
    """The server loads the file and counts a prompt with it."""
    answer = chat(real_server, tiny_name)
    assert answer["done"]
    assert answer["prompt_eval_count"] >= 2


def test_a_tiny_model_is_small(tiny_gguf: Callable[[str], Path], tiny_name: str) -> None:
    """Cheap to write, to upload and to load."""
    assert tiny_gguf(tiny_name).stat().st_size < 60_000_000


def test_the_server_shows_the_vocabulary_that_was_written(
    real_server: RealServer, tiny_name: str, vocabulary: Callable[[str], dict[str, Any]]
) -> None:
    """`vocabulary` and the server's verbose answer agree key by key, so either may stand for the other."""
    shown = api.call(real_server.url, "POST", "/api/show", {"model": tiny_name, "verbose": True})["model_info"]
    words = {"tiny-qwen2": "qwen2", "tiny-spm": "spm"}.get(tiny_name, "smollm")
    written = vocabulary(words)
    assert {key: shown[key] for key in written} == {key: pytest.approx(value) for key, value in written.items()}


def test_tiny_qwen_is_what_its_fixture_says(real_server: RealServer, tiny_qwen: str) -> None:
    """ChatML is recognized, and eight query heads share one KV head."""
    shown = api.call(real_server.url, "POST", "/api/show", {"model": tiny_qwen})
    assert "<|im_start|>{{ .Role }}" in shown["template"]
    heads = [shown["model_info"][f"qwen3.attention.{key}"] for key in ("head_count", "head_count_kv")]
    assert heads == [8, 1]


def test_an_adapter_changes_what_the_model_says(real_server: RealServer, tiny_qwen: str, tiny_lora: Path) -> None:
    """The LoRA file is created on top of tiny-qwen2, loads, and has an effect."""
    digest = api.upload(real_server.url, tiny_lora)
    name = "tiny-qwen2-lora"
    body = {"model": name, "from": tiny_qwen, "adapters": {tiny_lora.name: digest}}
    assert api.call(real_server.url, "POST", "/api/create", body)["status"] == "success"
    plain, adapted = (chat(real_server, model, temperature=0)["message"] for model in (tiny_qwen, name))
    assert plain != adapted


@pytest.mark.parametrize("kind", ["Q8_0", "Q4_K_S", "Q4_K_M"])
def test_the_f16_model_can_be_quantized(real_server: RealServer, tiny_f16: str, kind: str) -> None:
    """The server turns it into each type that a spec may ask for, and runs the result."""
    name = f"tiny-{kind.lower()}"
    body = {"model": name, "from": tiny_f16, "quantize": kind}
    assert api.call(real_server.url, "POST", "/api/create", body)["status"] == "success"
    shown = api.call(real_server.url, "POST", "/api/show", {"model": name})
    assert shown["details"]["quantization_level"] == kind
    assert chat(real_server, name)["done"]
