"""The examples run as they are, against a scripted model that answers well."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ollama_kit.tokens.store import forget_loaded
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.scripted import ScriptedServer, chat, show

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_todos_of_a_chat_prints_each_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quote is found in the caller's own file; the injected line and the phone number are reported."""
    forget_loaded()
    answer = '{"todos": [{"task": "签报关单", "person": "周敏", "quote": "明天下午3点前我去签"}]}'
    with ScriptedServer(models=["m:latest"]) as server:
        server.always("POST", "/api/show", show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 4096"))
        server.on("POST", "/api/chat", chat(answer))
        ended = subprocess.run(
            [sys.executable, str(EXAMPLES / "todos_of_a_chat.py"), "m"],
            env={**os.environ, "OLLAMA_HOST": server.url, "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            encoding="utf-8",
            check=True,
        )
    text = (EXAMPLES / "chat.txt").read_text(encoding="utf-8")
    start = text.index("明天下午3点前我去签")
    assert f"周敏: 签报关单  (characters ({start}, {start + 10}) of chat.txt)" in ended.stdout
    assert "injection/override" in ended.stdout
    assert "private_data/mobile" in ended.stdout
