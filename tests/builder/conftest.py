"""Specs written in a test's own project folder, and servers to build on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from ollama_kit.server.server import Server
from ollama_kit.specs import ModelSpec, load_spec
from tests.realserver.process import RealServer

WriteSpec = Callable[..., ModelSpec]


@pytest.fixture
def spec_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> WriteSpec:
    """Writes a spec of these keys into the project's folder and loads it."""
    folder = tmp_path / "modelfiles"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)

    def write(name: str = "mine", **keys: object) -> ModelSpec:
        text = yaml.safe_dump({"spec": 1, **keys}, allow_unicode=True, sort_keys=False)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
        return load_spec(name)

    return write


@pytest.fixture
def server(real_server: RealServer) -> Iterator[Server]:
    """The real server, with a connection of the test's own."""
    with Server.at(real_server.url, {}) as opened:
        yield opened
