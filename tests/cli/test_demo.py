"""The demo with an `ollama` on PATH that it has to start, and to stop again."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_json import validator
from tests.realserver.process import RealServer


@pytest.fixture
def on_path(real_server: RealServer, smollm2: str, tmp_path: Path) -> dict[str, str]:
    """An environment whose `ollama` is the real one, with a models folder of its own that has the base."""
    models = tmp_path / "models"
    shutil.copytree(real_server.models_dir, models, copy_function=os.link)
    program = tmp_path / "bin" / "ollama"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho $$ > "{tmp_path}/pid"\nexec "{real_server.binary}" "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    own = {"PATH": f"{program.parent}:/usr/bin:/bin", "OLLAMA_HOST": f"127.0.0.1:{port}", "OLLAMA_MODELS": str(models)}
    return {**os.environ, **real_server.env, **own, "PID_FILE": str(tmp_path / "pid")}


def is_running(environment: dict[str, str]) -> bool:
    try:
        os.kill(int(Path(environment["PID_FILE"]).read_text(encoding="utf-8")), 0)
    except ProcessLookupError:
        return False
    return True


def test_the_demo_prints_a_valid_summary_and_stops_what_it_started(on_path: dict[str, str]) -> None:
    """stdout is the validated JSON alone; the report shows a prompt of at most 600 tokens, counted as predicted."""
    command = [sys.executable, "-m", "ollama_kit", "demo", "--json"]
    ended = subprocess.run(command, env=on_path, capture_output=True, text=True, timeout=300, check=True)
    told = json.loads(ended.stdout)
    validator("demo").validate(told)
    assert set(told["value"]) == {"topics", "todos", "questions"}
    assert all({"task", "person", "deadline"} <= set(todo) for todo in told["value"]["todos"])
    report = told["report"]
    assert report["predicted_as"] == "exact"
    assert report["predicted_tokens"] == report["counted_tokens"] <= 600
    assert not is_running(on_path)


def test_ctrl_c_stops_the_server_too(on_path: dict[str, str]) -> None:
    """Exit code 130, and no process is left behind."""
    command = [sys.executable, "-m", "ollama_kit", "demo"]
    with subprocess.Popen(command, env=on_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("reading the chat"):
                break
        assert is_running(on_path)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.strip().endswith("interrupted")
    assert not is_running(on_path)
