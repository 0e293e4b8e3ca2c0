"""A current llama.cpp server inside Python (xllamacpp): the oracle for prompts that the engine renders, and their
tokens."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIMIT_S = 120.0
"""A server that is not up after so long is ended, and the test fails."""

_PROGRAM = """
import json, sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.chat_template = json.loads(sys.stdin.readline())
params.n_ctx, params.n_batch, params.n_ubatch, params.n_parallel = 256, 64, 64, 1
params.warmup = params.fit_params = False
params.verbosity = -1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""
"""Ends only when it is killed: the destructor of xllamacpp's server may wait for itself."""


@dataclass(frozen=True)
class Engine:
    """A running server with one model and one template."""

    url: str

    def post(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        """(status, decoded answer)."""
        request = urllib.request.Request(
            self.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            return error.code, json.load(error)

    def rendered(self, body: dict[str, Any]) -> str | None:
        """The prompt of a chat; None where the server refuses it."""
        status, answer = self.post("/apply-template", body)
        return str(answer["prompt"]) if status == 200 else None

    def tokens(self, text: str) -> int:
        """How many tokens a prompt is, BOS and EOS included."""
        status, answer = self.post("/tokenize", {"content": text, "add_special": True})
        assert status == 200, answer
        return len(answer["tokens"])


@contextmanager
def engine(model: Path, template: str) -> Iterator[Engine]:
    """A server for that GGUF and template."""
    command = [sys.executable, "-c", _PROGRAM]
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=nowhere, encoding="utf-8") as process:
        limit = threading.Timer(LIMIT_S, process.kill)
        limit.start()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps([str(model), template]) + "\n")
            process.stdin.flush()
            url = next((line.strip() for line in process.stdout if line.startswith("http")), "")
            assert url, "the engine did not start"
            yield Engine(url)
        finally:
            limit.cancel()
            process.kill()
