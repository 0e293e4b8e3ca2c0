"""Builds on a server that misbehaves: the old model stays, and nothing temporary does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ollama_kit.builder.build import BuildOptions, build
from ollama_kit.builder.build_records import NAMESPACE
from ollama_kit.errors import BuildError, BuildMismatch, GGUFError, OllamaKitError, RemoteHostRefused, ServerRefused
from ollama_kit.server.server import Server
from tests.builder.conftest import WriteSpec
from tests.scripted import HANG, Do, Reply, ScriptedServer, SeenRequest, create_ok, empty, error, lines, show, tags

BASE = "base:latest"


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    """A server with a base model, whose every other part a test decides."""
    with ScriptedServer(models=[BASE]) as server:
        server.always("POST", "/api/show", show())
        server.always("DELETE", "/api/delete", empty())
        server.always("POST", "/api/copy", empty())
        yield server


def asked(server: ScriptedServer) -> list[str]:
    return [path for _, path in server.calls if path not in ("/api/tags", "/api/show", "/api/version")]


def test_the_way_of_a_build(scripted: ScriptedServer, spec_of: WriteSpec) -> None:
    """Create under a temporary name, read it back, copy it, delete it."""
    scripted.on("POST", "/api/create", create_ok())
    scripted.on("POST", "/api/show", show(), show(parameters="num_ctx 512", system="s"))
    with Server.at(scripted.url, {}) as server:
        build(spec_of(**{"from": BASE}, context=512, system="s"), server)
    body = scripted.seen("POST", "/api/create")[0].json
    assert body["model"].startswith(f"{NAMESPACE}/mine:")
    assert body["parameters"] == {"num_ctx": 512}
    assert asked(scripted) == ["/api/create", "/api/copy", "/api/delete"]
    copied = scripted.seen("POST", "/api/copy")[0].json
    assert copied == {"source": body["model"], "destination": "mine"}
    assert scripted.seen("DELETE", "/api/delete")[0].json["model"] == body["model"]


BAD_CREATES: dict[str, tuple[Callable[[], Reply], type[OllamaKitError], str]] = {
    "an error line": (
        lambda: lines({"status": "x"}, {"error": "no space left on device"}),
        ServerRefused,
        "no space left",
    ),
    "no success": (lambda: lines({"status": "writing manifest"}), OllamaKitError, "success"),
    "an error status": (lambda: error(500, "boom"), ServerRefused, "boom"),
    "a reset in the middle": (lambda: lines({"status": "x"}).then("reset"), OllamaKitError, "127.0.0.1"),
}


@pytest.mark.parametrize(("answer", "kind", "says"), BAD_CREATES.values(), ids=BAD_CREATES.keys())
def test_a_create_that_fails_changes_nothing(
    scripted: ScriptedServer, spec_of: WriteSpec, answer: Callable[[], Reply], kind: type[OllamaKitError], says: str
) -> None:
    """The real name is never touched, and the temporary one is deleted."""
    scripted.on("POST", "/api/create", answer())
    with Server.at(scripted.url, {}) as server, pytest.raises(kind, match=says):
        build(spec_of(**{"from": BASE}, system="s"), server)
    assert asked(scripted) == ["/api/create", "/api/delete"]


def test_a_model_that_came_out_unequal_is_not_taken(scripted: ScriptedServer, spec_of: WriteSpec) -> None:
    """Read back, compared, refused: with each difference."""
    scripted.on("POST", "/api/create", create_ok())
    scripted.on("POST", "/api/show", show(), show(system="something else", parameters="num_ctx 4096"))
    with Server.at(scripted.url, {}) as server, pytest.raises(BuildMismatch) as caught:
        build(spec_of(**{"from": BASE}, system="mine", context=512), server)
    assert "system: the spec says 'mine', the server has 'something else'" in str(caught.value)
    assert "context: the spec says 512, the server has 4096" in str(caught.value)
    assert asked(scripted) == ["/api/create", "/api/delete"]


def test_a_base_that_is_missing_is_pulled_with_progress(scripted: ScriptedServer, spec_of: WriteSpec) -> None:
    """Bytes done and in all reach the caller's callback."""
    told: list[tuple[str, int, int]] = []
    pulled = [{"status": "pulling", "digest": "sha256:x", "total": 10, "completed": done} for done in (4, 10)]
    scripted.on("GET", "/api/tags", tags(), tags(BASE), tags(BASE, "mine:latest"))
    scripted.on("POST", "/api/pull", lines(*pulled, {"status": "success"}))
    scripted.on("POST", "/api/create", create_ok())
    scripted.on("POST", "/api/show", show(), show(system="s"))
    with Server.at(scripted.url, {}) as server:
        build(spec_of(**{"from": BASE}, system="s"), server, progress=lambda *done: told.append(done))
    assert [(done, total) for _, done, total in told if total] == [(4, 10), (10, 10)]


