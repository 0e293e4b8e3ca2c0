"""The server's life: it starts on its own port, shows SmolLM2, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.realserver import api
from tests.realserver.install import Install, RealServerError
from tests.realserver.process import RealServer, running

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[2]


def processes_of_group(group: int) -> list[int]:
    """The living processes of a process group, by /proc (man 5 proc: field 5 of stat is the group)."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, number = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(number) == group and state != "Z":
            found.append(int(stat.parent.name))
    return found


def chat(url: str, model: str) -> None:
    api.call(
        url,
        "POST",
        "/api/chat",
        {
            "model": model,
            "stream": False,
            "messages": [{"role": "user", "content": "hi"}],
            "options": {"num_predict": 1},
        },
    )


def test_the_server_is_ollama_0_9_3(real_server: RealServer) -> None:
    """The version that the facts of the tests were read from."""
    assert api.call(real_server.url, "GET", "/api/version") == {"version": "0.9.3"}


def test_smollm2_talks_chatml(real_server: RealServer, smollm2: str) -> None:
    """Ollama recognizes the template inside the GGUF, and stops where a turn ends."""
    shown = api.call(real_server.url, "POST", "/api/show", {"model": smollm2})
    assert "<|im_start|>{{ .Role }}" in shown["template"]
    assert '"<|im_end|>"' in shown["parameters"]


def test_the_command_line_of_the_binary_reaches_the_server(real_server: RealServer, smollm2: str) -> None:
    """`binary` run with `env` is an ollama command line whose server is this one."""
    listed = subprocess.run(
        [str(real_server.binary), "list"], env=dict(real_server.env), capture_output=True, text=True, check=True
    )
    assert smollm2 in listed.stdout


@pytest.mark.parametrize("loaded", [False, True], ids=["idle", "with a runner"])
def test_stopping_leaves_no_process_and_no_folder(real_install: Install, loaded: bool) -> None:
    """Server and runner end together, and the models folder goes."""
    with running(real_install) as server:
        if loaded:
            chat(server.url, api.ensure(server.url, "smollm2:135m", real_install.smollm2_gguf))
        assert len(processes_of_group(server.pid)) == 1 + loaded
    assert processes_of_group(server.pid) == []
    assert not server.models_dir.exists()


def test_a_server_that_fails_to_start_shows_its_log(real_install: Install, real_server: RealServer) -> None:
    """A port that is taken is reported in the server's own words."""
    port = int(real_server.url.rpartition(":")[2])
    with pytest.raises(RealServerError, match="address already in use"), running(real_install, port=port):
        pass


def run(*words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.realserver", "run", "--", *words]
    return subprocess.Popen(
        command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


# Says where the server is, then waits for a signal: what a long-running command looks like from outside.
WAITING = """
import os, signal, sys
def told(number, frame):
    print("told", number, flush=True)
    sys.exit(40 + number)
signal.signal(signal.SIGTERM, told)
signal.signal(signal.SIGINT, told)
print(os.environ["OLLAMA_HOST"], flush=True)
while True:
    signal.pause()
"""


def test_run_gives_the_commands_exit_code(real_install: Install) -> None:
    """The command sees OLLAMA_HOST, and its answer is ours."""
    script = "import os, sys; print(os.environ['OLLAMA_HOST']); sys.exit(7)"
    process = run(sys.executable, "-c", script)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (7, "")
    assert out.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_run_passes_a_signal_on_and_stops_the_server(real_install: Install, number: signal.Signals) -> None:
    """A signal reaches the command once, its exit code is ours, and the server is gone."""
    process = run(sys.executable, "-c", WAITING)
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (40 + number, f"told {number.value}\n", "")
    with pytest.raises(ConnectionRefusedError):
        api.request(url, "GET", "/api/version")


def test_a_killed_parent_leaves_no_server(real_install: Install) -> None:
    """SIGKILL runs no clean-up of ours: the kernel ends the server."""
    with run(sys.executable, "-c", WAITING) as process:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        process.kill()
        # Each request is bounded, and the server shuts down within its own grace period.
        with pytest.raises(OSError, match=r"refused|reset|closed"):
            while True:
                api.request(url, "GET", "/api/version", timeout_s=5)
        for orphan in (path for path in Path("/proc").glob("[0-9]*") if _waits_for(path, url)):
            os.kill(int(orphan.name), signal.SIGKILL)


@pytest.mark.parametrize("number", [pytest.param(signal.SIGINT, marks=pytest.mark.nightly), signal.SIGKILL])
def test_a_test_run_that_dies_leaves_no_server(
    real_install: Install, pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    """Ctrl-C or SIGKILL for the run itself, whose worker has the server: it ends with its worker."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makeini("[pytest]\nmarkers =\n  real: a mark\n  xdist_group: a mark\n")
    pytester.makeconftest("from tests.conftest import *")
    waiting = "def test_it(real_server):\n    Path('pid').write_text(str(real_server.pid))\n    Event().wait()\n"
    pytester.makepyfile(f"from pathlib import Path\nfrom threading import Event\n{waiting}")
    told = pytester.path / "pid"
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", "-q", "-n", "2"], cwd=pytester.path, stdout=subprocess.DEVNULL
    ) as session:
        _until(lambda: told.exists() and told.read_text() != "")
        server = int(told.read_text())
        assert processes_of_group(server)
        session.send_signal(number)
    _until(lambda: not processes_of_group(server))


def _until(holds: Callable[[], bool]) -> None:
    """Waits for what another process does; the limit only guards against one that never does it."""
    limit = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.05)


def _waits_for(process: Path, url: str) -> bool:
    try:
        return f"OLLAMA_HOST={url}".encode() in (process / "environ").read_bytes()
    except OSError:
        return False


def test_a_command_that_does_not_exist_is_one_sentence(real_install: Install) -> None:
    """No traceback for a mistyped command."""
    process = run("no-such-command-here")
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (3, "no-such-command-here cannot be run: No such file or directory\n")
