"""Runs the real server in a process group of its own, and stops the whole group whatever happens."""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.realserver import api
from tests.realserver.install import Install, RealServerError

START_LIMIT_S = 60.0
STOP_LIMIT_S = 10.0
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_WORK_PREFIX = "ollama-kit-real-"


@dataclass(frozen=True)
class RealServer:
    """A server that answers at `url`. `env` is the whole environment in which `binary` runs as its client."""

    url: str
    binary: Path
    env: Mapping[str, str]
    log_path: Path
    models_dir: Path
    pid: int
    """Of the server; also the id of the process group that holds it and its runners."""

    def log_tail(self, lines: int = 20) -> str:
        """The last lines of the server's log."""
        return _tail(self.log_path, lines)


@contextmanager
def running(install: Install, *, port: int = 0) -> Iterator[RealServer]:
    """A running server with an empty models folder of its own, both gone afterwards; port 0 takes a free one."""
    _remove_orphaned_folders()
    work = Path(tempfile.mkdtemp(prefix=f"{_WORK_PREFIX}{os.getpid()}-"))
    try:
        process, server = _start_on_a_free_port(install, work, port)
        stop = partial(_stop, process)
        atexit.register(stop)
        try:
            yield server
        finally:
            stop()
            atexit.unregister(stop)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _remove_orphaned_folders() -> None:
    """Takes away what runs that were killed left behind: folders named after a process that is no more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_WORK_PREFIX}*"):
        owner = folder.name.removeprefix(_WORK_PREFIX).partition("-")[0]
        if owner.isdecimal() and not Path("/proc", owner).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _start_on_a_free_port(install: Install, work: Path, port: int) -> tuple[subprocess.Popen[bytes], RealServer]:
    """Another process may take the port between our look and the server's: then try the next one."""
    for attempt in range(5):
        process, server = _spawn(install, work, port or _free_port())
        try:
            _wait_until_ready(process, server)
        except BaseException as error:
            _stop(process)
            taken = "address already in use" in server.log_tail()
            if port or not taken or attempt == 4 or not isinstance(error, RealServerError):
                raise
            continue
        return process, server
    raise AssertionError("the loop above returns or raises")


def _spawn(install: Install, work: Path, port: int) -> tuple[subprocess.Popen[bytes], RealServer]:
    home, models, log = work / "home", work / "models", work / "server.log"
    for folder in (home, models):
        folder.mkdir(exist_ok=True)
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("OLLAMA_") and not name.lower().endswith("_proxy")
    }
    env |= {
        "HOME": str(home),
        "LD_LIBRARY_PATH": install.library_path,
        "OLLAMA_HOST": f"127.0.0.1:{port}",
        "OLLAMA_MODELS": str(models),
        # This build ignores the option num_gpu, and without an Intel GPU its runner aborts.
        "OLLAMA_NUM_GPU": "0",
    }
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [str(install.binary), "serve"],
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=_end_with_parent,
        )
    return process, RealServer(f"http://127.0.0.1:{port}", install.binary, env, log, models, process.pid)


_libc = ctypes.CDLL(None) if os.name == "posix" else None


def _end_with_parent() -> None:
    """Runs in the child: the kernel ends the server when we are killed in a way that runs no clean-up."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait_until_ready(process: subprocess.Popen[bytes], server: RealServer) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RealServerError(f"the test server ended with {process.returncode}:\n{server.log_tail()}")
        try:
            status, _ = api.request(server.url, "GET", "/api/version", timeout_s=5)
        except OSError:
            time.sleep(0.05)
            continue
        # A stranger on the same port answers too; only our own server writes this line into our log.
        if status == 200 and "Listening on" in server.log_tail(1000):
            return
    raise RealServerError(f"the test server did not answer in {START_LIMIT_S:.0f} s:\n{server.log_tail()}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends every process of the group: asked first, killed after STOP_LIMIT_S. Safe to call twice."""
    if process.returncode is not None:
        return  # reaped: the number may be somebody else's by now
    _signal_group(process.pid, signal.SIGTERM)
    deadline = time.monotonic() + STOP_LIMIT_S
    # WNOWAIT leaves the ended server unreaped, so that its number still names our group and no other.
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        if time.monotonic() > deadline:
            break
        time.sleep(0.02)
    # A runner that outlived the server is still in the group.
    _signal_group(process.pid, signal.SIGKILL)
    process.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass  # nobody left


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _tail(path: Path, lines: int) -> str:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    return "\n".join(text.splitlines()[-lines:])
