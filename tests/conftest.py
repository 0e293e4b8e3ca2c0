"""What every test stands on: no socket leaves this machine, no setting of the user's leaks in, and one real
Ollama for the whole run.

In CI (CI or OLLAMA_KIT_REQUIRE_REAL set) a test of the real server that was skipped fails the run. What was not run for
want of a program or a package is said at the end of a run (tests/needs.py).
"""

from __future__ import annotations

import itertools
import os
import signal
import socket
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from ollama_kit.tokens.rendering import forget_renderings
from tests import needs
from tests.models import tiny, vocabularies
from tests.realserver import api
from tests.realserver.install import Install, UnsupportedPlatform, fetch, unsupported_reason
from tests.realserver.process import RealServer, running

REAL_FIXTURES = frozenset({"real_install", "real_server"})
LEAKING = ("OLLAMA_", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")
"""Beginnings, in capitals, of the variables of a user's own set-up that would change what a test sees."""
KEPT = frozenset({"OLLAMA_KIT_TEST_CACHE", "OLLAMA_KIT_TEST_HOST", "OLLAMA_KIT_REQUIRE_REAL"})

STARTS = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"})
"""The audit events of a process that is started."""
MAY_START = ("process", "real", "kills", "nightly")

_serial = itertools.count()
_skipped_real: list[str] = []
_not_run: Counter[str] = Counter()
_started: list[str] = []


class OutsideSocket(RuntimeError):
    """A test tried to leave this machine. Not an OSError, so that no code under test takes it for a dead server."""


@pytest.hookimpl(tryfirst=True)  # before xdist takes `load`
def pytest_cmdline_main(config: pytest.Config) -> None:
    """`-n 2` alone keeps the groups together: without that each worker would have a real server of its own."""
    if getattr(config.option, "numprocesses", None):
        config.option.loadscopereorder = False  # what takes longest comes first, not what has most tests
        if config.option.dist == "no":
            config.option.dist = "loadgroup"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object | None:
    """Tests of a file stay together where they are in no group: one worker loads what they need, and 200 files are
    handed out instead of 8,000 tests."""
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling  # type: ignore[import-untyped]

    class Files(LoadGroupScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return str(super()._split_scope(nodeid)).partition("::")[0]

    return Files(config, log)


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        config.option.loadgroup = True  # a worker is told the command line, not what was changed after it
    sys.addaudithook(_watch)
    # A run that a shell put into the background ignores Ctrl-C, and so would every process that a test interrupts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what uses the real server as `real`, so that forgetting the mark cannot hide a skipped test. All of it runs
    on one worker: the server and its models are there once a run, and two models at work on two cores take turns of
    spinning threads (3 tokens a second instead of 40), and it comes first. What uses llm-guard needs it, likewise."""
    for item in items:
        used = getattr(item, "fixturenames", ())
        if REAL_FIXTURES.intersection(used):
            item.add_marker(pytest.mark.real)
            item.add_marker(pytest.mark.xdist_group("real"))
        if "llm_guard" in used:
            item.add_marker(pytest.mark.needs("llm-guard"))
        if any(needs.NEEDS[name].debian for mark in item.iter_markers("needs") for name in mark.args):
            item.add_marker(pytest.mark.system)
    items.sort(key=lambda item: item.get_closest_marker("real") is None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips a test whose programs or packages are not here, or fails it where they must be."""
    for mark in item.iter_markers("needs"):
        needs.require(*mark.args)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """A test that starts a process says so by a mark: `make quick` must be able to leave it out."""
    _started.clear()
    result = yield
    if _started and not any(item.get_closest_marker(name) for name in MAY_START):
        pytest.fail(f"starts a process ({_started[0]}): mark it @pytest.mark.process", pytrace=False)
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    if "real" in report.keywords:
        _skipped_real.append(report.nodeid)
    if needed := needs.needed_by(report.longreprtext):
        _not_run[needed] += 1


def pytest_sessionfinish(session: pytest.Session) -> None:
    if _skipped_real and real_is_required():
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for name, count in sorted(_not_run.items()):
        terminalreporter.line(needs.not_run(name, count), yellow=True)
    if _skipped_real and real_is_required():
        terminalreporter.section("real server required, but skipped", red=True)
        for nodeid in _skipped_real:
            terminalreporter.line(nodeid)


def real_is_required() -> bool:
    """Whether a skipped test of the real server is a failure here."""
    return any(os.environ.get(name, "").lower() not in ("", "0", "false") for name in ("CI", "OLLAMA_KIT_REQUIRE_REAL"))


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: refuses every socket that leaves this machine, those of C extensions that use Python's own too,
    and notes every process that is started."""
    if event in STARTS:
        _started.append(event)
    elif event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        if isinstance(address, tuple) and not _is_loopback(str(address[0])):
            raise OutsideSocket(f"a test may talk to loopback only, not to {address}")
    elif event == "socket.getaddrinfo":
        host = arguments[0].decode() if isinstance(arguments[0], bytes) else arguments[0] or "localhost"
        if host.endswith(".invalid"):  # never resolves (RFC 6761): answered here, without asking a name server
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        if not _is_loopback(host):
            raise OutsideSocket(f"a test may look up loopback names only, not {host}")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host in ("localhost", "localhost.localdomain", "")


@pytest.fixture(autouse=True)
def isolated_settings(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Each test starts with no setting and no plug-in of the user's, and with user and cache folders of its own, which
    do not exist."""
    for name in list(os.environ):
        if name.upper().startswith(LEAKING) and name not in KEPT:
            monkeypatch.delenv(name)
    own = tmp_path_factory.getbasetemp() / "own" / str(next(_serial))
    monkeypatch.setenv("OLLAMA_KIT_HOME", str(own / "home"))
    monkeypatch.setenv("OLLAMA_KIT_CACHE", str(own / "cache"))
    monkeypatch.setenv("OLLAMA_KIT_LANG", "en")
    monkeypatch.setenv("OLLAMA_KIT_PLUGINS", "none")
    forget_renderings()


@pytest.fixture(scope="session")
def real_install() -> Install:
    """The fetched server on disk; skips where this platform cannot run it."""
    if reason := unsupported_reason():
        pytest.skip(reason)
    return fetch()


@pytest.fixture(scope="session")
def real_server(real_install: Install) -> Iterator[RealServer]:
    """A real Ollama 0.9.3 of this run's own, empty until a model fixture puts something on it."""
    with running(real_install) as server:
        yield server


@pytest.fixture(scope="session")
def smollm2(real_server: RealServer, real_install: Install) -> str:
    """The name of SmolLM2-135M on the real server: small, slow, but a model that was trained."""
    return api.ensure(real_server.url, "smollm2:135m", real_install.smollm2_gguf)


@pytest.fixture(scope="session")
def vocabulary() -> Callable[[str], dict[str, Any]]:
    """Gives the `tokenizer.ggml.*` keys of a real vocabulary by name: see tests.models.vocabularies.NAMES."""

    def find(name: str) -> dict[str, Any]:
        try:
            return vocabularies.vocabulary(name)
        except UnsupportedPlatform as error:
            pytest.skip(str(error))

    return find


@pytest.fixture(scope="session")
def tiny_gguf(real_install: Install) -> Callable[[str], Path]:
    """Gives the GGUF file of a tiny random model by name: see tests.models.tiny.TINY_NAMES."""
    return tiny.tiny_model


@pytest.fixture(scope="session")
def tiny_qwen(real_server: RealServer) -> str:
    """The name of a random qwen3 on the real server: Qwen2's vocabulary, ChatML, 8 query heads on 1 KV head."""
    return _tiny(real_server, "tiny-qwen2")


@pytest.fixture(scope="session")
def tiny_smollm(real_server: RealServer) -> str:
    """The name of a random llama on the real server with SmolLM2's vocabulary and ChatML."""
    return _tiny(real_server, "tiny-smollm")


@pytest.fixture(scope="session")
def tiny_spm(real_server: RealServer) -> str:
    """The name of a random llama on the real server with a SentencePiece vocabulary and no chat template."""
    return _tiny(real_server, "tiny-spm")


@pytest.fixture(scope="session")
def tiny_f16(real_server: RealServer) -> str:
    """The name of a random F16 llama on the real server, wide enough for every quantization."""
    return _tiny(real_server, "tiny-f16")


@pytest.fixture(scope="session")
def tiny_lora(real_install: Install) -> Path:
    """A GGUF LoRA adapter file that fits tiny-qwen2."""
    return tiny.tiny_lora()


def _tiny(server: RealServer, name: str) -> str:
    return api.ensure(server.url, name, tiny.tiny_model(name))
