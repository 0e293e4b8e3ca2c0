"""What a build asks of the server, and how long it takes: the first one, and two that find the model current."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from benchmarks.timing import in_ms, median_ratio, seconds_of, verdict
from ollama_kit.builder.build import build
from ollama_kit.server.connection import connect
from ollama_kit.server.server import Server
from ollama_kit.server.wire import Call
from ollama_kit.specs import load_spec
from tests.models.tiny import tiny_model
from tests.realserver import api
from tests.realserver.install import fetch, unsupported_reason
from tests.realserver.process import running

ROUNDS = 9
CURRENT_ASKS = ["/api/tags", "/api/show"]
SPEC = """\
spec: 1
from: tiny-qwen2
context: 512
system: 你是一个严谨的助手，只输出可运行代码。
parameters: {temperature: 0.7, top_k: 20, stop: ["###"]}
"""


class Watched(Server):
    """A server that remembers the path of each request."""

    def __init__(self, url: str) -> None:
        super().__init__(connect(url, {}))
        self.asked: list[str] = []

    def send(self, call: Call) -> Any:
        if not call.stream:  # a stream passes through `stream`
            self.asked.append(call.path)
        return super().send(call)

    @contextmanager
    def stream(self, call: Call) -> Iterator[Iterator[Any]]:
        self.asked.append(call.path)
        with super().stream(call) as lines:
            yield lines


def run() -> Iterable[str]:
    if reason := unsupported_reason():
        yield f"not measured: {reason}"
        return
    with running(fetch()) as real, _own_folders() as folder:
        api.ensure(real.url, "tiny-qwen2", tiny_model("tiny-qwen2"))
        server = Watched(real.url)
        with server:
            yield f"on a real Ollama {server.version()}, the connection open, {ROUNDS} rounds"
            seconds, requests = _measured(server, folder)
    for kind, figures in seconds.items():
        paths = ", ".join(f"{count} x {path}" for path, count in Counter(requests[kind]).items())
        yield f"{kind:<18}{in_ms(figures):<28}{len(requests[kind])} requests: {paths}"
    ratio = median_ratio(seconds["current"], seconds["its bare requests"])
    yield f"a current model takes {ratio:.2f} x what its requests alone take"
    met = verdict(requests["current"] == CURRENT_ASKS)
    yield f"a current model asks {' and '.join(CURRENT_ASKS)}, nothing else: {met}"


def _measured(server: Watched, folder: Path) -> tuple[dict[str, list[float]], dict[str, list[str]]]:
    """Seconds in each round, and the requests of the last one, of each kind of build."""
    spec = load_spec(str(folder / "bench.yaml"))

    def first() -> None:
        assert build(spec, server).status == "created"

    def current() -> None:
        assert build(spec, server).status == "current"

    def bare() -> None:
        server.models()
        server.asked.append("/api/show")
        api.call(server.url, "POST", "/api/show", {"model": spec.name})

    works: dict[str, Callable[[], None]] = {
        "first": first,
        "current": current,
        "no record": current,
        "its bare requests": bare,
    }
    seconds: dict[str, list[float]] = {kind: [] for kind in works}
    requests: dict[str, list[str]] = {}
    for _ in range(ROUNDS):
        for kind, work in works.items():
            if kind in ("first", "no record"):
                for record in (folder / "cache" / "builds").glob("*.json"):
                    record.unlink()
            server.asked.clear()
            seconds[kind].append(seconds_of(work))
            requests[kind] = list(server.asked)
        server.delete(spec.name)
    return seconds, requests


@contextmanager
def _own_folders() -> Iterator[Path]:
    """A spec in a folder that goes away, and a cache of its own, so that no record of the user's is used."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "bench.yaml").write_text(SPEC, encoding="utf-8")
        own = {"OLLAMA_KIT_HOME": str(folder / "home"), "OLLAMA_KIT_CACHE": str(folder / "cache")}
        with mock.patch.dict(os.environ, own):
            yield folder
