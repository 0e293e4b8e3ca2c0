"""Batches: nothing is done twice, nothing that was done is lost."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from ollama_kit.errors import ContextOverflow, ServerUnreachable, UsageError
from ollama_kit.jobs.ledger import Ledger, Outcome, task_key
from ollama_kit.jobs.runner import Batch, Progress, Task
from tests.intensity import times
from tests.scripted import HANG, Do, Reply, ScriptedServer, chat

HANG_LIMIT_S = 20.0


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


def test_a_label_that_is_no_unicode_is_kept_as_far_as_it_can_be(tmp_path: Path) -> None:
    """A file's name may be any bytes; the outcome is not lost for that."""
    label = os.fsdecode(b"\xff.txt 1")
    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        ledger.write(Outcome("k", label, done=True, value={"name": label}))
        found = ledger.find("k")
    assert found is not None
    assert found.label.endswith("?.txt 1")
    assert found.value == {"name": label}


@pytest.mark.parametrize("broken", ["a file as its folder", "a folder in its place", "garbage"])
def test_a_ledger_that_can_not_be_opened_is_an_error_that_names_it(tmp_path: Path, broken: str) -> None:
    """With what can be done in any command: none has an option for it."""
    path = tmp_path / "sub" / "ledger.sqlite"
    if broken == "a file as its folder":
        path.parent.write_text("x")
    elif broken == "a folder in its place":
        path.mkdir(parents=True)
    else:
        path.parent.mkdir()
        path.write_text("no database at all " * 99)
    with pytest.raises(UsageError, match="sub") as caught:
        Ledger(path, "t")
    assert "--ledger" not in caught.value.hint
    assert "folder" in caught.value.hint


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


def test_an_outcome_comes_back_as_it_was(tmp_path: Path) -> None:
    """The order of its keys too: what a second run writes is the same, byte for byte."""
    value = {"what": "押金", "amount": 1, "b": [{"z": None, "a": 0.1}]}
    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        ledger.write(Outcome("k", "label", True, value))
        found = ledger.find("k")
    assert found is not None
    assert json.dumps(found.value) == json.dumps(value)


def test_a_ledger_of_a_newer_version_or_none_at_all_is_refused(tmp_path: Path) -> None:
    """With a sentence, and without touching it."""
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(b"not a database at all, but long enough to look like one" * 10)
    with pytest.raises(UsageError, match="cannot be used"):
        Ledger(path, "t")
    import sqlite3

    newer = tmp_path / "newer.sqlite"
    with sqlite3.connect(newer) as opened:
        opened.execute("pragma user_version = 99")
    opened.close()
    with pytest.raises(UsageError, match="newer"):
        Ledger(newer, "t")


