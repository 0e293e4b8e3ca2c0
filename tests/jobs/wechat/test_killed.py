"""A batch that is killed at any moment: in the end its files are the bytes of a run that was left in peace."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.guard.conftest import CHATML, byte_vocabulary
from tests.intensity import times
from tests.jobs.wechat.test_job import Knowing, gold, messages_of
from tests.scripted import ScriptedServer, show

ROOT = Path(__file__).parents[3]
CHATS = ROOT / "tests" / "data" / "chat" / "chatlab"
KILLS = times(50, ci=6)


@pytest.fixture
def model() -> Iterator[ScriptedServer]:
    """A model that knows the gold; a window in which the chats take many chunks."""
    with ScriptedServer(models=["m:latest"]) as server:
        described = show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 3000", context_length=100_000)
        server.always("POST", "/api/show", described)
        server.always("POST", "/api/generate", show())
        answers = gold("A_zh_group_delivery")
        server.always("POST", "/api/chat", Knowing(answers, messages_of("zh_group_delivery")))
        yield server


def start(server: ScriptedServer, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ollama_kit", "wechat", "summarize", "--model", "m", "--out", str(folder)]
    names = ("zh_group_delivery", "en_mixed_group", "zh_group_injection")
    chats = [str(CHATS / f"synthetic_{name}.jsonl") for name in names]
    environment = {**os.environ, "OLLAMA_HOST": server.url, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([*command, "--parallel", "2", *chats], env=environment, stderr=subprocess.DEVNULL)


def written(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


@pytest.mark.kills
def test_killed_again_and_again_it_ends_with_the_same_files(model: ScriptedServer, tmp_path: Path) -> None:
    """SIGKILL after a random number of requests: no chunk that was finished is asked for again, none is lost."""
    assert start(model, tmp_path / "calm").wait(timeout=60) == 0
    chunks = len(model.seen("POST", "/api/chat"))
    assert chunks > 8
    draw = random.Random(11)
    for _ in range(KILLS):
        before = len(model.requests)
        target = draw.randint(1, 7)
        process = start(model, tmp_path / "killed")
        while process.poll() is None and len(model.requests) - before < target:
            time.sleep(0.001)  # a loop without it takes the core that the batch needs
        process.kill()
        process.wait(timeout=60)
    assert start(model, tmp_path / "killed").wait(timeout=60) == 0
    assert written(tmp_path / "killed") == written(tmp_path / "calm")
    # Of each kill at most the two requests that ran are asked for once more.
    assert len(model.seen("POST", "/api/chat")) <= 2 * chunks + 2 * KILLS
