"""Runs the tasks of a batch on an executor, with a ledger: nothing is done twice, nothing that was done is lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any, Protocol

from ollama_kit.errors import OllamaKitError, OutputInvalid, ServerError
from ollama_kit.jobs.ledger import Ledger, Outcome


class Executor(Protocol):
    """Anything shaped like `concurrent.futures.Executor`: threads here, a cluster's elsewhere."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]: ...

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None: ...


@dataclass(frozen=True)
class Task:
    """One piece of work. `key` is its name in the ledger, `label` what a person reads, `tokens` how large it is."""

    key: str
    label: str
    payload: Any
    tokens: int = 0


@dataclass(frozen=True)
class Progress:
    """How far a batch is. `seconds_left` is None until something was done in this run."""

    done: int
    failed: int
    total: int
    tokens_done: int
    tokens_total: int
    seconds: float
    seconds_left: float | None


@dataclass(frozen=True)
class Batch:
    """What runs the tasks: `work` gives plain data for a task's payload, and may raise an OllamaKitError, which makes
    the task fail and not the batch. `slots` tasks run at once, as many as the server answers in parallel."""

    work: Callable[[Any], Any]
    ledger: Ledger
    slots: int = 1
    clock: Callable[[], float] = time.monotonic
    tell: Callable[[Progress], None] = lambda progress: None
    stop: Callable[[], None] = lambda: None

    def run(self, tasks: Sequence[Task], executor: Executor | None = None) -> dict[str, Outcome]:
        """The outcome of every task, by key. What the ledger has done already is not done again; what failed is.

        A server that is away ends the batch with its error (what was done stays done): another task would meet the
        same. On Ctrl-C `stop` is called, which ends the requests that run; what came before is kept.
        """
        outcomes, open_tasks = self._known(tasks)
        meter = _Meter(tasks, outcomes, self.clock)
        self.tell(meter.progress())
        own = executor is None
        pool: Executor = executor or (_AtOnce() if self.slots == 1 else ThreadPoolExecutor(max_workers=self.slots))
        try:
            self._work_off(open_tasks, pool, outcomes, meter)
        finally:
            if own:
                pool.shutdown(wait=True, cancel_futures=True)
        return outcomes

    def _known(self, tasks: Sequence[Task]) -> tuple[dict[str, Outcome], list[Task]]:
        outcomes: dict[str, Outcome] = {}
        open_tasks: dict[str, Task] = {}
        for task in tasks:
            found = self.ledger.find(task.key)
            if found is not None and found.done:
                outcomes[task.key] = found
            else:
                open_tasks.setdefault(task.key, task)
        return outcomes, list(open_tasks.values())

    def _work_off(self, tasks: Iterable[Task], pool: Executor, outcomes: dict[str, Outcome], meter: _Meter) -> None:
        waiting = iter(tasks)
        running: dict[Future[Any], Task] = {}
        try:
            while True:
                for task in waiting:
                    running[pool.submit(self._done, task)] = task
                    if len(running) >= self.slots:
                        break
                if not running:
                    return
                ready, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in ready:
                    self._keep(running.pop(future), future, outcomes, meter)
        except BaseException as reason:
            if not isinstance(reason, Exception):
                self.stop()
            for future, task in running.items():
                if not future.cancel():
                    self._keep_what_came(task, future, outcomes, meter)
            raise

    def _done(self, task: Task) -> Outcome:
        began = self.clock()
        try:
            value = self.work(task.payload)
        except ServerError:
            raise
        except OllamaKitError as error:
            failure = {"code": error.code, "message": error.message, "attempts": _attempts(error)}
            return Outcome(task.key, task.label, False, failure, self.clock() - began, task.tokens)
        return Outcome(task.key, task.label, True, value, self.clock() - began, task.tokens)

    def _keep(self, task: Task, future: Future[Any], outcomes: dict[str, Outcome], meter: _Meter) -> None:
        outcome: Outcome = future.result()
        self.ledger.write(outcome)
        outcomes[task.key] = outcome
        meter.add(outcome)
        self.tell(meter.progress())

    def _keep_what_came(self, task: Task, future: Future[Any], outcomes: dict[str, Outcome], meter: _Meter) -> None:
        try:
            self._keep(task, future, outcomes, meter)
        except OllamaKitError:
            return


class _AtOnce:
    """Does each task where it is submitted: with one slot, Ctrl-C then interrupts the request itself, where a thread
    would first wait for its answer."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 -- whoever asks the future for its result gets it
            future.set_exception(error)
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing waits."""


class _Meter:
    """Counts a batch's progress and guesses what is left from the tokens done in this run."""

    def __init__(self, tasks: Sequence[Task], known: dict[str, Outcome], clock: Callable[[], float]) -> None:
        self._tokens = {task.key: task.tokens for task in tasks}
        self._clock, self._began = clock, clock()
        self._done = len(known)
        self._failed = 0
        self._tokens_known = sum(self._tokens.get(key, 0) for key in known)
        self._tokens_now = 0

    def add(self, outcome: Outcome) -> None:
        self._done += outcome.done
        self._failed += not outcome.done
        self._tokens_now += self._tokens.get(outcome.task, 0)

    def progress(self) -> Progress:
        seconds = self._clock() - self._began
        total = sum(self._tokens.values())
        so_far = self._tokens_known + self._tokens_now
        left = None if not self._tokens_now else seconds / self._tokens_now * (total - so_far)
        return Progress(self._done, self._failed, len(self._tokens), so_far, total, seconds, left)


def _attempts(error: OllamaKitError) -> list[dict[str, Any]]:
    attempts = error.attempts if isinstance(error, OutputInvalid) else ()
    return [{"number": one.number, "outcome": one.outcome, "reason": one.reason} for one in attempts]
