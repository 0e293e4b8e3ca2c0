"""Batches: nothing is done twice, nothing that was done is lost."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from ollama_kit.errors import ContextOverflow, ServerUnreachable, UsageError
from ollama_kit.jobs.ledger import Ledger, task_key
from ollama_kit.jobs.runner import Batch, Progress, Task


def tasks(count: int) -> list[Task]:
    return [Task(task_key("t", [number]), f"task {number}", number, tokens=10) for number in range(count)]


def test_a_second_run_does_nothing_again(tmp_path: Path) -> None:
    """What the ledger has, it gives."""
    worked: list[int] = []

    def work(number: int) -> int:
        worked.append(number)
        return number * 2

    for _ in range(2):
        with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
            outcomes = Batch(work, ledger).run(tasks(5))
            assert sorted(outcome.value for outcome in outcomes.values()) == [0, 2, 4, 6, 8]
    assert worked == [0, 1, 2, 3, 4]


def test_a_task_that_failed_is_tried_again_and_does_not_end_the_batch(tmp_path: Path) -> None:
    """Its error is kept as data."""
    broken = {2}

    def work(number: int) -> int:
        if number in broken:
            raise ContextOverflow("too long", needed_tokens=9, available_tokens=5)
        return number

    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        first = Batch(work, ledger).run(tasks(4))
        failed = [outcome for outcome in first.values() if not outcome.done]
        assert [outcome.label for outcome in failed] == ["task 2"]
        assert failed[0].value["code"] == "context.overflow"
        broken.clear()
        assert all(outcome.done for outcome in Batch(work, ledger).run(tasks(4)).values())


def test_a_server_that_is_away_ends_the_batch_and_keeps_what_was_done(tmp_path: Path) -> None:
    """Another task would meet the same."""

    def work(number: int) -> int:
        if number == 2:
            raise ServerUnreachable("gone", url="http://127.0.0.1:9")
        return number

    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        with pytest.raises(ServerUnreachable):
            Batch(work, ledger).run(tasks(5))
        assert [ledger.find(task.key) is not None for task in tasks(5)] == [True, True, False, False, False]


def test_slots_bound_what_runs_at_once(tmp_path: Path) -> None:
    """As many as the server answers in parallel, and no more."""
    running, most, lock = 0, 0, threading.Lock()
    together = threading.Barrier(3, timeout=10)

    def work(number: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait()
        with lock:
            running -= 1
        return number

    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        Batch(work, ledger, slots=3).run(tasks(9))
    assert most == 3


def test_an_executor_of_another_kind_does_as_well(tmp_path: Path) -> None:
    """The runner asks for `submit` and `shutdown`, and nothing else."""

    class AtOnce:
        def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_result(fn(*args, **kwargs))
            return future

        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            raise AssertionError("the caller's executor is the caller's to close")

    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        outcomes = Batch(lambda number: number, ledger, slots=2).run(tasks(5), AtOnce())
    assert len(outcomes) == 5


def test_progress_tells_rate_and_what_is_left(tmp_path: Path) -> None:
    """Measured in this run, by tokens; what was known before does not make it look faster."""
    now = [0.0]

    def work(number: int) -> int:
        now[0] += 2.0
        return number

    told: list[Progress] = []
    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        Batch(work, ledger, clock=lambda: now[0]).run(tasks(2))
        Batch(work, ledger, clock=lambda: now[0], tell=told.append).run(tasks(4))
    assert (told[0].done, told[0].seconds_left) == (2, None)
    assert (told[1].done, told[1].tokens_done, told[1].seconds_left) == (3, 30, 2.0)
    assert told[-1].seconds_left == 0.0


def test_ctrl_c_stops_the_running_requests_and_goes_through(tmp_path: Path) -> None:
    """`stop` is called, which makes the work that waits fail; what was done before stays."""
    stopped = threading.Event()

    def work(number: int) -> int:
        if number == 1:
            os.kill(os.getpid(), signal.SIGINT)
            stopped.wait(10)
            raise ServerUnreachable("closed", url="http://127.0.0.1:9")
        return number

    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        with pytest.raises(KeyboardInterrupt):
            Batch(work, ledger, stop=stopped.set).run(tasks(4))
        assert stopped.is_set()
        assert ledger.find(tasks(1)[0].key) is not None


def test_a_ledger_of_a_newer_version_or_none_at_all_is_refused(tmp_path: Path) -> None:
    """With a sentence, and without touching it."""
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"not a database at all, but long enough to look like one" * 10)
    with pytest.raises(UsageError, match="can not be used"):
        Ledger(path, "t")
    import sqlite3

    newer = tmp_path / "newer.sqlite"
    with sqlite3.connect(newer) as opened:
        opened.execute("pragma user_version = 99")
    opened.close()
    with pytest.raises(UsageError, match="newer"):
        Ledger(newer, "t")


def test_a_run_killed_at_any_moment_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """SIGKILL twenty times at random: in the end every task was done, and each outcome that was told is there."""
    root = Path(__file__).parents[2]
    ledger, told = tmp_path / "ledger.sqlite", tmp_path / "told"
    program = textwrap.dedent(
        f"""
        from pathlib import Path
        from ollama_kit.jobs.ledger import Ledger, task_key
        from ollama_kit.jobs.runner import Batch, Task
        def work(number):
            return {{"number": number, "text": "文" * 2000}}
        tasks = [Task(task_key("t", [n]), str(n), n) for n in range(400)]
        told = open({str(told)!r}, "a")
        def tell(progress):
            told.write(f"{{progress.done}}\\n"); told.flush()
        Batch(work, Ledger(Path({str(ledger)!r}), "t"), slots=2, tell=tell).run(tasks)
        """
    )
    draw = random.Random(7)
    command = [sys.executable, "-c", program]
    for _ in range(20):
        before = told.stat().st_size if told.exists() else 0
        target = before + draw.randint(4, 60)
        process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(root)})
        while process.poll() is None and not (told.exists() and told.stat().st_size >= target):
            pass
        process.kill()
        process.wait()
    last = int(told.read_text(encoding="utf-8").split()[-1])
    with Ledger(ledger, "t") as opened:
        assert opened.speeds()["tasks"] >= last
    subprocess.run(command, env={**os.environ, "PYTHONPATH": str(root)}, check=True)
    with Ledger(ledger, "t") as opened:
        assert opened.speeds()["tasks"] == 400
