"""Thinking as part of a call: what is sent by version and model, the room it has, and what is said when it ran over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ollama_kit import Client
from ollama_kit.errors import OutputInvalid, UsageError
from ollama_kit.guard.fit import THINKING_TOKENS
from ollama_kit.settings import Settings
from ollama_kit.tokens.store import forget_loaded
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.scripted import ScriptedServer, chat, show

TASK = {"type": "object", "required": ["task"], "properties": {"task": {"type": "string"}}}
THINKS = ["completion", "thinking"]


@contextmanager
def server(version: str, *, architecture: str = "llama", capabilities: Any = THINKS) -> Iterator[ScriptedServer]:
    forget_loaded()
    with ScriptedServer(version=version, models=["m:latest"]) as scripted:
        described = show(
            architecture,
            info=byte_vocabulary(),
            template=CHATML,
            parameters="num_ctx 8192",
            capabilities=capabilities,
        )
        scripted.always("POST", "/api/show", described)
        scripted.always("POST", "/api/chat", chat('{"task": "x"}', thinking="hm"))
        yield scripted


def sent(scripted: ScriptedServer, **call: Any) -> Any:
    with Client(Settings(host=scripted.url)) as client:
        client.chat("m", "todo?", **call)
    return scripted.seen("POST", "/api/chat")[-1].json


@pytest.mark.parametrize("think", [None, True, False])
def test_whether_to_think_is_always_said(think: Any) -> None:
    """With a schema, and without, it is off unless it is asked for."""
    with server("0.32.1") as scripted:
        for schema in (None, TASK):
            assert sent(scripted, think=think, schema=schema)["think"] is bool(think)


@pytest.mark.parametrize(
    ("version", "architecture", "level", "taken"),
    [
        ("0.9.3", "gptoss", "low", False),
        ("0.11.0", "gptoss", "high", True),
        ("0.17.5", "llama", "low", False),
        ("0.17.6", "llama", "medium", True),
        ("0.21.9", "llama", "max", False),
        ("0.22.0", "llama", "max", True),
        ("0.0.0", "llama", "max", True),
    ],
)
def test_a_level_is_sent_where_the_server_takes_it(version: str, architecture: str, level: Any, taken: bool) -> None:
    with server(version, architecture=architecture) as scripted:
        if taken:
            assert sent(scripted, think=level)["think"] == level
            return
        with pytest.raises(UsageError, match="does not take the thinking level"):
            sent(scripted, think=level)
        assert not scripted.seen("POST", "/api/chat")


@pytest.mark.parametrize("think", [True, "low"])
def test_a_model_that_cannot_think_is_not_asked_to(think: Any) -> None:
    with server("0.32.1", capabilities=["completion"]) as scripted, pytest.raises(UsageError, match="cannot think"):
        sent(scripted, think=think)


def test_a_bound_on_the_answer_is_not_spent_by_the_thinking() -> None:
    """num_predict bounds both: thinking has room of its own beside the answer's."""
    with server("0.32.1") as scripted:
        assert sent(scripted, think=False, options={"num_predict": 50})["options"]["num_predict"] == 50
        assert sent(scripted, think=True, options={"num_predict": 50})["options"]["num_predict"] == 50 + THINKING_TOKENS


@pytest.mark.parametrize(
    ("version", "ignored"), [("0.12.3", False), ("0.12.4", True), ("0.21.0", True), ("0.21.1", False)]
)
def test_a_report_says_where_the_grammar_was_not_in_force(version: str, ignored: bool) -> None:
    with server(version) as scripted, Client(Settings(host=scripted.url)) as client:
        notes = client.chat("m", "todo?", schema=TASK).report.notes
    assert any("ignores `format`" in note for note in notes) is ignored


def test_an_answer_that_was_cut_says_what_filled_the_window() -> None:
    """By the server's counts: how much was written, how much of it was thinking, what the prompt takes."""
    long: Callable[..., Any] = chat("", thinking=" ".join(map(str, range(900))), done_reason="length", eval_count=900)
    with server("0.32.1") as scripted, Client(Settings(host=scripted.url)) as client:
        scripted.always("POST", "/api/chat", long)
        with pytest.raises(OutputInvalid) as caught:
            client.chat("m", "todo?", schema=TASK, think=True)
    assert "at 900 tokens, about 100 % of them thinking" in caught.value.message
    assert "of 8,192 tokens are the prompt" in caught.value.message
