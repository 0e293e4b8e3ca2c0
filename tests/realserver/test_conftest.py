"""The guards of tests/conftest.py: sockets, settings, and the rule about skipped tests of the real server."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from tests.conftest import OutsideSocket

pytest_plugins = ["pytester"]


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
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    pytester.makeini("[pytest]\nmarkers = real: real")
    pytester.makeconftest("from tests.conftest import *")
    pytester.makepyfile("import pytest\n@pytest.mark.real\ndef test_it():\n    pytest.skip('no server')")
    assert pytester.runpytest_subprocess().ret == expected
