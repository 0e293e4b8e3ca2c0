"""What the real server counts: `prompt_eval_count` of raw prompts, each predicted before it is sent."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from ollama_kit.tokens import Tokenizer
from ollama_kit.tokens.pretokenizers import RULES
from tests.models import tiny
from tests.models.vocabularies import vocabulary
from tests.realserver import api
from tests.realserver.process import RealServer
from tests.tokens.texts import FIXED, hostile, two_hundred

pytestmark = pytest.mark.real

CONTEXT = 4096


@pytest.fixture(scope="module")
def client(real_server: RealServer) -> Iterator[httpx.Client]:
    """One connection for all the calls of this file."""
    with httpx.Client(base_url=real_server.url, timeout=300, trust_env=False) as opened:
        yield opened


def tokenizer_of(client: httpx.Client, model: str) -> Tokenizer:
    """The tokenizer rebuilt from what the server says about a model."""
    answer = client.post("/api/show", json={"model": model, "verbose": True})
    return Tokenizer.from_metadata(answer.raise_for_status().json()["model_info"])


def counted(client: httpx.Client, model: str, text: str) -> int:
    """The tokens of a raw prompt, as the server counts them."""
    options = {"num_predict": 1, "num_ctx": CONTEXT, "temperature": 0}
    body = {"model": model, "prompt": text, "raw": True, "stream": False, "options": options}
    answer: dict[str, Any] = client.post("/api/generate", json=body).raise_for_status().json()
    return int(answer["prompt_eval_count"])


def differing(client: httpx.Client, model: str, texts: list[str]) -> list[tuple[str, int, int]]:
    """The texts with (predicted, counted) where the two differ; each text must fit the context."""
    tokenizer = tokenizer_of(client, model)
    assert tokenizer.exact
    predicted = [tokenizer.count(text) for text in texts]
    assert max(predicted) < CONTEXT
    found = [counted(client, model, text) for text in texts]
    return [(text, ours, theirs) for text, ours, theirs in zip(texts, predicted, found, strict=True) if ours != theirs]


@pytest.mark.parametrize("fixture", ["tiny_qwen", "tiny_smollm", "tiny_spm"])
def test_two_hundred_texts_count_as_predicted(
    client: httpx.Client, fixture: str, request: pytest.FixtureRequest
) -> None:
    """Chinese, English, mixed, emoji, code, control tokens, CRLF, full-width, leading blanks, and random mixtures."""
    model: str = request.getfixturevalue(fixture)
    own = tokenizer_of(client, model).control_tokens
    texts = two_hundred(seed=len(fixture), extra=own)
    assert len(texts) == 200
    assert differing(client, model, texts) == []


def test_a_trained_model_counts_as_predicted(client: httpx.Client, smollm2: str) -> None:
    """Twenty texts on SmolLM2 itself, short ones: it reads some twenty tokens a second."""
    texts = [text[:16] for text in FIXED[:10]] + hostile(10, seed=11, longest=6)
    assert differing(client, smollm2, texts) == []


# One name for each rule; `qwen35` came after this server.
OTHER_RULES = sorted({rule.patterns: name for name, rule in reversed(RULES.items()) if name != "qwen35"}.values())


@pytest.mark.parametrize("pre", OTHER_RULES)
def test_every_rule_cuts_as_the_server_does(
    client: httpx.Client, real_server: RealServer, pre: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SmolLM2's vocabulary under each word rule that this server knows: counts tell where words were cut."""
    changed = {**vocabulary("smollm"), "tokenizer.ggml.pre": pre}
    assert _differing_with(client, real_server, monkeypatch, tmp_path, f"rule-{pre}", changed) == []


@pytest.mark.parametrize("name", ["deepseek", "tekken", "gemma"])
def test_other_real_vocabularies_count_as_predicted(
    client: httpx.Client, real_server: RealServer, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DeepSeek and Tekken, and one built like Gemma's, whose scores need the slow way."""
    assert _differing_with(client, real_server, monkeypatch, tmp_path, f"words-{name}", vocabulary(name)) == []


def _differing_with(
    client: httpx.Client,
    server: RealServer,
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    name: str,
    known: dict[str, Any],
) -> list[tuple[str, int, int]]:
    """What differs on a tiny model with that vocabulary, which is made for the purpose and removed again."""
    monkeypatch.setattr(tiny, "vocabulary", lambda _: known)
    gguf = folder / f"{name}.gguf"
    tiny._write_model(gguf, shape=tiny.Shape("llama", layers=1), words="")
    model = api.ensure(server.url, name, gguf)
    try:
        return differing(client, model, [*FIXED, *hostile(12, seed=len(name))])
    finally:
        client.request("DELETE", "/api/delete", json={"model": model}).raise_for_status()


def test_an_empty_raw_prompt_is_not_counted(client: httpx.Client, tiny_spm: str) -> None:
    """The server only loads the model: no figure to compare with, whatever the BOS would be."""
    answer = client.post("/api/generate", json={"model": tiny_spm, "prompt": "", "raw": True, "stream": False})
    assert "prompt_eval_count" not in answer.raise_for_status().json()


def test_a_bos_typed_by_the_caller_comes_on_top(client: httpx.Client, tiny_spm: str) -> None:
    """`<s>` at the start of a raw prompt is a second BOS, not instead of the model's own."""
    assert differing(client, tiny_spm, ["<s>hello", "<s><s>", "</s>"]) == []
    assert counted(client, tiny_spm, "<s>hello") == counted(client, tiny_spm, "hello") + 1
