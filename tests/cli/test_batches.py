"""What surrounds a batch: slots, ledger, Ctrl-C, and a model that is unloaded in the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ollama_kit.cli.batches import LEDGER, BatchOptions, open_batch
from ollama_kit.errors import UsageError
from ollama_kit.jobs.ledger import Ledger
from ollama_kit.jobs.runner import Batch, Task
from tests.cli.test_wechat import CHAT
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.scripted import HANG, Do, Reply, ScriptedServer, error, lines, show, silent

HANG_LIMIT_S = 30.0
UNLOADED = {"response": "", "done": True, "done_reason": "unload"}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer(models=["m:latest"]) as server:
        server.always("POST", "/api/generate", lines(UNLOADED))
        yield server


def options(server: ScriptedServer, **other: Any) -> BatchOptions:
    return replace(BatchOptions(model="m", policy="off", host=server.url), **other)


def unloads(server: ScriptedServer) -> list[Any]:
    return [seen.json["keep_alive"] for seen in server.seen("POST", "/api/generate")]


@pytest.mark.parametrize(("said", "parallel", "slots"), [("", None, 1), ("4", None, 4), ("x", None, 1), ("4", 2, 2)])
def test_slots_are_the_flags_else_the_servers_on_this_machine(
    said: str, parallel: int | None, slots: int, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """OLLAMA_NUM_PARALLEL, which no endpoint reports."""
    monkeypatch.setenv("OLLAMA_NUM_PARALLEL", said)
    with open_batch(options(server, parallel=parallel), "t") as context:
        assert context.slots == slots


def test_a_remote_servers_slots_are_not_this_machines(server: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its OLLAMA_NUM_PARALLEL is another."""
    monkeypatch.setenv("OLLAMA_NUM_PARALLEL", "4")
    with open_batch(options(server, host="http://192.0.2.1:11434", model=""), "t") as context:
        assert context.slots == 1


def test_a_run_without_a_model_asks_the_server_nothing(server: ScriptedServer) -> None:
    """Rules alone need none."""
    with open_batch(options(server, model=""), "t"):
        pass
    assert server.calls == []


def test_the_model_is_unloaded_in_the_end_and_the_ledger_lies_in_the_folder(
    server: ScriptedServer, tmp_path: Path
) -> None:
    """Also where the block fails."""
    with open_batch(options(server, out=tmp_path / "out"), "t") as context:
        Batch(lambda number: number, context.ledger, context.slots).run([Task("k", "label", 1)])
    assert unloads(server) == [0]
    with Ledger(tmp_path / "out" / LEDGER, "t") as ledger:
        assert ledger.find("k") is not None
    with pytest.raises(UsageError), open_batch(options(server), "t"):
        raise UsageError("no")
    assert unloads(server) == [0, 0]


def test_a_model_that_cannot_be_unloaded_is_a_note(server: ScriptedServer, capsys: pytest.CaptureFixture[str]) -> None:
    """What was done is not lost for that; where something else failed, that is what is reported."""
    server.always("POST", "/api/generate", error(400, "no such thing"))
    with open_batch(options(server), "t"):
        pass
    assert "no such thing" in capsys.readouterr().err
    with pytest.raises(UsageError, match="the reason"), open_batch(options(server), "t"):
        raise UsageError("the reason")


@pytest.mark.process
@pytest.mark.parametrize("leaves", ["answers", "silent"])
def test_ctrl_c_ends_a_command_whose_server_never_answers(leaves: str, server: ScriptedServer, tmp_path: Path) -> None:
    """Four requests wait; exit code 130, one line, nothing written but the ledger; the model is asked to leave, and
    a server that is silent to that as well is not waited for."""
    waiting = threading.Semaphore(0)
    described = show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 3000", context_length=100_000)
    server.always("POST", "/api/show", described)
    server.always("POST", "/api/chat", Reply(200, (Do(waiting.release), HANG), framing="raw"))
    if leaves == "silent":
        server.always("POST", "/api/generate", silent())
    command = ["wechat", "summarize", str(CHAT), "--model", "m", "--out", "out", "--parallel", "4"]
    process = subprocess.Popen(
        [sys.executable, "-m", "ollama_kit", *command],
        env={**os.environ, "OLLAMA_HOST": server.url},
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        assert all(waiting.acquire(timeout=HANG_LIMIT_S) for _ in range(4))
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=HANG_LIMIT_S)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, out, err.strip()) == (130, "", "interrupted")
    assert unloads(server) == [0]
    assert {path.name.removesuffix("-wal").removesuffix("-shm") for path in (tmp_path / "out").iterdir()} == {LEDGER}
    assert all(seen.hung_up.wait(HANG_LIMIT_S) for seen in server.seen("POST", "/api/chat"))
