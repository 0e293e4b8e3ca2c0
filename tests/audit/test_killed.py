"""kill -9 in the middle of everything: the table opens, and every call that was finished has its row."""

from __future__ import annotations

import hashlib
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from ollama_kit.audit.log import read_rows
from ollama_kit.audit.row import input_text
from ollama_kit.guard.conversation import Request, messages_from
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.intensity import times
from tests.scripted import ScriptedServer, chat, show, tags

PROCESSES = 4
CALLED = times(1000, ci=300)
LIMIT_S = 120

CALLS = """
import itertools, sys
from ollama_kit import Client
from ollama_kit.settings import Settings
name, audit, url = sys.argv[1:]
with Client(Settings(host=url, audit=audit)) as client:
    for number in itertools.count():
        client.chat("m", f"{name} {number}")
        print(f"{name} {number}", flush=True)
"""

ROWS = """
import itertools, sys
from ollama_kit.audit.log import AuditLog
from tests.audit.rows import row
name, audit, most = sys.argv[1:]
with AuditLog(audit, texts=True, max_bytes=int(most)) as log:
    for number in itertools.count():
        print(log.record(row(number, "x" * 3000, model=name)), flush=True)
"""


def killed_one_by_one(program: str, arguments: list[str], total: int) -> list[str]:
    """What `PROCESSES` copies of a program had said, a line for each thing finished, when the last was killed: each
    in its turn, in the midst of its work, the last when they had said `total` lines."""
    root = Path(__file__).parents[2]
    said: list[str] = []
    heard = threading.Condition()
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, f"p{at}", *arguments], stdout=subprocess.PIPE, encoding="utf-8", cwd=root
        )
        for at in range(PROCESSES)
    ]

    def listen(process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            with heard:
                said.append(line.strip())
                heard.notify()

    listeners = [threading.Thread(target=listen, args=(process,)) for process in processes]
    try:
        for listener in listeners:
            listener.start()
        for at, process in enumerate(processes, 1):
            with heard:
                assert heard.wait_for(lambda at=at: len(said) >= total * at // PROCESSES, LIMIT_S), len(said)  # type: ignore[misc]
            assert process.poll() is None, "ended by itself"
            process.kill()
    finally:
        for process in processes:
            process.kill()
            process.wait(30)
        for listener in listeners:
            listener.join(30)
        for process in processes:
            assert process.stdout is not None
            process.stdout.close()
    return said


def check(path: Path) -> None:
    """SQLite finds nothing wrong in the file."""
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.kills
def test_every_finished_call_has_its_row_whoever_is_killed(tmp_path: Path) -> None:
    """Audited calls by four processes, each killed in the midst of its calls: a thousand of them in nightly."""
    path = tmp_path / "audit.sqlite3"
    with ScriptedServer(models=["m:latest"]) as server:
        server.always("GET", "/api/tags", tags("m:latest"))
        server.always("POST", "/api/show", show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 4096"))
        server.always("POST", "/api/chat", chat("ok"))
        finished = killed_one_by_one(CALLS, [str(path), server.url], CALLED)
    check(path)
    rows = list(read_rows(path))
    expected = [Request("m", messages_from(question)) for question in finished]
    digests = [kept.input_sha256 for kept in rows]
    assert len(finished) >= CALLED
    assert {sha256(request) for request in expected} <= set(digests)
    assert len(digests) == len(set(digests)) <= len(finished) + PROCESSES
    assert {kept.verdict for kept in rows} == {"valid"}


@pytest.mark.kills
def test_rotation_that_is_killed_leaves_no_gap(tmp_path: Path) -> None:
    """While every row pushes out an older one, four processes are killed: the newest are all there."""
    path = tmp_path / "audit.sqlite3"
    finished = {int(line) for line in killed_one_by_one(ROWS, [str(path), str(100 * 1024)], 400)}
    check(path)
    kept = [row.id for row in read_rows(path)]
    assert kept == list(range(kept[0], kept[-1] + 1))
    assert {number for number in finished if number >= kept[0]} <= set(kept)
    assert max(finished) <= kept[-1]
    assert len(kept) < 30 < len(finished)


def sha256(request: Request) -> str:
    return hashlib.sha256(input_text(request).encode()).hexdigest()
