"""`demo`: a model built from a shipped spec is asked for the summary of a shipped group chat, with whatever Ollama
there is."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import click

from ollama_kit import resources
from ollama_kit.builder.build import BuildOptions, build
from ollama_kit.cli.output import echo, print_json, print_report, print_result, progress_bar
from ollama_kit.cli.shared_options import json_option, server_options, settings_from
from ollama_kit.client import Client
from ollama_kit.errors import OutputInvalid, ServerUnreachable
from ollama_kit.guard.exchange import Event, Finished
from ollama_kit.jobs.ledger import Ledger
from ollama_kit.jobs.wechat.job import JOB, WeChatJob
from ollama_kit.jobs.wechat.readers.read_chat import read_chat
from ollama_kit.jobs.wechat.summary import Summary
from ollama_kit.jobs.wechat.writers import write_markdown
from ollama_kit.records.report import Report
from ollama_kit.server.blobs import Progress
from ollama_kit.server.connection import connect_with
from ollama_kit.server.server import Server
from ollama_kit.settings import Settings
from ollama_kit.specs import load_spec

SPEC = "demo"
START_S = 30.0

Say = Callable[[str], None]


@click.command("demo")
@server_options
@json_option
def demo_command(host: str | None, allow_remote: bool | None, as_json: bool) -> None:
    """Build the demo model and let it summarize a sample WeChat group chat.

    Uses the server that answers at --host or OLLAMA_HOST; if none does, starts the `ollama` on PATH and stops it
    afterwards.
    """
    settings = settings_from(host, allow_remote)
    with running_server(settings, say=lambda line: echo(line, err=True)) as found, progress_bar() as progress:
        shown = demonstrate(found, progress, say=lambda line: echo(line, err=True))
    value = {key: shown.summary.as_dict()[key] for key in ("topics", "todos", "questions")}
    if as_json:
        print_result({"value": value, "summary": shown.summary.as_dict(), "report": shown.report.as_dict()})
        return
    print_json(value)
    echo(f"\n{write_markdown(shown.summary)}")
    print_report(shown.report)


@dataclass(frozen=True)
class Shown:
    """What the demo shows: the summary of the sample chat, and the report of the call that gave it."""

    summary: Summary
    report: Report


def demonstrate(settings: Settings, progress: Progress, say: Say) -> Shown:
    """The WeChat job on the sample chat, on the server that `settings` name. The demo model stays there, unloaded; a
    second run finds it current. OutputInvalid where the model gave no valid answer."""
    ended: list[Finished] = []

    def listen(event: Event) -> None:
        if isinstance(event, Finished):
            ended.append(event)

    messages = read_chat(resources.shipped_root() / "templates" / "demo" / "wechat-group.txt").messages
    with Client(settings, counting="exact", hooks=[listen]) as client, Ledger(":memory:", JOB) as ledger:
        built = build(load_spec(SPEC), client.server, BuildOptions(allow_remote=settings.allow_remote), progress)
        say(f"{built.name}: {built.status} on {built.host}")
        say("reading the chat (a small model on a CPU takes half a minute) …")
        try:
            (summary,) = WeChatJob(client, SPEC, ledger, brief=True).summarize(messages)
        finally:
            client.server.unload(SPEC)
    last = ended[-1]
    if last.error is not None:
        raise last.error
    if last.report is None:
        raise OutputInvalid("the call ended before its answer was complete", attempts=())
    return Shown(summary, last.report)


@contextmanager
def running_server(settings: Settings, say: Say) -> Iterator[Settings]:
    """Settings that name a server which answers: the one asked for, else an `ollama` on PATH, started for the time of
    the block. ServerUnreachable, with what to install and which command comes next, where there is neither."""
    try:
        with Server(connect_with(settings)) as server:
            server.version()
    except ServerUnreachable as error:
        program = shutil.which("ollama")
        if program is None:
            raise ServerUnreachable(
                f"no Ollama answers at {connect_with(settings).host.url}, and there is no `ollama` on PATH",
                url=error.url,
                hint=(
                    "Install Ollama from ollama.com, then run `ollama-kit demo` again.",
                    "请先从 ollama.com 安装 Ollama，然后再次运行 `ollama-kit demo`。",
                ),
            ) from error
        with _started(program, settings, say):
            yield settings
        return
    yield settings


@contextmanager
def _started(program: str, settings: Settings, say: Say) -> Iterator[None]:
    """`ollama serve`, answering; ended with the block, also by Ctrl-C."""
    connection = connect_with(replace(settings, connect_timeout_s=1.0))
    say(f"starting {program} serve …")
    environment = {**os.environ, "OLLAMA_HOST": connection.host.url}
    process = subprocess.Popen(
        [program, "serve"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    try:
        _wait_until_it_answers(process, connection.host.url, Server(connection))
        yield
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=10)
        if process.poll() is None:
            process.kill()
            process.wait()


def _wait_until_it_answers(process: subprocess.Popen[bytes], url: str, server: Server) -> None:
    ends = time.monotonic() + START_S
    with server:
        while time.monotonic() < ends:
            if process.poll() is not None:
                raise ServerUnreachable(f"`ollama serve` ended with exit code {process.returncode}", url=url)
            try:
                server.version()
            except ServerUnreachable:
                time.sleep(0.2)
            else:
                return
    raise ServerUnreachable(f"`ollama serve` did not answer at {url} within {START_S:.0f} s", url=url)
