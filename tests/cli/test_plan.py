"""`plan` as a user runs it, and what `build`, `show` and `doctor` say of memory."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.cli.conftest import Run
from tests.memory.test_surroundings import show_reply
from tests.scripted import ScriptedServer, as_json

MODEL = "mine:latest"


def test_a_plan_without_a_server_or_a_download(run: Run) -> None:
    """Parts, verdict, the longest context by cache type, layers, the usual cards, what helps; exit code 1 for no."""
    shown = run("plan", "qwen3.6:27b", "--memory", "16GiB", "--explain")
    assert shown.returncode == 1
    for said in ("W weights 14.73 GiB", "DOES NOT FIT in 16.00 GiB", "64 of 65 layers", "80 GiB", "What helps most:"):
        assert said in shown.stdout
    assert "16 × 1 × 8192 × 4 × (256 + 256) × 2" in shown.stdout
    assert "published dimensions" in shown.stderr
    assert run("plan", "qwen3.6:27b", "--memory", "24GiB").returncode == 0


def test_a_plan_for_a_program(run: Run) -> None:
    """Bytes, and the same answers by name."""
    told = json.loads(
        run(
            *("plan", "qwen3:8b", "--memory", "8GiB", "--context", "4096", "--kv-cache", "q8_0", "--parallel", "4"),
            *("--gpu-layers", "20", "--json"),
        ).stdout
    )
    assert told["setup"]["parallel"] == 4
    assert told["card_bytes"] == sum(part["card_bytes"] for part in told["parts"])
    assert told["fit"]["layers_in_all"] == 37
    assert [card["memory_bytes"] for card in told["cards"]] == [size * 2**30 for size in (6, 8, 12, 16, 24, 48, 80)]
    assert told["changes"]


@pytest.mark.slow
def test_write_sets_the_context_and_nothing_else(run: Run, project: Path) -> None:
    """The spec's comments stay; what is no spec is not written."""
    path = project / "modelfiles" / "big.yaml"
    path.write_text("spec: 1\nfrom: qwen3.6:27b\ncontext: 65536   # 很长\n", encoding="utf-8")
    assert run("plan", "big", "--memory", "16GiB").returncode == 1
    written = run("plan", "big", "--memory", "16GiB", "--write")
    assert written.returncode == 0, written.stderr
    assert path.read_text(encoding="utf-8") == "spec: 1\nfrom: qwen3.6:27b\ncontext: 6400   # 很长\n"
    assert run("plan", "big", "--memory", "16GiB").returncode == 0
    assert run("plan", "big", "--memory", "8GiB", "--write").returncode == 2
    assert run("plan", "qwen3.6:27b", "--memory", "24GiB", "--write").returncode == 2


def test_a_picture(run: Run, project: Path) -> None:
    """SVG that a browser reads, in a folder with a Chinese name."""
    assert run("plan", "qwen3:4b", "--memory", "6GiB", "--svg", "图.svg", encoding="gbk").returncode == 0
    assert ElementTree.parse(project / "图.svg").getroot().tag.endswith("svg")


@pytest.mark.parametrize("arguments", [("--memory", "much"), ("--kv-cache", "q5"), ("--context", "0")])
def test_wrong_options_end_in_2(run: Run, arguments: tuple[str, ...]) -> None:
    """Before anything is planned."""
    assert run("plan", "qwen3:4b", *arguments).returncode == 2


def test_a_damaged_file_is_one_sentence(run: Run, project: Path) -> None:
    """With the file's name, and no traceback."""
    (project / "broken.gguf").write_bytes(b"GGUF\x03\x00\x00\x00" + b"\xff" * 64)
    ended = run("plan", "broken.gguf")
    assert ended.returncode == 2
    assert "broken.gguf" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.fixture
def scripted() -> ScriptedServer:
    """A server of a version that runs llama-server, with one model that is loaded."""
    server = ScriptedServer(version="0.33.0", models=[MODEL])
    # /api/show answers in full whether verbose or not, which only costs time.
    server.always("POST", "/api/show", as_json(show_reply("qwen3-8b", parameters="num_ctx    8192")))
    return server


def test_show_has_the_plan_in_two_lines(run: Run, scripted: ScriptedServer) -> None:
    """What it takes, and whether that fits."""
    with scripted as server:
        shown = run("show", "mine", env={"OLLAMA_HOST": server.url, "OLLAMA_KIT_MEMORY": "6GiB"})
    assert shown.returncode == 0, shown.stderr
    assert "memory        6." in shown.stdout
    assert "does not fit in 6.00 GiB (the settings); longest context " in shown.stdout


def test_build_warns_of_a_context_that_does_not_fit(run: Run, project: Path, scripted: ScriptedServer) -> None:
    """The build goes on; the warning names the command that sets what fits."""
    spec = project / "modelfiles" / "mine.yaml"
    spec.write_text(f"spec: 1\nfrom: {MODEL}\ncontext: 8192\n", encoding="utf-8")
    with scripted as server:
        env = {"OLLAMA_HOST": server.url, "OLLAMA_KIT_MEMORY": "6GiB"}
        short = run("build", "mine", env=env)
        roomy = run("build", "mine", env={**env, "OLLAMA_KIT_MEMORY": "24GiB"})
    assert short.returncode == 0, short.stderr
    assert "8,192 tokens need" in short.stderr
    assert "ollama-kit plan mine --write" in short.stderr
    assert "tokens need" not in roomy.stderr


@pytest.mark.parametrize(("size", "verdict"), [(6_379_000_000, "ok"), (16 * 2**30, "warning")])
def test_doctor_compares_what_is_loaded(run: Run, scripted: ScriptedServer, size: int, verdict: str) -> None:
    """With /api/ps, the plan that comes nearest."""
    loaded = {"name": MODEL, "size": size, "size_vram": size, "context_length": 8192, "digest": "d" * 64}
    with scripted as server:
        server.always("GET", "/api/ps", as_json({"models": [loaded]}))
        told = json.loads(run("doctor", "--json", env={"OLLAMA_HOST": server.url}).stdout)["checks"]
    found = [check for check in told if check["subject"] == f"loaded {MODEL}"]
    assert [check["verdict"] for check in found] == [verdict], found
    assert "planned" in found[0]["found"]
