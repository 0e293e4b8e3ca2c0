"""What the commands that run a job over many files open and close around it, whatever the job is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from ollama_kit.cli.options import settings_from
from ollama_kit.cli.output import warn
from ollama_kit.cli.progress import batch_progress
from ollama_kit.client.client import Client
from ollama_kit.errors import ServerError
from ollama_kit.guard.policy import load_policy
from ollama_kit.jobs.ledger import Ledger
from ollama_kit.jobs.runner import Progress
from ollama_kit.settings import Settings

LEDGER = ".ollama-kit-ledger.sqlite"
LEAVE_S = 0.3  # how long a run that was interrupted, or whose server is away, waits for the model to be unloaded


@dataclass(frozen=True)
class Around:
    """What a job needs to run: a client, the outcomes of the runs before, how many tasks run at once, and whom to tell
    how far it is."""

    client: Client
    ledger: Ledger
    slots: int
    tell: Callable[[Progress], None]


@contextmanager
def open_batch(flags: Mapping[str, Any], job: str) -> Iterator[Around]:
    """What the job of that name needs, as the command's flags say: `host`, `allow_remote`, `model` (None where none is
    asked), `policy`, `out` and `parallel`. With `out` the ledger lies in that folder, else in memory only. In the end
    the model is unloaded, however the block is left. What is wrong with the flags is told before anything is asked."""
    settings = settings_from(flags["host"], flags["allow_remote"])
    if flags["policy"] is not None:
        load_policy(flags["policy"])
    where = flags["out"] / LEDGER if flags["out"] else ":memory:"
    with Client(settings) as client, Ledger(where, job) as ledger, batch_progress("reading") as tell:
        try:
            yield Around(client, ledger, flags["parallel"] or server_slots(settings), tell)
        except BaseException:
            if flags["model"]:
                _leave(settings, flags["model"])
            raise
        if flags["model"]:
            _unload(client, flags["model"])


def server_slots(settings: Settings) -> int:
    """How many requests the server answers at once: what OLLAMA_NUM_PARALLEL says where it is on this machine (no
    endpoint tells), else one."""
    from ollama_kit.server.connection import connect_with

    said = os.environ.get("OLLAMA_NUM_PARALLEL", "")
    return int(said) if said.isdigit() and int(said) > 0 and connect_with(settings).host.is_loopback else 1


def minutes(seconds: float) -> str:
    """A duration as a person says it.

    >>> minutes(42.3), minutes(200)
    ('42 seconds', '3 minutes')
    """
    return f"{seconds:.0f} seconds" if seconds < 90 else f"{seconds / 60:.0f} minutes"


def speed_said(ledger: Ledger) -> str:
    """Where the speed of an estimate comes from, as the end of a sentence; to be asked before the estimate is made."""
    return "at the speed of the work done before" if ledger.speeds()["tokens"] else "at the speed just measured"


def _unload(client: Client, model: str) -> None:
    try:
        client.server.unload(model)
    except ServerError as error:  # what the run has done is not lost for that
        warn(f"the model was not unloaded, and stays in memory for its keep_alive: {error.message}")


def _leave(settings: Settings, model: str) -> None:
    """Asks once for the model to be unloaded, and does not wait for a server that is silent or away."""
    from ollama_kit.server.connection import Retry, Timeouts, connect_with
    from ollama_kit.server.server import Server

    hurried = Timeouts(connect_s=LEAVE_S, quick_s=LEAVE_S, first_s=LEAVE_S, between_s=LEAVE_S)
    connection = replace(connect_with(settings), timeouts=hurried, retry=Retry(attempts=1))
    with suppress(ServerError), Server(connection) as server:
        server.unload(model)
