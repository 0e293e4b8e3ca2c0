"""A plan against real engines that run here: Ollama 0.9.3 and a current llama.cpp, on models of many architectures."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ollama_kit.memory.gguf_shape import read_gguf
from ollama_kit.memory.loaded import compare
from ollama_kit.memory.plan import make_plan
from ollama_kit.memory.quantities import MIB
from ollama_kit.memory.setup import CacheType, Setup
from ollama_kit.memory.shape import ModelShape
from ollama_kit.memory.sources import of_model
from ollama_kit.server.server import Server
from tests.memory.engines import Logged, llama_cpp, logged
from tests.memory.written import MODELS, write_model
from tests.models.tiny import tiny_model
from tests.realserver import api
from tests.realserver.install import Install
from tests.realserver.process import RealServer

ROUNDING_BYTES = 0.0051 * MIB
SETUPS: tuple[tuple[int, int, CacheType], ...] = ((2048, 4, "f16"), (8192, 1, "q8_0"))
FOR_0_9 = ("llama", "llama-tied", "qwen2", "qwen3", "qwen3moe")
"""What Ollama 0.9.3 loads of the written ones; its build here lacks gemma3 and knows no hybrid."""
ENDS_AT_WARM_UP = "qwen3moe"
"""This build has set everything aside, and logged it, when it finds that it lacks an operation for mixtures."""
ESTIMATED = ("smollm2", "llama", "llama-tied", "qwen2")
"""/api/ps of 0.9.3 shows its own estimate, which leaves compute buffers out for architectures it has no rule for."""

Files = Callable[[str], Path]


@pytest.fixture(scope="module")
def files(real_install: Install) -> Iterator[Files]:
    """Gives a model's file by name, written at the first call; all are gone afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:

        def file(name: str) -> Path:
            if name == "smollm2":
                return real_install.smollm2_gguf
            if name == "tiny-qwen2":
                return tiny_model(name)
            path = Path(folder, f"{name}.gguf")
            return path if path.exists() else write_model(path, MODELS[name])

        yield file


@pytest.mark.parametrize("name", ["smollm2", "tiny-qwen2", *MODELS])
def test_the_plan_is_what_llama_cpp_logs(name: str, files: Files) -> None:
    """Weights, cache and state to the two decimals of its log; the total within 3 % or 16 MiB."""
    pytest.importorskip("xllamacpp")
    shape = read_gguf(files(name))
    for context, slots, cache in SETUPS:
        if cache != "f16" and not shape.takes_quantized_cache:
            continue
        setup = Setup(context, cache, slots, batch=512, engine="b11434", on_card=False)
        _assert_planned(shape, setup, llama_cpp(files(name), context, slots, cache))


@pytest.mark.real
@pytest.mark.parametrize("name", ["smollm2", "tiny-qwen2", *FOR_0_9])
def test_the_plan_is_what_ollama_logs_and_reports(name: str, files: Files, real_server: RealServer) -> None:
    """Ollama 0.9.3: its runner's log lines, and what /api/ps says while the model is loaded."""
    model = f"planned-{name}"
    api.create(real_server.url, model, files(name))
    with Server.at(real_server.url, {}) as server:
        for loaded in server.running():  # the same weights under another name would not be loaded, nor logged, again
            server.unload(loaded.name)
        start = real_server.log_path.stat().st_size
        asked = {"model": model, "options": {"num_ctx": 4096}}
        status, _ = api.request(real_server.url, "POST", "/api/generate", asked)
        assert (status == 200) == (name != ENDS_AT_WARM_UP)
        running = [loaded for loaded in server.running() if loaded.name == f"{model}:latest"]
        subject = of_model(model, server)
        if running:
            server.unload(model)
    with real_server.log_path.open("rb") as log:
        log.seek(start)
        text = log.read().decode("utf-8", "replace")
    slots = [int(found) for found in re.findall(r"n_seq_max\s*=\s*(\d+)", text)]
    setup = Setup(4096, "f16", slots[-1], engine="0.9", flash=False, on_card=False)
    assert subject.shape.tensor_bytes == read_gguf(files(name)).tensor_bytes
    _assert_planned(subject.shape, setup, logged(text.splitlines()))
    if name in ESTIMATED:
        found = compare(running[0], subject)
        assert found.agrees, (found.reported_bytes, found.planned_bytes)
    api.call(real_server.url, "DELETE", "/api/delete", {"model": model})


def _assert_planned(shape: ModelShape, setup: Setup, log: Logged) -> None:
    plan = make_plan(shape, setup)
    for part in ("weights", "kv cache", "recurrent state"):
        planned, seen = plan.part(part).host_bytes, log[part]
        # A state has two lines of two decimals in some versions, a cache of windowed layers too.
        assert abs(planned - seen) <= 2 * ROUNDING_BYTES, (shape.name, setup, part, planned, seen)
    off = abs(plan.host_bytes - log.total)
    assert off <= max(0.03 * log.total, 16 * MIB), (shape.name, setup, plan.host_bytes, log.parts)
