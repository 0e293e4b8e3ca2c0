"""What the commands that run a job over many files have in common: their options, and what they open and close around
the job, whatever it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import click

from ollama_kit import resources
from ollama_kit.cli.output import batch_progress, warn
from ollama_kit.cli.shared_options import json_option, server_options, settings_from
from ollama_kit.client.client import Client
from ollama_kit.errors import ServerError, UsageError
from ollama_kit.guard.policy import load_policy
from ollama_kit.jobs.ledger import Ledger
from ollama_kit.jobs.runner import Progress
from ollama_kit.settings import Settings

LEDGER = ".ollama-kit-ledger.sqlite"
LEAVE_S = 0.3  # how long a run that was interrupted, or whose server is away, waits for the model to be unloaded

F = TypeVar("F", bound=Callable[..., object])


@dataclass(frozen=True)
class BatchOptions:
    """The options that `batch_options` adds. `model` is empty where none is asked; `policy` None is that of the
    model's spec; without `out` the result is printed, and nothing is kept for the next run; no `formats` means all of
    them."""

    model: str = ""
    policy: str | None = None
    out: Path | None = None
    formats: tuple[str, ...] = ()
    estimate: bool = False
    parallel: int | None = None
    host: str | None = None
    allow_remote: bool | None = None
    as_json: bool = False


def batch_options(formats: Sequence[str]) -> Callable[[F], F]:
    """The options of `BatchOptions` but `--model`, which a command may require."""

    def add(command: F) -> F:
        command = server_options(json_option(command))
        for option in (
            click.option("--policy", metavar="NAME", help="The guard policy (default: the spec's, else standard)."),
            click.option(
                "--parallel", type=click.IntRange(1, 64), help="Requests at once (default: the server's slots)."
            ),
            click.option("--estimate", is_flag=True, help="Only estimate the requests, tokens and minutes needed."),
            click.option(
                "--format",
                "formats",
                multiple=True,
                type=click.Choice(formats),
                help="A format to write with --out (default: all).",
            ),
            click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write into this folder."),
        ):
            command = option(command)
        return command

    return add


@dataclass(frozen=True)
class BatchContext:
    """What a job needs to run: a client, the outcomes of earlier runs, how many tasks run at once, and a callback for
    its progress."""

    client: Client
    ledger: Ledger
    slots: int
    tell: Callable[[Progress], None]


def say_templates(folder: str) -> None:
    """A line on stderr for each prompt, schema and page that is not the shipped one."""
    for path in resources.overriding("templates", folder, "schemas"):
        warn(f"{path} is used in place of the shipped file")


@contextmanager
def open_batch(options: BatchOptions, job: str) -> Iterator[BatchContext]:
    """What the job of that name needs. With `out` the ledger is kept in that folder, else in memory only. At the end
    the model is unloaded, however the block is left. Wrong options are reported before anything is asked."""
    settings = settings_from(options.host, options.allow_remote)
    if options.policy is not None:
        load_policy(options.policy)
    where = options.out / LEDGER if options.out else ":memory:"
    say_templates(f"jobs/{job}")
    if options.model:
        _check_policy(settings, options)
    with Client(settings) as client, Ledger(where, job) as ledger, batch_progress("reading") as tell:
        try:
            yield BatchContext(client, ledger, options.parallel or server_slots(settings), tell)
        except BaseException:
            if options.model:
                _leave(settings, options.model)
            raise
        if options.model:
            _unload(client, options.model)


def _check_policy(settings: Settings, options: BatchOptions) -> None:
    """UsageError where a project's files weaken the guard and --policy does not ask for it; a line on stderr where it
    does."""
    with Client(settings) as client:
        said = client.weakened_by_project(options.model, options.policy)
    if said and options.policy is None:
        raise UsageError(
            said,
            hint=(
                "Name the policy with --policy if that is what you want, or take `guard` out of the spec.",
                "如果确实需要，请用 --policy 指明该策略；否则请删去规格文件中的 `guard`。",
            ),
        )
    if said:
        warn(said)


def server_slots(settings: Settings) -> int:
    """How many requests the server answers at once: OLLAMA_NUM_PARALLEL where it runs on this machine (no endpoint
    reports it), else one."""
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
    """Where the speed of an estimate comes from, as the end of a sentence; ask before the estimate is made."""
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
