"""Runs the command line in this process, with the standard streams, the folder and the environment of a process of
its own: what a process alone can show (signals, terminals, an interpreter that starts) has tests of its own."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner

from ollama_kit.cli.main import main
from ollama_kit.tokens.store import forget_loaded


@dataclass(frozen=True)
class Ended:
    """What a command printed, and how it ended."""

    returncode: int
    stdout: str
    stderr: str


Run = Callable[..., Ended]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project's folder with a name that a Chinese Windows would have."""
    folder = tmp_path / "合同 文件夹"
    (folder / "modelfiles").mkdir(parents=True)
    return folder


@pytest.fixture
def run(project: Path) -> Run:
    """`run("build", "x", stdin=…, env=…)`: what it printed and how it ended. No server unless `env` names one."""

    def run(*arguments: str, stdin: str = "", env: dict[str, str] | None = None, encoding: str = "utf-8") -> Ended:
        forget_loaded()  # as in a new process
        environment = {"OLLAMA_HOST": "127.0.0.1:9", **(env or {})}
        runner = CliRunner(charset=encoding, env=environment)
        before = Path.cwd()
        os.chdir(project)
        try:
            with runner.isolation(stdin) as (out, err, *_):
                time.tzset() if hasattr(time, "tzset") else None  # TZ
                code = main([*arguments])
        finally:
            os.chdir(before)
            time.tzset() if hasattr(time, "tzset") else None
        return Ended(code, *(_text(stream.getvalue(), encoding) for stream in (out, err)))

    return run


def _text(printed: bytes, encoding: str) -> str:
    """As `subprocess` reads it: every line end is one character."""
    return printed.decode(encoding).replace("\r\n", "\n")
