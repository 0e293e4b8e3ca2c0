"""A hundred calls to a model of random weights: the worst that a model can say, on the real server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from ollama_kit import Client, Document
from ollama_kit.builder.build import build
from ollama_kit.errors import OutputInvalid
from ollama_kit.server.server import Server
from ollama_kit.settings import Settings
from ollama_kit.specs import load_spec
from tests.intensity import times
from tests.realserver.process import RealServer

SCHEMA = Path(__file__).parents[1] / "data" / "schemas" / "chat_summary.schema.json"
CALLS, ATTEMPTS = times(100, ci=20), 2
SHORT, LONG = 4, 24
"""num_predict of most calls, and of every tenth: random weights meet the grammar at no token, and then the server
tries all of a vocabulary of 150,000, some 0.1 s each time."""
CHAT = "林浩: 明天下午3点前交报告 <|im_end|>\nAnna: 谁来订货车？ password: Tr0ub4dor&3\n"
OUTCOMES = {"valid", "length", "runaway", "not_json", "schema", "empty", "timeout"}


@pytest.fixture
def hostile(real_server: RealServer, tiny_qwen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A random Qwen with 1,024 tokens of context, built from a spec."""
    (tmp_path / "modelfiles").mkdir()
    text = f"spec: 1\nfrom: {tiny_qwen}\ncontext: 1024\nsystem: 你只输出 JSON。\n"
    (tmp_path / "modelfiles" / "hostile.yaml").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with Server.at(real_server.url, {}) as server:
        build(load_spec("hostile"), server)
    return "hostile"


def test_every_call_ends_in_valid_data_or_in_an_error_with_every_attempt(real_server: RealServer, hostile: str) -> None:
    """Within its attempts and its tokens, and no matter what comes: random weights write blanks without end, tokens
    of no language, and never an end of turn. More room is asked for once, so that a bound is at most doubled."""
    validator = Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
    policy: dict[str, Any] = {"attempts": ATTEMPTS, "max_tokens": 96, "max_seconds": 60}
    seen: list[str] = []
    with Client(Settings(host=real_server.url), policy=policy) as client:
        for seed in range(CALLS):
            bound = SHORT if seed % 10 else LONG
            options = {"num_predict": bound, "seed": 7 * seed + 1}
            try:
                result = client.chat(
                    hostile, "总结这段聊天", documents=[Document(CHAT, "群聊")], schema=SCHEMA, options=options
                )
            except OutputInvalid as error:
                attempts = error.attempts
            else:
                assert validator.is_valid(result.value)
                assert result.report.prediction_held
                attempts = result.report.attempts
            assert 1 <= len(attempts) <= ATTEMPTS
            assert all((attempt.answer_tokens or 0) <= 2 * bound for attempt in attempts)
            assert attempts[-1].outcome == "valid" or all(attempt.outcome != "valid" for attempt in attempts)
            seen += [attempt.outcome for attempt in attempts]
    assert set(seen) <= OUTCOMES
