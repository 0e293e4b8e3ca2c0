"""Calls of a client on record: every way in which one can end, and what happens where it cannot be recorded."""

from __future__ import annotations

import asyncio
import hashlib
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ollama_kit import AsyncClient, Client, Message
from ollama_kit.audit.location import audit_path
from ollama_kit.audit.log import read_rows
from ollama_kit.audit.row import AuditRow
from ollama_kit.errors import (
    AuditError,
    ContextOverflow,
    GuardBlocked,
    OutputInvalid,
    ServerRefused,
    SettingsError,
    UsageError,
)
from ollama_kit.settings import Settings, load_settings
from tests.guard.conftest import Say
from tests.scripted import ScriptedServer, chat, error

KEY = "AKIAIOSFODNN7EXAMPLE"
TODO = {"type": "object", "required": ["task"], "properties": {"task": {"type": "string"}}}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "audit.sqlite3"


@pytest.fixture
def client(scripted: ScriptedServer, path: Path) -> Iterator[Client]:
    with Client(Settings(host=scripted.url, audit=str(path))) as opened:
        yield opened


def only(path: Path) -> AuditRow:
    (row,) = read_rows(path)
    return row


def test_a_call_is_on_record_when_it_returns(client: Client, path: Path, says: Say, scripted: ScriptedServer) -> None:
    """With the model's digest, the server, the policy and what the server counted; no word of the texts."""
    says("book the truck")
    result = client.chat("m", f"my key is {KEY}")
    row = only(path)
    assert (row.verdict, row.model, row.digest, row.host) == ("valid", "m", "d" * 64, scripted.url)
    assert (row.policy, row.counted_tokens) == ("standard", result.report.counted_tokens)
    assert row.predicted_tokens == result.report.predicted_tokens
    assert row.output_sha256 == hashlib.sha256(b"book the truck").hexdigest()
    assert [attempt["outcome"] for attempt in row.attempts] == ["valid"]
    assert any(found["action"] == "redacted" for found in row.findings)
    assert b"book the truck" not in path.read_bytes()
    assert KEY.encode() not in b"".join(file.read_bytes() for file in path.parent.iterdir())


def test_it_is_off_unless_it_is_turned_on(scripted: ScriptedServer, says: Say) -> None:
    """No file, and SQLite is not even loaded."""
    says("ok")
    with Client(Settings(host=scripted.url)) as client:
        client.chat("m", "hello")
    assert audit_path(Settings()) is None
    assert not (audit_path(Settings(audit="on")) or Path()).exists()


def test_each_way_to_fail_is_a_row_with_its_code(client: Client, path: Path, says: Say) -> None:
    """Too long, refused by a guard, never valid, refused by the server, cut as asked; the error itself goes on."""
    says("no", "no", error(400, "bad"), chat("one two", done_reason="length"))
    with pytest.raises(ContextOverflow):
        client.chat("m", "x" * 5000)
    with pytest.raises(GuardBlocked):
        client.chat("m", f"my key is {KEY}", policy={"secrets": "block"})
    with pytest.raises(OutputInvalid):
        client.chat("m", "todo?", schema=TODO, policy={"attempts": 2})
    with pytest.raises(ServerRefused):
        client.chat("m", "hello")
    client.chat("m", "count", options={"num_predict": 5})
    rows = list(read_rows(path))
    assert [row.verdict for row in rows] == [
        *("context.overflow", "guard.blocked", "output.invalid", "server.refused", "length"),
    ]
    assert [len(row.attempts) for row in rows] == [0, 0, 2, 0, 1]
    assert rows[0].predicted_tokens is not None
    assert rows[0].predicted_tokens > 4096
    assert rows[1].findings[-1]["action"] == "blocked"


def test_an_image_that_is_refused_is_on_record(client: Client, path: Path, scripted: ScriptedServer) -> None:
    """Before the server was asked for anything: there is no digest and no host, and nothing of the image."""
    image = b"\x89PNG\r\n\x1a\n" + bytes(2_000)
    with pytest.raises(GuardBlocked):
        client.chat("m", Message("user", "what is this?", images=(image,)), policy={"image_megabytes": 0.001})
    row = only(path)
    assert (row.verdict, row.digest, row.host, row.findings[0]["stage"]) == ("guard.blocked", "", "", "images")
    assert not scripted.requests


def test_an_empty_result_that_the_policy_made_is_not_valid(client: Client, path: Path, says: Say) -> None:
    """It looks like a result to the caller; on record it is what it is."""
    says("no")
    client.chat("m", "todo?", schema=TODO, policy={"attempts": 1, "on_failure": "empty"})
    assert only(path).verdict == "output.invalid"


