"""The guards of tests/conftest.py: sockets, settings, what starts a process, and the rules about skipped tests; and the
parts of nightly."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from tests import needs, nightly
from tests.conftest import OutsideSocket
from tests.nightly import PARTS, covers

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("address", [("192.0.2.1", 80), ("8.8.8.8", 53), ("10.0.0.1", 11434)])
def test_a_socket_to_another_machine_is_refused(address: tuple[str, int]) -> None:
    """No test can reach the network, whatever the code under test does."""
    with socket.socket() as outside, pytest.raises(OutsideSocket, match="loopback only"):
        outside.connect(address)


def test_a_look_up_of_another_name_is_refused() -> None:
    """Names of other machines are not even resolved."""
    with pytest.raises(OutsideSocket, match=r"example\.com"):
        socket.getaddrinfo("example.com", 80)


def test_an_invalid_name_does_not_resolve() -> None:
    """A test of an unknown host gets the error of a name server, without one being asked."""
    with pytest.raises(socket.gaierror):
        socket.getaddrinfo("ollama.invalid", 11434)


def test_loopback_is_allowed() -> None:
    """Servers that tests start on this machine can be reached."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()):
        pass


def test_a_users_settings_do_not_reach_a_test() -> None:
    """Hosts, keys and proxies of the environment are gone, and the user folder is an empty one."""
    assert not [name for name in os.environ if name.upper().endswith("_PROXY")]
    assert "OLLAMA_HOST" not in os.environ
    assert not Path(os.environ["OLLAMA_KIT_HOME"]).exists()


@given(st.integers())
def test_isolation_works_with_hypothesis(number: int) -> None:
    """The fixtures of every test raise no health check of hypothesis, and hold for each example."""
    assert "OLLAMA_HOST" not in os.environ, number


@pytest.mark.process
@pytest.mark.parametrize(("variable", "expected"), [("CI", 1), ("OLLAMA_KIT_REQUIRE_REAL", 1), ("", 0)])
def test_a_skipped_real_test_fails_the_run_where_it_is_required(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, variable: str, expected: int
) -> None:
    """In CI nothing that needs the real server may be passed over."""
    for name in ("CI", "OLLAMA_KIT_REQUIRE_REAL"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, "1")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert run(pytester, "@pytest.mark.real\ndef test_it():\n    pytest.skip('no server')").ret == expected


def run(pytester: pytest.Pytester, tests: str, *arguments: str) -> pytest.RunResult:
    """A run of these tests in a process of its own, under the conftest that is tested."""
    marks = ("real", "process", "kills", "nightly", "system", "needs(name)")
    pytester.makeini("[pytest]\nmarkers =\n" + "".join(f"  {mark}: a mark\n" for mark in marks))
    pytester.makeconftest("from tests.conftest import *")
    pytester.makepyfile(f"import os, subprocess, sys\nimport pytest\n{tests}")
    return pytester.runpytest_subprocess(*arguments)


@pytest.mark.process
def test_what_starts_a_process_says_so(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make quick` leaves out what is marked; a mark that was forgotten is a failure."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    start = "def test_{0}():\n    subprocess.run([sys.executable, '-c', ''])\n"
    fork = "def test_fork():\n    os._exit(0) if os.fork() == 0 else os.wait()\n"
    ended = run(pytester, start.format("bare") + fork + f"@pytest.mark.process\n{start.format('marked')}")
    ended.assert_outcomes(failed=2, passed=1)
    ended.stdout.fnmatch_lines(["*starts a process (subprocess.Popen): mark it @pytest.mark.process*"])


@pytest.mark.process
@pytest.mark.parametrize("required", ["", "wrk", "chromium,test-system"])
def test_what_a_test_needs_is_named_where_it_is_missing(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, required: str
) -> None:
    """Skipped and counted at the end of the run, under xdist too; a failure where it must be there."""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("PATH", str(pytester.path))
    monkeypatch.setenv(needs.VARIABLE, required)
    tests = "@pytest.mark.needs('wrk')\n@pytest.mark.parametrize('at', (1, 2))\ndef test_it(at): pass\n"
    ended = run(pytester, tests, "-n", "2")
    ended.assert_outcomes(**({"errors": 2} if required else {"skipped": 2}))
    if not required:
        ended.stdout.fnmatch_lines(["not run: 2 tests that need wrk; make test-system runs them"])


def test_packages_are_those_that_a_test_asks_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is installed for a test that there is not."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "test_one.py").write_text('@pytest.mark.needs("promtool", "llm-guard")\n', encoding="utf-8")
    assert list(needs.missing_packages(tmp_path)) == ["prometheus"]
    (tmp_path / "promtool").touch(mode=0o755)
    assert list(needs.missing_packages(tmp_path)) == []


def test_nightly_runs_every_test_file_whole() -> None:
    """Each is in one part of those without a server, and its tests of the server and its kills in those parts."""
    for folder in ("tests", "ollama_kit"):
        for path in (ROOT / folder).rglob("*.py"):
            file = path.relative_to(ROOT).as_posix()
            parts = [name for name in PARTS if covers(name, file)]
            selected = sorted(PARTS[name].selects for name in parts)
            kinds = ["kills", "not real and not kills", "real and not kills"]
            assert selected == (kinds if folder == "tests" else kinds[1:2]), (file, parts)


def test_a_part_goes_on_where_it_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A file that passed is not run again while the tree is the same; what failed is, and is named."""
    ran: list[str] = []
    broken = {"tests/b.py"}

    def call(command: list[str], **_: object) -> int:
        ran.append(command[-1])
        return int(command[-1] in broken)

    monkeypatch.setattr(nightly, "STAMPS", tmp_path)
    monkeypatch.setattr(nightly, "_files", lambda name: iter(("tests/a.py", "tests/b.py")))
    monkeypatch.setattr(nightly, "_tree", lambda: "tree")
    monkeypatch.setattr("subprocess.call", call)
    assert nightly.main(["jobs"]) == 1
    assert "FAILED jobs: tests/b.py" in capfd.readouterr().err
    broken.clear()
    assert nightly.main(["jobs"]) == 0
    assert nightly.main(["jobs"]) == 0
    assert ran == ["tests/a.py", "tests/b.py", "tests/b.py"]
    monkeypatch.setattr(nightly, "_tree", lambda: "another tree")
    assert nightly.main(["jobs", "no such part"]) == 2
    assert nightly.main(["jobs"]) == 0
    assert ran[3:] == ["tests/a.py", "tests/b.py"]
