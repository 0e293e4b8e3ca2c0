"""Scanners named by a policy, where llm-guard is absent; and what an output scanner may do to an answer."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import pytest

from ollama_kit import Client
from ollama_kit.errors import GuardBlocked, SpecError, UsageError
from ollama_kit.guard import pipeline
from ollama_kit.records.report import Finding
from ollama_kit.text.spans import Changed
from tests.guard.conftest import Say
from tests.scripted import ScriptedServer

NUMBER = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
WORDS = {"name": "words", "scanner": "BanSubstrings", "options": {"substrings": ["禁词"]}}


@pytest.mark.skipif(find_spec("llm_guard") is not None, reason="llm-guard is installed here")
def test_a_policy_that_names_a_scanner_ends_before_any_call(client: Client, scripted: ScriptedServer) -> None:
    """The error says what to install; nothing of the text has gone anywhere."""
    with pytest.raises(UsageError, match=r"ollama-kit\[llm-guard\]"):
        client.chat("m", "hi", policy={"scanners": {"input": [WORDS]}})
    assert not scripted.seen("POST", "/api/chat")


def test_an_unknown_scanner_is_refused_with_the_nearest(client: Client) -> None:
    """As any other word of a policy."""
    with pytest.raises(SpecError, match="BanSubstrings"):
        client.chat("m", "hi", policy={"scanners": {"input": [{"name": "x", "scanner": "BanSubstring"}]}})


class Fake:
    """Stands for loaded scanners: `check` is what the output scanners do."""

    def __init__(self, check: Callable[[str], str]) -> None:
        self.check, self.output, self.prompts = check, (WORDS,), list[str]()

    def input_stage(self, text: str, source: str) -> tuple[Changed, tuple[Finding, ...]]:
        return Changed(text), ()

    def check_output(self, prompt: str, answer: str) -> tuple[str, tuple[Finding, ...]]:
        self.prompts.append(prompt)
        found = Finding("scanner words", "BanSubstrings", "medium", "redacted", "answer", (0, len(answer)))
        return self.check(answer), (found,)


@pytest.fixture
def scanning(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[str], str]], Fake]:
    def install(check: Callable[[str], str]) -> Fake:
        fake = Fake(check)
        monkeypatch.setattr(pipeline, "load_scanners", lambda config: fake)
        return fake

    return install


POLICY = {"scanners": {"output": [WORDS]}}


def test_the_caller_sees_what_the_scanners_let_pass(
    client: Client, says: Say, scanning: Callable[[Callable[[str], str]], Fake]
) -> None:
    """After hidden values are back, before the caller: text and structured data alike."""
    fake = scanning(lambda answer: answer.replace("禁词", "***").replace("5", "6"))
    says("这是禁词。", '{"n": 5}')
    told = client.chat("m", "问", policy=POLICY)
    assert told.value == "这是***。"
    assert "问" in fake.prompts[0]
    assert any(found.stage == "scanner words" for found in told.report.findings)
    assert client.chat("m", "问", schema=NUMBER, policy=POLICY).value == {"n": 6}


def test_data_that_a_scanner_broke_is_not_taken_for_valid(
    client: Client, says: Say, scanning: Callable[[Callable[[str], str]], Fake]
) -> None:
    """What is left must satisfy the schema, else it is a failed attempt like any other."""
    scanning(lambda answer: answer.replace("5", '"x"'))
    says('{"n": 5}', '{"n": 7}')
    result = client.chat("m", "问", schema=NUMBER, policy=POLICY)
    assert result.value == {"n": 7}
    assert [attempt.outcome for attempt in result.report.attempts] == ["schema", "valid"]


def test_a_scanner_that_blocks_ends_the_call(
    client: Client, says: Say, scanning: Callable[[Callable[[str], str]], Fake]
) -> None:
    """No other attempt: the answer was understood, and refused."""

    def block(answer: str) -> str:
        raise GuardBlocked("refused", stage="scanner words", reason="禁词")

    scanning(block)
    says("这是禁词。")
    with pytest.raises(GuardBlocked):
        client.chat("m", "问", policy=POLICY)
