"""`python -m tests.realserver fetch | serve [--port N] | run -- COMMAND…`: the real server from the command line.

Exit codes: `run` gives the command's own; 2 where this platform cannot run the server; 3 where it will not start.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from tests.realserver import api
from tests.realserver.install import Install, RealServerError, UnsupportedPlatform, fetch
from tests.realserver.process import running

SMOLLM2 = "smollm2:135m"
_FORWARDED = frozenset({signal.SIGINT, signal.SIGTERM} | ({signal.SIGHUP} if sys.platform != "win32" else set()))
_SI_KERNEL = 0x80  # linux/siginfo.h: the terminal sent it, so the command has had it already


def main(arguments: list[str] | None = None) -> int:
    """The exit code of one run of the command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.realserver", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fetch", help="fetch the server and its model into the cache, and say where")
    serve = commands.add_parser("serve", help=f"run the server with {SMOLLM2} until Ctrl-C")
    serve.add_argument("--port", type=int, default=0, help="a free one where it is not given")
    run = commands.add_parser("run", help="run a command with OLLAMA_HOST naming the server")
    run.add_argument("words", nargs="+", metavar="COMMAND", help="the command, after --")
    chosen = parser.parse_args(arguments)
    try:
        install = fetch()
        if chosen.command == "fetch":
            print(install.root)
            return 0
        if chosen.command == "serve":
            return _serve(install, chosen.port)
        return _run(install, chosen.words)
    except UnsupportedPlatform as error:
        print(error, file=sys.stderr)
        return 2
    except RealServerError as error:
        print(error, file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130


def _exit_on_sigterm(number: int, _frame: FrameType | None) -> NoReturn:
    """Turns SIGTERM into an exception, so that every `finally` on the way out runs."""
    raise SystemExit(128 + number)


def _serve(install: Install, port: int) -> int:
    with running(install, port=port) as server:
        api.ensure(server.url, SMOLLM2, install.smollm2_gguf)
        print(server.url, flush=True)
        signal.pause()
    return 0


def _run(install: Install, words: list[str]) -> int:
    with running(install) as server:
        api.ensure(server.url, SMOLLM2, install.smollm2_gguf)
        with _held_signals() as unheld:
            return _supervise(words, {**os.environ, "OLLAMA_HOST": server.url}, unheld)


@contextmanager
def _held_signals() -> Iterator[set[signal.Signals | int]]:
    """Holds back the signals that end us, so that none is lost between a command's start and our wait for it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _FORWARDED | {signal.SIGCHLD})
    try:
        yield before
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _supervise(words: list[str], env: dict[str, str], unheld: set[signal.Signals | int]) -> int:
    """The exit code of the command, 128 + n where signal n ended it.

    The command stays in the terminal's group, so it can read from it. Ctrl-C then reaches it by itself; a
    signal that was sent to us alone is passed on.
    """
    try:
        child = subprocess.Popen(
            words, env=env, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, unheld) and None
        )
    except OSError as error:
        raise RealServerError(f"{words[0]} cannot be run: {error.strerror}") from error
    while child.poll() is None:
        # The limit only guards against a system that drops SIGCHLD.
        info = signal.sigtimedwait(_FORWARDED | {signal.SIGCHLD}, 1.0)
        if info is not None and info.si_signo in _FORWARDED and info.si_code != _SI_KERNEL:
            child.send_signal(info.si_signo)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _exit_on_sigterm)
    sys.exit(main())
