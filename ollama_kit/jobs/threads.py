"""Threads that a run may leave behind: those of `concurrent.futures` are waited for when the process ends."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Thread
from typing import Any

Work = tuple["Future[Any]", Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class Threads:
    """An executor of `count` daemon threads, which take up what is submitted in its order."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._threads: list[Thread] = []
        self._waiting: SimpleQueue[Work | None] = SimpleQueue()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """What `fn` will have returned or raised."""
        future: Future[Any] = Future()
        self._waiting.put((future, fn, args, kwargs))
        if len(self._threads) < self._count:
            thread = Thread(target=self._take_up, name="ollama-kit batch", daemon=True)
            self._threads.append(thread)
            thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Ends each thread after the work before it; with `wait` returns when all have ended."""
        while cancel_futures and not self._waiting.empty():
            if (work := self._waiting.get()) is not None:
                work[0].cancel()
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads if wait else ():
            thread.join()

    def _take_up(self) -> None:
        while (work := self._waiting.get()) is not None:
            future, fn, args, kwargs = work
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as error:  # noqa: BLE001 -- whoever asks the future for its result gets it
                    future.set_exception(error)
            del work, future, fn, args, kwargs  # or the last task would live on while the thread waits
