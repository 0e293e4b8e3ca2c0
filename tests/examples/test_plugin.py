"""The example plug-in as a stranger has it: installed, used by every group of entry points, and switched off."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ollama_kit import Client, Document, plugins
from ollama_kit.cli.main import main
from ollama_kit.documents import read_document
from ollama_kit.guard.policy import load_policy
from ollama_kit.jobs.wechat import read_chat
from ollama_kit.settings import Settings
from ollama_kit.tokens.store import forget_loaded
from tests.distributions import install_example
from tests.guard.conftest import byte_vocabulary
from tests.scripted import ScriptedServer, chat, show, tags

LOG = """--- Log opened Mon Mar 09 09:00:00 2026
09:02 < linhao> the container is late
09:03 <@ mei> by how much?
09:04 < linhao> two days
"""
EMAIL = "Subject: Delivery PRJ-1234\nContent-Type: text/plain\n\nThe goods arrive on Friday.\n\nRegards\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    site = tmp_path / "site"
    site.mkdir()
    install_example(site)
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv(plugins.VARIABLE, "ollama-kit-example")
    plugins._sort_out.cache_clear()
    yield
    for name in [name for name in sys.modules if name.startswith("ollama_kit_example")]:
        del sys.modules[name]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "channel.log"
    path.write_text(LOG, encoding="utf-8")
    return path


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    forget_loaded()
    with ScriptedServer(models=["m:latest"]) as server:
        server.always("GET", "/api/tags", tags("m:latest"))
        server.always("POST", "/api/show", show(info=byte_vocabulary(), template="", parameters="num_ctx 4096"))
        server.always("POST", "/api/chat", chat('{"headline": "Goods on Friday"}'))
        server.always("POST", "/api/generate", show())  # a job unloads its model
        yield server


@pytest.mark.usefixtures("installed")
def test_its_command_counts_what_its_reader_reads(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert [message.text for message in read_chat(log).messages][:2] == ["the container is late", "by how much?"]
    assert main(["roll-call", str(log)]) == 0
    assert capsys.readouterr().out.splitlines() == ["     2  linhao", "     1  mei"]


@pytest.mark.usefixtures("installed")
def test_its_job_reads_what_its_document_reader_reads(
    tmp_path: Path, scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mail.eml"
    path.write_text(EMAIL, encoding="utf-8")
    document = read_document(path)
    assert (document.kind, document.text.splitlines()[0]) == ("eml", "Delivery PRJ-1234")
    monkeypatch.setenv("OLLAMA_HOST", scripted.url)
    for _ in range(2):
        assert main(["headline", str(path), "--model", "m", "--out", str(tmp_path / "out")]) == 0
        assert capsys.readouterr().out == "mail.eml: Goods on Friday\n"
    assert len(scripted.seen("POST", "/api/chat")) == 1  # the second run found it done


@pytest.mark.usefixtures("installed")
def test_its_stage_hides_what_it_finds_in_each_text_of_a_call(scripted: ScriptedServer) -> None:
    """In the documents and the question, of a chat, an embedding and a scan; `off` is its default."""
    policy = {"project_numbers": "hide"}
    with Client(Settings(host=scripted.url)) as client:
        result = client.chat("m", "What of PRJ-0001?", documents=[Document("PRJ-1234 is late")], policy=policy)
        client.chat("m", "What of PRJ-0001?")
    sent = [json.dumps(seen.json, ensure_ascii=False) for seen in scripted.seen("POST", "/api/chat")]
    assert "[project]" in sent[0]
    assert "PRJ-" not in sent[0]
    assert "PRJ-0001" in sent[1]
    found = [finding for finding in result.report.findings if finding.stage == "project_numbers"]
    assert [finding.action for finding in found] == ["redacted", "redacted"]


@pytest.mark.usefixtures("installed")
def test_switched_off_none_of_it_is_there(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A policy that names its stage is refused then: nobody thinks that it ran."""
    assert load_policy({"project_numbers": "hide"}).project_numbers == "hide"
    monkeypatch.setenv(plugins.VARIABLE, "none")
    assert main(["roll-call", str(log)]) == 2
    assert "No such command 'roll-call'" in capsys.readouterr().err
    with pytest.raises(Exception, match="project_numbers"):
        load_policy({"project_numbers": "hide"})
    with pytest.raises(Exception, match="in none of the formats known"):
        read_chat(log)
