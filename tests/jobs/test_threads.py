"""An executor whose threads do not keep the process alive."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import CancelledError
from pathlib import Path

import pytest

from ollama_kit.jobs.threads import Threads


def test_work_is_taken_up_in_its_order_and_gives_what_it_returned_or_raised() -> None:
    """By one thread one after another."""
    threads, done = Threads(1), list[int]()

    def work(number: int) -> int:
        done.append(number)
        return number

    futures = [threads.submit(work, number) for number in range(5)]
    broken = threads.submit(int, "x")
    assert [future.result(10) for future in futures] == done == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="invalid literal"):
        broken.result(10)
    threads.shutdown()


def test_shutdown_cancels_what_has_not_begun_and_waits_for_the_rest() -> None:
    """With `wait`, all threads have ended when it returns."""
    threads, begun, go = Threads(2), threading.Semaphore(0), threading.Event()

    def wait() -> bool:
        begun.release()
        return go.wait(10)

    before = set(threading.enumerate())
    futures = [threads.submit(wait) for _ in range(4)]
    assert begun.acquire(timeout=10)
    assert begun.acquire(timeout=10)
    threads.shutdown(wait=False, cancel_futures=True)
    for future in futures[2:]:
        with pytest.raises(CancelledError):
            future.result(10)
    go.set()
    threads.shutdown()
    assert [future.result(10) for future in futures[:2]] == [True, True]
    assert set(threading.enumerate()) <= before


@pytest.mark.process
def test_a_thread_that_waits_for_ever_does_not_keep_the_process() -> None:
    """Neither it nor one that has nothing to do."""
    program = textwrap.dedent(
        """
        import threading
        from ollama_kit.jobs.threads import Threads
        threads, begun = Threads(2), threading.Event()
        threads.submit(lambda: (begun.set(), threading.Event().wait()))
        threads.submit(int)
        begun.wait()
        """
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    assert subprocess.run([sys.executable, "-c", program], env=environment, timeout=20, check=False).returncode == 0
