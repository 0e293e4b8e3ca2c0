"""The judge on the real server: a small model that is asked a question gives a verdict that can be read."""

from __future__ import annotations

import pytest

from ollama_kit import Client
from ollama_kit.settings import Settings
from tests.realserver.process import RealServer


@pytest.mark.real
def test_any_model_that_follows_a_grammar_can_judge(real_server: RealServer, smollm2: str) -> None:
    """Whatever it thinks of the texts, it says yes or no: the request is one that the server takes, and its reply is a
    verdict."""
    policy = {"judge": {"model": smollm2, "form": "yes-no", "on": "both", "timeout_s": 300}}
    with Client(Settings(host=real_server.url)) as client:
        report = client.chat(
            smollm2, "Say hello.", documents=["明天下午3点开会。"], policy=policy, options={"num_predict": 8}
        ).report
    assert {(found.stage, found.rule) for found in report.findings if found.stage == "judge"} <= {("judge", "unsafe")}
