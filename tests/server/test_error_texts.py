"""Every error that real servers were recorded with, and every text that their source has, becomes one of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ollama_kit.errors import ContextOverflow, OllamaKitError, ProtocolError, ServerRefused
from ollama_kit.server.error_texts import KNOWN, read_error
from ollama_kit.server.refusals import check_line, refusal

WIRE = Path(__file__).parents[1] / "data" / "wire"
URL = "http://127.0.0.1:11434"


def recorded() -> Iterator[tuple[str, int, Any]]:
    """(server and call, status, the line or body with the error) of every recorded refusal of the native API."""
    for file in sorted(WIRE.glob("*/calls.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            call = json.loads(line)
            for said in call.get("lines", ()):
                if isinstance(said, dict) and said.get("error") and call["request"]["path"].startswith("/api/"):
                    yield f"{file.parent.name} {call['name']}", call["status"], said


RECORDED = list(recorded())
REASONS = {
    "blob.mismatch": "digest",
    "create.badname": "name",
    "create.from.missing": "registry",
    "create.bad.template": "template",
    "create.quantize.unknown": "quantize",
    "create.quantize.fromquantized": "quantize",
    "create.files.absolute": "request",
    "create.blob.missing": "",
    "show.missing": "missing",
    "chat.wrong-type-at-call": "option",
    "chat.format.unknown": "format",
    "chat.format.badtype": "grammar",
    "chat.format.digit": "grammar",
    "chat.format.maxlength.2000": "grammar",
    "chat.format.maxitems.5000": "runner",
    "chat.think.True": "thinking",
    "chat.think.bogus": "thinking",
    "chat.think.3": "thinking",
    "chat.tools": "tools",
    "chat.images": "images",
    "chat.images.bad": "image_data",
    "chat.option.wrongtype": "option",
    "chat.model.missing": "missing",
    "generate.suffix": "capability",
    "generate.think": "thinking",
    "embed.one": "embeddings",
    "embed.number": "request",
    "copy.missing": "missing",
    "delete.missing": "missing",
    "bad.json": "request",
    "pull.offline": "registry",
}


def error_of(status: int, said: Any) -> OllamaKitError:
    """What our client raises for it: as a body, or as a line of a stream."""
    if status != 200:
        return refusal(status, json.dumps(said).encode(), url=URL)
    with pytest.raises(OllamaKitError) as caught:
        check_line(said, url=URL)
    return caught.value


def test_there_are_recorded_refusals_of_three_servers() -> None:
    assert {name.split()[0] for name, _, _ in RECORDED} == {"0.9.3", "0.24.0", "0.32.15"}
    assert len(RECORDED) > 60


@pytest.mark.parametrize(("name", "status", "said"), RECORDED, ids=[name for name, _, _ in RECORDED])
def test_a_recorded_refusal_is_one_sentence_with_a_reason_and_a_hint(name: str, status: int, said: Any) -> None:
    error = error_of(status, said)
    assert "{" not in error.message.replace(f"{URL} ", "").split("Unrecognized schema")[0]
    assert "\n" not in error.message
    assert error.hint
    if ".over" in name:
        assert isinstance(error, ContextOverflow | ServerRefused)
        return
    assert isinstance(error, ServerRefused)
    call = name.split()[1]
    if call in REASONS:
        assert error.reason == REASONS[call]


@pytest.mark.parametrize("name", ["0.24.0 chat.over.truncate.false", "0.32.15 chat.over.both.false"])
def test_a_prompt_that_a_server_refuses_as_too_long_is_an_overflow(name: str) -> None:
    """With both numbers where the server says them."""
    status, said = next((status, said) for known, status, said in RECORDED if known == name)
    error = error_of(status, said)
    assert isinstance(error, ContextOverflow)
    wanted = (1455, 512) if name.startswith("0.32") else (0, 0)
    assert (error.needed_tokens, error.available_tokens) == wanted


# Section 11 of what is known of 0.30 to 0.33, and what older servers said in their place.
TEXTS = {
    '"x" does not support chat': "capability",
    "registry.ollama.ai/library/x:latest does not support insert": "capability",
    "model is required": "missing",
    "raw mode does not support template, system, or context": "request",
    "top_logprobs must be between 0 and 20": "request",
    "template error: template: :1: unexpected EOF": "template",
    "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj": "images",
    "use either :local or :cloud, not both": "cloud",
    "ollama cloud is disabled: remote inference is unavailable": "cloud",
    "unauthorized": "auth",
    "model 'x' not found, try pulling it first": "missing",
    "request canceled": "cancelled",
    "server busy, please try again.  maximum pending requests exceeded": "busy",
    'unknown renderer "qwen9"': "renderer",
    "llama-server process has terminated: exit status 1": "runner",
    "llama runner process has terminated: signal: killed": "runner",
    "timed out waiting for llama-server to start": "load_timeout",
    "llama-server reported out-of-memory during startup": "memory",
    "an error was encountered while running the model: EOF": "runner",
    "llama-server chat error: map[code:500 message:boom]": "runner",
    "this model may be incompatible with your version of Ollama. Update": "architecture",
    "failed to validate GGUF with llama-quantize without compatibility patches: llama-quantize failed": "architecture",
    "failed to validate GGUF: llama-quantize unavailable: llama-quantize binary not found": "installation",
    "Field 'repeat_last_n': Value must be between 0 and 2147483647": "option",
    "Cannot have 2 or more assistant messages at the end of the list.": "template",
    "Unable to generate parser for this template. Conversation roles must alternate user/assistant": "template",
    "This server does not support embeddings. Start it with `--embeddings`": "embeddings",
    "this model does not support embeddings": "embeddings",
    'destination "合同模型" is invalid': "name",
}


@pytest.mark.parametrize(("text", "reason"), TEXTS.items())
def test_each_text_of_the_source_has_its_reason(text: str, reason: str) -> None:
    error = refusal(500, json.dumps({"error": text}).encode(), url=URL)
    assert isinstance(error, ServerRefused)
    assert (error.reason, bool(error.hint)) == (reason, True)


@pytest.mark.parametrize(
    "text", ["the input length exceeds the context length", "input (9000 tokens) is too large to process"]
)
def test_each_text_about_the_context_is_an_overflow(text: str) -> None:
    assert isinstance(refusal(400, json.dumps({"error": text}).encode(), url=URL), ContextOverflow)


def test_a_page_of_a_proxy_is_no_refusal_of_ollamas() -> None:
    assert isinstance(refusal(502, b"<html><title>Bad Gateway</title></html>", url=URL), ProtocolError)


def test_every_reason_has_its_own_hint_in_both_languages() -> None:
    assert all(isinstance(known.hint, tuple) and all(known.hint) for known in KNOWN)


MEMBERS = st.sampled_from(["error", "message", "n_ctx"])


@given(st.recursive(st.text() | st.integers() | st.none(), lambda inner: st.dictionaries(MEMBERS, inner)))
def test_any_error_member_is_read_or_is_none(error: Any) -> None:
    """Nested as deep as anybody likes, in objects or in text."""
    for value in (error, json.dumps(error)):
        read = read_error(value)
        assert read is None or read.said.strip()
