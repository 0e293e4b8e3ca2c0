"""The examples run as they are, against a scripted model that answers well."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from ollama_kit.tokens.store import forget_loaded
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.scripted import ScriptedServer, chat, show

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.process
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


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell script; wechat.cmd is its twin")
def test_the_nightly_script_reads_a_folder_of_exports(tmp_path: Path) -> None:
    """Yesterday's messages of every export, into a folder of that day; started twice it asks nothing again."""
    forget_loaded()
    yesterday = datetime.now(timezone(timedelta(hours=8))) - timedelta(days=1)
    exports = tmp_path / "exports"
    exports.mkdir()
    lines = f"林浩 {yesterday:%Y-%m-%d} 09:07\n陈波，请今天订货车。\n\n陈波 {yesterday:%Y-%m-%d} 09:10\n好的。\n"
    (exports / "群.txt").write_text(lines, encoding="utf-8")
    todo = {
        "task": "订货车",
        "person": "陈波",
        "deadline": "今天",
        "done": False,
        "confidence": "high",
        "messages": ["m1"],
    }
    answer = json.dumps({"topics": [], "todos": [todo], "questions": []}, ensure_ascii=False)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "ollama-kit").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ollama_kit "$@"\n', encoding="utf-8")
    (programs / "ollama-kit").chmod(0o755)
    with ScriptedServer(models=["m:latest"]) as server:
        server.always("POST", "/api/show", show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 8192"))
        server.always("POST", "/api/generate", show())
        server.always("POST", "/api/chat", chat(answer))
        own = {"MODEL": "m", "CHATS": str(exports), "OUT": str(tmp_path / "out"), "OLLAMA_HOST": server.url}
        environment = {**os.environ, **own, "PATH": f"{programs}:/usr/bin:/bin", "PYTHONPATH": str(EXAMPLES.parent)}
        for _ in range(2):
            subprocess.run([str(EXAMPLES / "nightly" / "wechat.sh")], env=environment, check=True, capture_output=True)
        assert len(server.seen("POST", "/api/chat")) == 1
    (written,) = (tmp_path / "out").glob("*/*.md")
    assert "订货车" in written.read_text(encoding="utf-8")
