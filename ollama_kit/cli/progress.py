"""Progress on a terminal's stderr, and nothing anywhere else."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ollama_kit.jobs.runner import Progress as Batch
    from ollama_kit.server.blobs import Progress


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """A callback that draws what it is told: one bar for each thing that is being done."""
    if not sys.stderr.isatty():
        yield lambda what, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, object] = {}

        def draw(what: str, done: int, total: int) -> None:
            task = tasks.get(what)
            if task is None:
                task = tasks[what] = bars.add_task(what, total=total or None)
            bars.update(task, completed=done, total=total or None)  # type: ignore[arg-type]

        yield draw


@contextmanager
def batch_progress(what: str) -> Iterator[Callable[[Batch], None]]:
    """A callback that draws how far a batch is: done, failed, tokens a second, and what is left."""
    if not sys.stderr.isatty():
        yield lambda progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task(what, total=None, rate="")

        def draw(progress: Batch) -> None:
            left = "" if progress.seconds_left is None else f", {progress.seconds_left:.0f} s left"
            rate = f"{progress.tokens_done / progress.seconds:.0f} tokens/s" if progress.seconds > 0 else ""
            failed = f", {progress.failed} failed" if progress.failed else ""
            ended = progress.done + progress.failed
            bars.update(task, completed=ended, total=progress.total, rate=f"{rate}{left}{failed}")

        yield draw
