"""A scripted model that counts in bytes, so that a test can say how many tokens a prompt is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ollama_kit.client import Client
from ollama_kit.settings import Settings
from ollama_kit.tokens.store import forget_loaded
from tests.scripted import ScriptedServer, chat, show, tags

CHATML = "{{- range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n{{ end }}<|im_start|>assistant\n"
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<repo_name>")


def byte_vocabulary() -> dict[str, Any]:
    """The `model_info` of a byte-level tokenizer without merges: one token a byte, and the control tokens."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spelled = {byte: chr(byte) for byte in printable}
    for at, byte in enumerate(byte for byte in range(256) if byte not in spelled):
        spelled[byte] = chr(256 + at)
    tokens = [*CONTROL, *(spelled[byte] for byte in range(256))]
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3] * len(CONTROL) + [1] * 256,
        "tokenizer.ggml.merges": [],
    }


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    """A server with one model `m`: ChatML, 4,096 tokens of context, one token a byte."""
    forget_loaded()
    with ScriptedServer(models=["m:latest"]) as server:
        server.always("GET", "/api/tags", tags("m:latest"))
        described = show(
            info=byte_vocabulary(),
            template=CHATML,
            parameters="num_ctx 4096",
            system="You are terse.",
            capabilities=["completion", "tools"],
        )
        server.always("POST", "/api/show", described)
        yield server


@pytest.fixture
def client(scripted: ScriptedServer) -> Iterator[Client]:
    with Client(Settings(host=scripted.url)) as opened:
        yield opened


Say = Callable[..., None]


@pytest.fixture
def says(scripted: ScriptedServer) -> Say:
    """Queues answers of the model, one for each attempt."""

    def queue(*answers: Any) -> None:
        scripted.on("POST", "/api/chat", *(chat(answer) if isinstance(answer, str) else answer for answer in answers))

    return queue