@pytest.mark.kills
def test_a_run_killed_at_any_moment_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """SIGKILL at random moments: in the end every task was done, and each outcome that was told is there."""
    root = Path(__file__).parents[2]
    ledger, told = tmp_path / "ledger.sqlite", tmp_path / "told"
    program = textwrap.dedent(
        f"""
        from pathlib import Path
        from ollama_kit.jobs.ledger import Ledger, Outcome, task_key
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
    for _ in range(times(20, ci=8)):
        before = told.stat().st_size if told.exists() else 0
        target = before + draw.randint(4, 60)
        process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(root)})
        while process.poll() is None and not (told.exists() and told.stat().st_size >= target):
            time.sleep(0.001)  # a loop without it takes the core that the batch needs
        process.kill()
        process.wait()
    last = int(told.read_text(encoding="utf-8").split()[-1])
    with Ledger(ledger, "t") as opened:
        assert opened.speeds()["tasks"] >= last
    subprocess.run(command, env={**os.environ, "PYTHONPATH": str(root)}, check=True)
    with Ledger(ledger, "t") as opened:
        assert opened.speeds()["tasks"] == 400


# -- tasks that are produced while others run


def test_tasks_are_produced_while_others_run(tmp_path: Path) -> None:
    """With one slot the second task is there before the first has ended: no slot waits for a file to be read."""
    produced = threading.Event()

    def produce() -> Iterator[Task]:
        first, second, third = tasks(3)
        yield first
        produced.set()
        yield second
        yield third

    def work(number: int) -> int:
        assert produced.wait(10), "the second task is produced only after the first"
        return number

    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        outcomes = Batch(work, ledger).run(produce())
    assert [outcome.value for outcome in outcomes.values()] == [0, 1, 2]


@pytest.mark.parametrize("slots", [1, 3])
def test_production_runs_ahead_by_as_many_as_there_are_slots(slots: int, tmp_path: Path) -> None:
    """No more: what was read is kept in memory."""
    begun, produced, ahead = [0], [0], [0]

    def produce() -> Iterator[Task]:
        for task in tasks(20):
            produced[0] += 1
            yield task

    def work(number: int) -> int:
        begun[0] += 1
        ahead[0] = max(ahead[0], produced[0] - begun[0])
        return number

    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        Batch(work, ledger, slots=slots).run(produce())
    assert begun == produced == [20]
    assert ahead[0] <= 2 * slots


def test_outcomes_are_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    """Whichever ended first, and whether the ledger knew it or not; a task that comes twice is done once."""
    gate = threading.Event()

    def work(number: int) -> int:
        if number == 0:
            assert gate.wait(10)
        if number == 3:
            gate.set()
        return number

    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        Batch(work, ledger).run(tasks(6)[4:5])
        outcomes = Batch(work, ledger, slots=2).run(iter([*tasks(6), *tasks(3)]))
    assert list(outcomes) == [task.key for task in tasks(6)]


def test_what_the_producer_raises_goes_through_and_what_runs_comes_to_its_end(tmp_path: Path) -> None:
    """A file that cannot be read is the producer's to tell of; if it raises, the batch ends with that."""
    raised = threading.Event()

    def produce() -> Iterator[Task]:
        try:
            yield tasks(1)[0]
            raise UsageError("no such folder")
        finally:
            raised.set()

    def work(number: int) -> int:
        assert raised.wait(10)
        return number

    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        with pytest.raises(UsageError, match="no such folder"):
            Batch(work, ledger).run(produce())
        assert ledger.find(tasks(1)[0].key) is not None


def test_a_server_that_is_away_ends_the_production_too(tmp_path: Path) -> None:
    """An endless producer is not asked for more."""

    def work(number: int) -> int:
        if number == 2:
            raise ServerUnreachable("gone", url="http://127.0.0.1:9")
        return number

    def produce() -> Iterator[Task]:
        for number in count():
            yield Task(task_key("t", [number]), str(number), number)

    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        with pytest.raises(ServerUnreachable):
            Batch(work, ledger).run(produce())
        assert ledger.speeds()["tasks"] == 2


def test_totals_grow_as_tasks_are_produced_and_what_is_left_is_not_guessed_before(tmp_path: Path) -> None:
    """The end of production is the moment from which seconds are left."""
    told: list[Progress] = []
    now = [0.0]

    def work(number: int) -> int:
        now[0] += 2.0
        return number

    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        Batch(work, ledger, clock=lambda: now[0]).run(tasks(1))
        Batch(work, ledger, clock=lambda: now[0], tell=told.append).run(iter(tasks(6)))
    assert (told[0].done, told[0].total, told[0].tokens_total) == (1, 1, 10)
    assert [progress.total for progress in told] == sorted(progress.total for progress in told)
    assert all(progress.seconds_left is None for progress in told if progress.total < 6)
    assert (told[-1].total, told[-1].tokens_total, told[-1].seconds_left) == (6, 60, 0.0)


def test_ctrl_c_while_a_task_is_produced_ends_the_producer_where_it_is(tmp_path: Path) -> None:
    """It is raised in the producer, which can close its file; what had finished is kept, and `stop` is called."""
    stopped, finished, closed = threading.Event(), threading.Event(), [False]

    def produce() -> Iterator[Task]:
        yield tasks(3)[0]
        assert finished.wait(10)
        yield tasks(3)[1]
        try:
            os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(10)
            yield tasks(3)[2]
        finally:
            closed[0] = True

    def work(number: int) -> int:
        if number == 1:
            assert stopped.wait(10)
            raise ServerUnreachable("closed", url="http://127.0.0.1:9")
        finished.set()
        return number

    with Ledger(tmp_path / "ledger.sqlite", "t") as ledger:
        with pytest.raises(KeyboardInterrupt):
            Batch(work, ledger, stop=stopped.set).run(produce())
        assert [ledger.find(task.key) is not None for task in tasks(3)] == [True, False, False]
    assert closed[0]


# -- Ctrl-C and a server that never answers


@pytest.mark.process
@pytest.mark.parametrize("slots", [1, 4])
def test_ctrl_c_ends_requests_that_are_never_answered(slots: int, tmp_path: Path) -> None:
    """As many as there are slots wait for their first byte; the process ends with 130, no thread keeps it alive, and
    what was finished before is in the ledger."""
    waiting = threading.Semaphore(0)
    root, ledger = Path(__file__).parents[2], tmp_path / "ledger.sqlite"
    program = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from ollama_kit.jobs.ledger import Ledger, Outcome, task_key
        from ollama_kit.jobs.runner import Batch, Task
        from ollama_kit.server import Server
        url, ledger, slots = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
        tasks = [Task(task_key("t", [number]), str(number), number) for number in range(12)]
        with Server.at(url, {}) as server, Ledger(ledger, "t") as ledger:
            def work(number):
                with server.chat({"model": "m"}) as lines:
                    return [line["message"]["content"] for line in lines]
            try:
                Batch(work, ledger, slots, stop=server.close).run(tasks)
            except KeyboardInterrupt:
                sys.exit(130)
        """
    )
    with ScriptedServer() as server:
        server.on("POST", "/api/chat", chat("first"), chat("second"))
        server.always("POST", "/api/chat", Reply(200, (Do(waiting.release), HANG), framing="raw"))
        process = subprocess.Popen(
            [sys.executable, "-c", program, server.url, str(ledger), str(slots)],
            env={**os.environ, "PYTHONPATH": str(root)},
        )
        try:
            assert all(waiting.acquire(timeout=HANG_LIMIT_S) for _ in range(slots))
            process.send_signal(signal.SIGINT)
            assert process.wait(HANG_LIMIT_S) == 130
        finally:
            process.kill()
            process.wait()
        assert all(seen.hung_up.wait(HANG_LIMIT_S) for seen in server.seen("POST", "/api/chat")[2:])
        assert len(server.seen("POST", "/api/chat")) == 2 + slots
    with Ledger(ledger, "t") as opened:
        assert opened.speeds()["tasks"] == 2
