"""Runs the tasks of a batch on an executor, with a ledger: nothing is done twice, nothing that was done is lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from functools import partial
from threading import Event
from typing import Any, Protocol

from ollama_kit.errors import OllamaKitError, OutputInvalid, ServerError
from ollama_kit.guard.kept import KeptValues
from ollama_kit.jobs.ledger import Ledger, Outcome
from ollama_kit.jobs.threads import Threads

POLL_S = 0.1  # on Windows a wait without an end does not see Ctrl-C
GRACE_S = 0.3  # for what runs to come to its end once its request was ended


class Executor(Protocol):
    """Anything shaped like `concurrent.futures.Executor`: threads here, a cluster's elsewhere."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]: ...

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None: ...


@dataclass(frozen=True)
class Task:
    """One piece of work. `key` is its name in the ledger, `former` the one that it had in ledgers of earlier versions
    (None: it had none), `label` what a person reads, `tokens` how large it is."""

    key: str
    label: str
    payload: Any
    tokens: int = 0
    former: str | None = None


@dataclass(frozen=True)
class Progress:
    """How far a batch is. `seconds_left` is None until something was done in this run, and while tasks are still being
    produced: until then the totals are of those produced so far."""

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
    the task fail and not the batch. `slots` tasks run at once, as many as the server answers in parallel. `stop` makes
    the requests that run end. `hidden` gives the values of a payload that the ledger must not hold in the clear."""

    work: Callable[[Any], Any]
    ledger: Ledger
    slots: int = 1
    clock: Callable[[], float] = time.monotonic
    tell: Callable[[Progress], None] = lambda progress: None
    stop: Callable[[], None] = lambda: None
    hidden: Callable[[Any], KeptValues | None] = lambda payload: None

    def run(self, tasks: Iterable[Task], executor: Executor | None = None) -> dict[str, Outcome]:
        """The outcome of every task, by key, in their order. What the ledger has done already is not done again; what
        failed is.

        Tasks may be produced while others run: what is no sequence is asked for the next task in this thread, as many
        ahead as there are slots, so that no slot waits for a file to be read (with an `executor` of the caller's, when
        one is free). What the producer raises goes through, after what runs has come to its end.

        A server that is away ends the batch with its error (what was done stays done): another task would meet the
        same. On Ctrl-C `stop` is called, which ends the requests that run; what came before is kept, and a thread that
        still does something is left to the end of the process.
        """
        if executor is not None:
            return _Run(self, executor, self.slots).work_off(tasks)
        threads = Threads(self.slots)
        run = _Run(self, threads, 2 * self.slots)
        try:
            return run.work_off(tasks)
        finally:
            threads.shutdown(wait=not run.running, cancel_futures=True)


@dataclass
class _Run:
    """One run of a batch: `most` tasks are submitted and not yet kept."""

    batch: Batch
    pool: Executor
    most: int
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    running: dict[Future[Any], Task] = field(default_factory=dict)
    ended: Event = field(default_factory=Event)

    def __post_init__(self) -> None:
        self.meter = _Meter(self.batch.clock())

    def work_off(self, tasks: Iterable[Task]) -> dict[str, Outcome]:
        """Does all that is to be done; however it ends, what was finished is in the ledger."""
        try:
            try:
                self._take_up(self._waiting(tasks))
            except Exception:
                self._settle()
                raise
        except BaseException as reason:
            if not isinstance(reason, Exception):
                self.ended.set()
                self.batch.stop()
                wait(self.running, GRACE_S)
                self._keep_what_came()
            raise
        return {key: self.outcomes[key] for key in self.meter.tokens}

    def _waiting(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """The tasks that the ledger does not have as done. A sequence is gone through at once, for its totals."""
        if not isinstance(tasks, Sequence):
            return self._open(tasks, self._tell)
        found = list(self._open(tasks, lambda: None))
        self._tell()
        return iter(found)

    def _open(self, tasks: Iterable[Task], tell: Callable[[], None]) -> Iterator[Task]:
        for task in tasks:
            if task.key in self.meter.tokens:
                continue
            found = self.batch.ledger.find(task.key, task.former, partial(self.batch.hidden, task.payload))
            known = found is not None and found.done
            self.meter.expect(task, known=known)
            tell()
            if found is not None and known:
                self.outcomes[task.key] = found
            else:
                yield task
        self.meter.complete = True
        tell()  # the last outcome may have been told of before it was known to be the last

    def _take_up(self, waiting: Iterator[Task]) -> None:
        while True:
            while len(self.running) < self.most and (task := next(waiting, None)) is not None:
                self.running[self.pool.submit(self._do, task)] = task
                self._collect(0)
            if not self.running:
                return
            self._collect(POLL_S)

    def _do(self, task: Task) -> tuple[Outcome, float] | None:
        """How a task ended, and when; None where the batch had ended before. It runs in the pool."""
        if self.ended.is_set():
            return None
        began = self.batch.clock()
        try:
            done, value = True, self.batch.work(task.payload)
        except OllamaKitError as error:
            if isinstance(error, ServerError):
                self.ended.set()
                raise
            done, value = False, {"code": error.code, "message": error.message, "attempts": _attempts(error)}
        except BaseException:
            self.ended.set()
            raise
        now = self.batch.clock()
        return Outcome(task.key, task.label, done, value, now - began, task.tokens), now

    def _collect(self, timeout_s: float) -> None:
        wait(self.running, timeout_s, FIRST_COMPLETED)
        for future in [future for future in self.running if future.done()]:
            task = self.running.pop(future)
            self._keep(task, future.result())

    def _keep(self, task: Task, ended: tuple[Outcome, float] | None) -> None:
        if ended is None:
            return
        outcome, now = ended
        self.batch.ledger.write(outcome, self.batch.hidden(task.payload))
        self.outcomes[task.key] = outcome
        self.meter.add(outcome)
        self._tell(now)

    def _settle(self) -> None:
        """Waits for what runs and keeps it; nothing else begins."""
        self.ended.set()
        while self.running:
            self._keep_what_came()
            wait(self.running, POLL_S, FIRST_COMPLETED)

    def _keep_what_came(self) -> None:
        for future in list(self.running):
            if future.cancel():
                del self.running[future]
            elif future.done():
                task = self.running.pop(future)
                if future.exception() is None:
                    self._keep(task, future.result())

    def _tell(self, now: float | None = None) -> None:
        self.batch.tell(self.meter.progress(self.batch.clock() if now is None else now))


@dataclass
class _Meter:
    """Counts a batch's progress and guesses what is left from the tokens done in this run."""

    began: float
    tokens: dict[str, int] = field(default_factory=dict)  # of every task so far, by key
    complete: bool = False  # whether all tasks are known
    done: int = 0
    failed: int = 0
    tokens_total: int = 0
    tokens_known: int = 0
    tokens_now: int = 0

    def expect(self, task: Task, *, known: bool) -> None:
        self.tokens[task.key] = task.tokens
        self.tokens_total += task.tokens
        if known:
            self.done += 1
            self.tokens_known += task.tokens

    def add(self, outcome: Outcome) -> None:
        self.done += outcome.done
        self.failed += not outcome.done
        self.tokens_now += self.tokens[outcome.task]

    def progress(self, now: float) -> Progress:
        seconds = now - self.began
        so_far = self.tokens_known + self.tokens_now
        left = seconds / self.tokens_now * (self.tokens_total - so_far) if self.tokens_now and self.complete else None
        return Progress(self.done, self.failed, len(self.tokens), so_far, self.tokens_total, seconds, left)


def _attempts(error: OllamaKitError) -> list[dict[str, Any]]:
    attempts = error.attempts if isinstance(error, OutputInvalid) else ()
    return [{"number": one.number, "outcome": one.outcome, "reason": one.reason} for one in attempts]
