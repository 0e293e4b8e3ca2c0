"""Options that many commands share, and what they become."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ollama_kit.server.server import Server
    from ollama_kit.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])


def server_options(command: F) -> F:
    """`--host` and `--allow-remote`."""
    command = click.option("--allow-remote", is_flag=True, default=None, help="Allow sending text to another machine.")(
        command
    )
    return click.option("--host", metavar="URL", help="The Ollama server (default: OLLAMA_HOST, else this machine).")(
        command
    )


def json_option(command: F) -> F:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON for a program to read.")(command)


def set_option(command: F) -> F:
    """`--set key=value`, repeatable."""
    return click.option(
        "--set",
        "overrides",
        multiple=True,
        metavar="KEY=VALUE",
        help="Override a key of the spec, e.g. parameters.top_k=5.",
    )(command)


def parsed_overrides(pairs: Sequence[str]) -> dict[str, str]:
    """The overrides by key; UsageError for one without `=`."""
    from ollama_kit.errors import UsageError

    overrides = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"--set {pair}: expected KEY=VALUE")
        overrides[key] = value
    return overrides


def settings_from(host: str | None, allow_remote: bool | None = None) -> Settings:
    """The settings in force, the flags first."""
    from ollama_kit.settings import load_settings

    return load_settings({"host": host, "allow_remote": allow_remote})


@contextmanager
def open_server(host: str | None, allow_remote: bool | None = None) -> Iterator[Server]:
    """The server that the settings name, closed afterwards."""
    from ollama_kit.server.connection import connect_with
    from ollama_kit.server.server import Server

    with Server(connect_with(settings_from(host, allow_remote))) as server:
        yield server