def test_a_server_too_old_for_the_api_says_what_to_do(spec_of: WriteSpec) -> None:
    """Before 0.5.5 `/api/create` takes a Modelfile's text."""
    with ScriptedServer(version="0.5.4", models=[BASE]) as scripted, Server.at(scripted.url, {}) as server:
        scripted.always("POST", "/api/show", show())
        with pytest.raises(BuildError, match=r"0\.5\.4; a build needs 0\.5\.5") as caught:
            build(spec_of(**{"from": BASE}), server)
    assert "render" in caught.value.hint


def test_a_cloud_model_is_no_base_unless_it_is_said(scripted: ScriptedServer, spec_of: WriteSpec) -> None:
    """What is asked of it would leave the machine."""
    scripted.always("POST", "/api/show", show(remote_host="https://ollama.com", remote_model="big"))
    with Server.at(scripted.url, {}) as server:
        with pytest.raises(RemoteHostRefused):
            build(spec_of(**{"from": BASE}), server)
        assert build(spec_of(**{"from": BASE}), server, BuildOptions(allow_remote=True, dry_run=True)).status


def test_text_that_a_modelfile_can_not_carry_goes_through_the_api(scripted: ScriptedServer, spec_of: WriteSpec) -> None:
    """Not a character is lost, and the result says which way it went."""
    text = '全角　空格 👨‍👩‍👧 """\nend'
    scripted.on("POST", "/api/create", create_ok())
    scripted.on("POST", "/api/show", show(), show(system=text))
    with Server.at(scripted.url, {}) as server:
        result = build(spec_of(**{"from": BASE}, system=text), server)
    assert scripted.seen("POST", "/api/create")[0].json["system"] == text
    assert "sent from the spec" in result.notes[0]


def test_a_file_that_is_no_gguf_is_never_uploaded(scripted: ScriptedServer, spec_of: WriteSpec, tmp_path: Path) -> None:
    """Checked before the first byte is sent."""
    (tmp_path / "no.gguf").write_bytes(b"PK\x03\x04 not a model")
    with Server.at(scripted.url, {}) as server, pytest.raises(GGUFError, match=r"no\.gguf"):
        build(spec_of(**{"from": str(tmp_path / "no.gguf")}), server)
    assert asked(scripted) == []


def test_leftovers_of_living_builds_and_other_machines_are_left_alone(
    scripted: ScriptedServer, spec_of: WriteSpec
) -> None:
    """Only the process of this machine that is gone has left something behind."""
    from ollama_kit.builder.build_records import leftovers, temporary_name

    ours = temporary_name("x")
    machine = ours.rpartition(":")[2].split("-")[0]
    gone = f"{NAMESPACE}/x:{machine}-{2**22 + 7}-0123abcd"
    elsewhere = f"{NAMESPACE}/x:{'0' * 8}-{2**22 + 7}-0123abcd"
    scripted.always("GET", "/api/tags", tags(BASE, ours, gone, elsewhere, "ollama-kit-build/y:latest"))
    with Server.at(scripted.url, {}) as server:
        assert leftovers(server.models()) == (gone,)


@pytest.mark.process
def test_ctrl_c_during_a_create_ends_in_130_with_the_old_model(scripted: ScriptedServer, spec_of: WriteSpec) -> None:
    """The command is interrupted while the server works: the temporary name is deleted, the real one untouched."""
    process: list[subprocess.Popen[str]] = []

    def interrupt() -> None:
        process[0].send_signal(signal.SIGINT)

    def create(seen: SeenRequest) -> Reply:
        return lines({"status": "reading"}).then(Do(interrupt), HANG)

    scripted.on("POST", "/api/create", create)
    spec_of(**{"from": BASE}, system="s")
    environment = {**os.environ, "OLLAMA_HOST": scripted.url}
    process.append(
        subprocess.Popen(
            [sys.executable, "-m", "ollama_kit", "build", "mine"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    )
    out, err = process[0].communicate(timeout=60)
    assert process[0].returncode == 130
    assert (out, err.strip()) == ("", "interrupted")
    assert asked(scripted) == ["/api/create", "/api/delete"]


@pytest.mark.process
def test_the_result_prints_as_json(scripted: ScriptedServer, spec_of: WriteSpec) -> None:
    """For a program that builds."""
    spec_of(**{"from": BASE}, system="s")
    environment = {**os.environ, "OLLAMA_HOST": scripted.url}
    command = [sys.executable, "-m", "ollama_kit", "build", "mine", "--dry-run", "--json"]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    told = json.loads(ended.stdout)
    assert (told["status"], told["name"], told["host"]) == ("would create", "mine", scripted.url)
