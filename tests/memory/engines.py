"""What real engines log of their memory: llama.cpp through xllamacpp, and Ollama's runner."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ollama_kit.memory.setup import CacheType

LIMIT_S = 120.0
"""An engine that logs nothing for so long is ended, and the test fails."""
_BUFFER = re.compile(r"(\S+)\s+(model|KV|RS|compute|output)\s+buffer size\s*=\s*([\d.]+) MiB")
_KIND = {"model": "weights", "KV": "kv cache", "RS": "recurrent state", "compute": "compute", "output": "output"}

_PROGRAM = """
import sys
import xllamacpp
path, context, slots, cache = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4].upper()
params = xllamacpp.CommonParams()
params.model.path = path
params.n_ctx, params.n_parallel = context * slots, slots
params.n_batch = params.n_ubatch = 512
params.cache_type_k = params.cache_type_v = getattr(xllamacpp.ggml_type, "GGML_TYPE_" + cache)
params.warmup = params.kv_unified = params.fit_params = False
params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
params.verbosity = 4
server = xllamacpp.Server(params)
sys.stdin.read()
"""
"""Ends only when it is killed: the destructor of xllamacpp's server may wait for itself."""


@dataclass(frozen=True)
class Logged:
    """Bytes by part, as a log gives them: two decimals of MiB."""

    parts: dict[str, float]

    def __getitem__(self, part: str) -> float:
        return self.parts.get(part, 0.0)

    @property
    def total(self) -> float:
        return sum(self.parts.values())


def llama_cpp(path: Path, context: int, slots: int, cache: CacheType) -> Logged:
    """What a current llama.cpp, without a card, sets aside for a model."""
    command = [sys.executable, "-c", _PROGRAM, str(path), str(context), str(slots), cache]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe, encoding="utf-8", errors="replace"
    ) as process:
        limit = threading.Timer(LIMIT_S, process.kill)
        limit.start()
        assert process.stderr is not None
        lines = []
        for line in process.stderr:
            lines.append(line)
            if "model loaded" in line or "error loading model" in line:
                break
        process.kill()
        limit.cancel()
    found = logged(lines)
    assert found["compute"], "".join(lines[-20:])
    return found


def logged(lines: Iterable[str]) -> Logged:
    """The buffers in the lines of one load: a model with windowed layers has two caches."""
    parts: dict[str, float] = {}
    for line in lines:
        match = _BUFFER.search(line)
        if match:
            parts[_KIND[match[2]]] = parts.get(_KIND[match[2]], 0.0) + float(match[3]) * 2**20
    return Logged(parts)
