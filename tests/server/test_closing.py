"""Closing a server ends what its other threads wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from ollama_kit.errors import ServerError, ServerUnreachable
from ollama_kit.server import Server, connect
from ollama_kit.server.connection import Retry
from tests import scripted as say
from tests.scripted import ScriptedServer

CERTIFICATE = Path(__file__).parents[1] / "data" / "server" / "localhost.pem"
HANG_LIMIT_S = 20.0


@pytest.fixture(params=["http", "https", "proxy"])
def silent(request: pytest.FixtureRequest) -> Iterator[tuple[Server, ScriptedServer]]:
    """A server over each kind of connection, and what it says there."""
    files = (str(CERTIFICATE), str(CERTIFICATE.with_suffix(".key"))) if request.param == "https" else None
    with ScriptedServer(certificate=files) as scripted:
        if request.param == "proxy":
            connection = connect("ollama.example:11434", {}, proxy=scripted.url)
        else:
            url = scripted.url.replace("127.0.0.1", "localhost") if files else scripted.url
            connection = connect(url, {}, ca_file=CERTIFICATE if files else None)
        with Server(connection) as server:
            yield server, scripted


def ended(work: Callable[[], object], waits: Callable[[], object], server: Server) -> ServerError:
    """What `work` raises in a thread of its own when the server is closed after `waits` has returned."""
    raised: list[ServerError] = []

    def run() -> None:
        try:
            work()
        except ServerError as error:
            raised.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    waits()
    server.close()
    thread.join(HANG_LIMIT_S)
    assert not thread.is_alive(), "the thread still waits"
    return raised[0]


def asked(begun: threading.Event) -> Callable[[], object]:
    return lambda: begun.wait(HANG_LIMIT_S)


@pytest.mark.parametrize("reply", ["silent", "halfway"])
def test_a_request_that_waits_for_an_answer_ends(reply: str, silent: tuple[Server, ScriptedServer]) -> None:
    """Before the first byte and in the middle; it says why, the server sees it hang up, and the next call works."""
    server, scripted = silent
    begun = threading.Event()
    first = () if reply == "silent" else (say.lines(*say.chat_values("hello there")[:1]).parts[0],)
    framing: say.Framing = "raw" if reply == "silent" else "chunked"
    scripted.on("POST", "/api/chat", say.Reply(200, (*first, say.Do(begun.set), say.HANG), framing=framing))

    def ask() -> None:
        with server.chat({"model": "m"}) as lines:
            list(lines)

    error = ended(ask, asked(begun), server)
    assert isinstance(error, ServerUnreachable)
    assert "its client was closed" in str(error)
    assert scripted.seen("POST", "/api/chat")[0].hung_up.wait(HANG_LIMIT_S)
    assert str(server.version()) == "0.9.3"
    assert len(scripted.seen("POST", "/api/chat")) == 1, "it was not sent again"


def test_a_wait_between_two_attempts_ends(scripted: ScriptedServer) -> None:
    """The request is not sent again, though the server is only busy."""
    begun = threading.Event()
    scripted.always("POST", "/api/chat", say.error(503, "server busy").then(say.Do(begun.set)))
    patient = Retry(first_s=10 * HANG_LIMIT_S, cap_s=10 * HANG_LIMIT_S)
    with Server(replace(connect(scripted.url, {}), retry=patient)) as server:

        def ask() -> None:
            with server.chat({"model": "m"}) as lines:
                list(lines)

        assert "its client was closed" in str(ended(ask, asked(begun), server))
    assert len(scripted.seen("POST", "/api/chat")) == 1


def test_closing_with_many_threads_never_raises_what_is_not_ours(scripted: ScriptedServer) -> None:
    """Whatever a thread does at that moment (connects, sends, reads, begins anew), it goes on or gets our error."""
    asked_for = threading.Semaphore(0)
    said = say.lines(*say.chat_values("hello " * 5, piece=3)).then(say.Do(asked_for.release))
    scripted.always("POST", "/api/chat", said)
    foreign: list[Exception] = []
    stopping = threading.Event()

    def ask(server: Server) -> None:
        while not stopping.is_set():
            try:
                with server.chat({"model": "m"}) as lines:
                    list(lines)
            except ServerUnreachable:
                pass
            except Exception as error:  # noqa: BLE001 -- whatever it is, it is not to be
                foreign.append(error)

    with Server.at(scripted.url, {}) as server:
        threads = [threading.Thread(target=ask, args=(server,), daemon=True) for _ in range(4)]
        for thread in threads:
            thread.start()
        for _ in range(60):
            assert asked_for.acquire(timeout=HANG_LIMIT_S)
            server.close()
        stopping.set()
        for thread in threads:
            thread.join(HANG_LIMIT_S)
    assert (foreign, [thread.is_alive() for thread in threads]) == ([], [False] * 4)
