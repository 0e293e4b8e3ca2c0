"""Runs the command line in a process of its own, as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder with a name that a Chinese Windows would have."""
    folder = tmp_path / "合同 文件夹"
    (folder / "modelfiles").mkdir(parents=True)
    return folder


@pytest.fixture
def run(project: Path) -> Run:
    """`run("build", "x", stdin=…, env=…)`: what it printed and how it ended. No server unless `env` names one."""

    def run(
        *arguments: str, stdin: str = "", env: dict[str, str] | None = None, encoding: str = "utf-8"
    ) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONIOENCODING": encoding, "OLLAMA_HOST": "127.0.0.1:9", **(env or {})}
        return subprocess.run(
            [sys.executable, "-m", "ollama_kit", *arguments],
            input=stdin,
            capture_output=True,
            encoding=encoding,
            cwd=project,
            env=environment,
            timeout=120,
            check=False,
        )

    return run