def test_a_stream_that_is_left_is_abandoned(client: Client, path: Path, says: Say) -> None:
    """The prompt went out: that is on record, even if nobody waited for the answer."""
    says(chat("one two three four", piece=4), "whole")
    for _ in client.stream("m", "hello"):
        break
    assert only(path).verdict == "abandoned"
    assert list(client.stream("m", "hello"))
    assert [row.verdict for row in read_rows(path)] == ["abandoned", "valid"]


def test_texts_are_kept_where_the_second_switch_says_so(scripted: ScriptedServer, path: Path, says: Say) -> None:
    """As the caller gave them, and as he got them."""
    says("book the truck")
    with Client(Settings(host=scripted.url, audit=str(path), audit_texts=True)) as client:
        client.chat("m", f"my key is {KEY}")
    row = only(path)
    assert KEY in str(row.input)
    assert row.output == "book the truck"


def test_an_awaited_call_is_on_record_too(scripted: ScriptedServer, path: Path, says: Say) -> None:
    """Many at once, each once."""
    says(*["ok"] * 8)

    async def ask() -> None:
        async with AsyncClient(Settings(host=scripted.url, audit=str(path))) as client:
            await asyncio.gather(*(client.chat("m", f"question {at}") for at in range(8)))

    asyncio.run(ask())
    rows = list(read_rows(path))
    assert len({row.input_sha256 for row in rows}) == len(rows) == 8
    assert {row.verdict for row in rows} == {"valid"}


def test_no_answer_without_a_record(client: Client, path: Path, says: Say) -> None:
    """The rule is closed: where the row cannot be written, the call is an error that says so."""
    says("ok", "ok")
    breaking = sqlite3.connect(path)
    breaking.execute("DROP TABLE calls")
    breaking.commit()
    breaking.close()
    with pytest.raises(AuditError, match="no such table") as caught:
        client.chat("m", "hello")
    assert str(path) in str(caught.value)


def test_a_failed_call_that_can_not_be_recorded_says_both(client: Client, path: Path) -> None:
    """The audit's error is raised, and the call's own stands behind it."""
    client._close_audit()
    with pytest.raises(AuditError, match="closed") as caught:
        client.chat("m", "x" * 5000)
    assert isinstance(caught.value.__context__, ContextOverflow)


def test_an_audit_that_can_not_be_written_is_said_before_any_call(scripted: ScriptedServer, tmp_path: Path) -> None:
    """When the client is made: nothing has been sent, and no answer is lost."""
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(AuditError):
        Client(Settings(host=scripted.url, audit=str(tmp_path / "file" / "audit.sqlite3")))
    assert not scripted.requests


def own_settings() -> Path:
    """The user's own settings file, in a folder that is there."""
    home = Path(load_home())
    home.mkdir(parents=True)
    return home / "ollama-kit.yaml"


def test_the_settings_turn_it_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the user's own file, where a path is meant from there, and in the environment, which is stronger."""
    file = own_settings()
    file.write_text("audit: records/calls.sqlite3\naudit_texts: yes\naudit_max_age_days: 30\n", encoding="utf-8")
    found = load_settings()
    assert audit_path(found) == file.parent / "records" / "calls.sqlite3"
    assert (found.audit_texts, found.audit_max_age_days, found.audit_max_mb) == (True, 30.0, 512.0)
    monkeypatch.setenv("OLLAMA_KIT_AUDIT", "off")
    monkeypatch.setenv("OLLAMA_KIT_AUDIT_MAX_MB", "1.5")
    assert audit_path(load_settings()) is None
    assert load_settings().audit_max_mb == 1.5
    monkeypatch.setenv("OLLAMA_KIT_AUDIT", "on")
    assert audit_path(load_settings()) == Path(str(tmp_path)).joinpath(load_home(), "audit.sqlite3")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("audit: 5", "on, off or a path"),
        ("audit_max_mb: 0", "a number above 0"),
        ("audit_texts: maybe", "true or false"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    """File and line, and what it may be."""
    own_settings().write_text(f"{line}\n", encoding="utf-8")
    with pytest.raises((UsageError, SettingsError), match=said) as caught:
        load_settings()
    assert "ollama-kit.yaml:1" in str(caught.value)


@pytest.mark.process
def test_sqlite_is_not_loaded_where_the_audit_is_off() -> None:
    """Importing the client costs nothing of it."""
    import subprocess

    program = "import sys, ollama_kit.client.calls; sys.exit('sqlite3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False, timeout=60).returncode == 0


def load_home() -> str:
    import os

    return os.environ["OLLAMA_KIT_HOME"]
