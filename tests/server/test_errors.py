"""Every failure becomes one of our errors, the same for a plain call, a stream and an awaited stream."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ollama_kit.errors import (
    ModelMissing,
    OllamaKitError,
    ProtocolError,
    ServerError,
    ServerRefused,
    ServerTimeout,
    ServerUnreachable,
)
from ollama_kit.server import Server, wire
from ollama_kit.server.connection import Retry, connect
from tests import scripted as say
from tests.scripted import ScriptedServer
from tests.server.conftest import IMPATIENT, Asker

MakeCall = Callable[..., wire.Call]
DATA = Path(__file__).parents[1] / "data" / "server"


def _failure(ask: Asker, url: str, call: wire.Call, **settings: Any) -> OllamaKitError:
    with pytest.raises(OllamaKitError) as caught:
        ask(url, call, **settings)
    assert isinstance(caught.value, ServerError)
    assert caught.value.url.startswith(url)
    return caught.value


def test_refused_connection(ask: Asker, call_for: MakeCall) -> None:
    """Nobody listens: the URL tried, how to start a server, exit code 3, and no second attempt."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    error = _failure(ask, url, call_for())
    assert type(error) is ServerUnreachable
    assert url in str(error)
    assert "ollama serve" in error.hint
    assert error.exit_code == 3
    assert ask.waits == []


def test_unknown_host_name(ask: Asker, call_for: MakeCall) -> None:
    """A name that does not resolve is said to be just that."""
    error = _failure(ask, "http://nowhere.invalid:11434", call_for())
    assert type(error) is ServerUnreachable
    assert "resolved" in error.message


def test_tls_to_a_plain_server(ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """https:// to a server that speaks http names the secure connection as what failed."""
    error = _failure(ask, scripted.url.replace("http:", "https:"), call_for())
    assert type(error) is ServerUnreachable
    assert "no secure connection" in error.message
    assert "--ca-file" in error.hint


def test_unknown_certificate_and_ca_file(ask: Asker, call_for: MakeCall) -> None:
    """A certificate of one's own is refused until its file is named."""
    pem, key = str(DATA / "localhost.pem"), str(DATA / "localhost.key")
    with ScriptedServer(certificate=(pem, key)) as server:
        server.on("POST", "/api/chat", say.chat("hello"))
        error = _failure(ask, server.url, call_for())
        assert "--ca-file" in error.hint
        assert ask(server.url, call_for(), ca_file=Path(pem))[-1]["done"] is True


def test_no_answer_in_time(ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """A server that takes the request and stays silent is a timeout, asked once only."""
    scripted.always("POST", "/api/chat", say.silent())
    error = _failure(ask, scripted.url, call_for(), timeouts=IMPATIENT)
    assert type(error) is ServerTimeout
    assert len(scripted.seen("POST", "/api/chat")) == 1


def test_silence_in_the_middle(ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """After the first line a shorter timeout holds: the stream's own, not that for the first token."""
    scripted.on("POST", "/api/chat", say.lines({"message": {"content": "a"}}).then(say.HANG))
    patient_at_first = type(IMPATIENT)(first_s=600, between_s=0.2)
    error = _failure(ask, scripted.url, call_for(), timeouts=patient_at_first)
    assert type(error) is ServerTimeout
    assert "mid-response" in error.message


@pytest.mark.parametrize("status", [200, 403, 404, 407, 502])
def test_html_from_a_proxy(status: int, ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """A page instead of JSON is a protocol error that quotes its title, whatever its status."""
    scripted.on("POST", "/api/chat", say.html("Zugriff verweigert", status))
    error = _failure(ask, scripted.url, call_for())
    assert type(error) is ProtocolError
    assert "Zugriff verweigert" in error.message


def test_another_program(ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """A 404 that names no model says that this may be no Ollama."""
    error = _failure(ask, scripted.url, call_for())
    assert type(error) is ProtocolError
    assert "404 page not found" in error.message


@pytest.mark.parametrize("banner", [b"SSH-2.0-OpenSSH_9.2\r\n\r\n", b"\x00\x01\x02\r\n\r\n", b"HTTP/9.9 abc\r\n\r\n"])
def test_a_port_that_speaks_no_http(banner: bytes, ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """Something else on the port is a protocol error, not asked again."""
    scripted.always("POST", "/api/chat", say.raw(banner))
    assert type(_failure(ask, scripted.url, call_for())) is ProtocolError
    assert ask.waits == []


def test_a_model_that_is_not_there(ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """404 for a model lists what is installed, the nearest name first."""
    scripted.on("POST", "/api/chat", say.error(404, "model 'qwen3:8b' not found"))
    error = _failure(ask, scripted.url, call_for("qwen3:8b"))
    assert type(error) is ModelMissing
    assert (error.model, error.status) == ("qwen3:8b", 404)
    assert error.installed == ("llama3.2:latest", "qwen3:4b")
    assert error.nearest == ("qwen3:4b",)
    assert "Did you mean qwen3:4b?" in error.hint
    assert ask.waits == []


def test_a_missing_model_when_the_list_fails_too(ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """the first error is the one that is reported, even if asking what is installed fails."""
    scripted.on("POST", "/api/chat", say.error(404, "model 'x' not found"))
    scripted.on("GET", "/api/tags", say.error(500, "broken"))
    error = _failure(ask, scripted.url, call_for("x"))
    assert type(error) is ModelMissing
    assert error.installed == ()


@pytest.mark.parametrize(
    ("status", "message", "hint"),
    [
        (400, '"m" does not support thinking', "thinking: false"),
        (401, "unauthorized", "OLLAMA_API_KEY"),
        (403, "origin not allowed", "OLLAMA_ORIGINS"),
        (500, 'option "num_ctx" must be of type integer', "lint"),
        (500, "write /models/blobs/x: no space left on device", "disk is full"),
        (500, "model requires more system memory (9 GiB) than is available (4 GiB)", "context"),
    ],
)
def test_refusals_carry_status_text_and_remedy(
    status: int, message: str, hint: str, ask: Asker, call_for: MakeCall, scripted: ScriptedServer
) -> None:
    """What Ollama said is told, with what to do about it; none of these is worth another try."""
    scripted.always("POST", "/api/chat", say.error(status, message))
    error = _failure(ask, scripted.url, call_for())
    assert type(error) is ServerRefused
    assert (error.status, error.retryable) == (status, False)
    assert message in error.message
    assert hint in error.hint
    assert len(scripted.seen("POST", "/api/chat")) == 1


def test_an_error_line_inside_200(ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """An error that comes when the 200 is already out is a refusal too, with status 0."""
    answer = (
        say.as_json({"error": "boom"})
        if ask.kind == "plain"
        else say.lines(say.chat_values("ab")[0], {"error": "boom"})
    )
    scripted.on("POST", "/api/chat", answer)
    error = _failure(ask, scripted.url, call_for())
    assert type(error) is ServerRefused
    assert (error.status, error.retryable) == (0, False)
    assert "boom" in error.message


def test_an_answer_without_its_end(ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """An answer that never says `done` is not taken for whole."""
    unfinished = say.chat_values("hello")[0]
    scripted.on("POST", "/api/chat", say.as_json(unfinished) if ask.kind == "plain" else say.lines(unfinished))
    error = _failure(ask, scripted.url, call_for())
    assert type(error) is ProtocolError
    assert '"done": true' in error.message


@pytest.mark.parametrize("fault", [say.RESET, say.CLOSE])
def test_cut_in_the_middle(fault: say.Fault, ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """A connection that ends inside the answer is an error, and nothing is sent again."""
    scripted.always("POST", "/api/chat", say.lines(say.chat_values("hello")[0]).then(fault))
    error = _failure(ask, scripted.url, call_for())
    assert type(error) is ProtocolError
    assert "mid-response" in error.message
    assert len(scripted.seen("POST", "/api/chat")) == 1


@pytest.mark.parametrize(
    "line",
    [
        b"[1, 2]\n",
        b'"text"\n',
        b"{broken\n",
        b'{"message": "text", "done": true}\n',
        b'{"message": {"content": 7}, "done": true}\n',
        b'{"done": true, "prompt_eval_count": "many"}\n',
        b'{"done": "yes"}\n',
        b"\xff\xfe\x00\n",
        b"[" * 100_000 + b"\n",
    ],
)
def test_json_of_the_wrong_shape(line: bytes, ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """A line that is no JSON object, or whose fields have other types than Ollama's, is a protocol error."""
    scripted.on("POST", "/api/chat", say.Reply(200, (line,)))
    assert type(_failure(ask, scripted.url, call_for())) is ProtocolError


def test_a_redirect_is_not_followed(ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """A redirect could take the text to another machine: it is told, not followed."""
    scripted.on("POST", "/api/chat", say.Reply(301, headers=(("Location", "https://elsewhere.example/api/chat"),)))
    error = _failure(ask, scripted.url, call_for())
    assert type(error) is ProtocolError
    assert "elsewhere.example" in error.message


def test_busy_twice_then_good(ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """503 is asked again, after waits that grow."""
    busy = say.error(503, "server busy, please try again.  maximum pending requests exceeded")
    scripted.on("POST", "/api/chat", busy, busy, say.chat("hello"))
    assert ask(scripted.url, call_for())[-1]["done"] is True
    assert ask.waits == [0.25, 0.5]
    first, second, third = scripted.seen("POST", "/api/chat")
    assert first.body == second.body == third.body


def test_busy_for_ever(ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """The last 503 is the error, marked as one that may succeed later."""
    scripted.always("POST", "/api/chat", say.error(503, "server busy"))
    error = _failure(ask, scripted.url, call_for(), retry=Retry(attempts=3))
    assert isinstance(error, ServerRefused)
    assert error.retryable
    assert len(scripted.seen("POST", "/api/chat")) == 3


@pytest.mark.parametrize("fault", [say.reset(), say.closed()])
def test_lost_before_any_answer(fault: say.Reply, ask: Asker, call_for: MakeCall, scripted: ScriptedServer) -> None:
    """A connection lost before the answer began is tried again, and an error only when it stays so."""
    scripted.on("POST", "/api/chat", fault, say.chat("hello"))
    assert ask(scripted.url, call_for())[-1]["done"] is True
    assert len(ask.waits) == 1
    scripted.always("POST", "/api/chat", fault)
    error = _failure(ask, scripted.url, call_for())
    assert type(error) is ServerUnreachable
    assert "without an HTTP answer" in error.message


@pytest.mark.parametrize("said", [{"version": "not one"}, {"version": 9}, {"version": ""}, {}, {"version": "9" * 5000}])
def test_a_version_that_is_none(said: dict[str, Any], scripted: ScriptedServer) -> None:
    """Something that answers without a version of Ollama's is no Ollama."""
    scripted.on("GET", "/api/version", say.as_json(said))
    with Server.at(scripted.url, {}) as server, pytest.raises(ProtocolError, match="version") as caught:
        server.version()
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("last", [{"status": "writing manifest"}, {"error": "unsupported architecture"}])
def test_a_create_that_does_not_succeed(last: dict[str, Any], scripted: ScriptedServer) -> None:
    """A create stream without `success`, or with an error line, raises; its lines so far were reported."""
    scripted.on("POST", "/api/create", say.lines({"status": "parsing GGUF"}, last))
    seen: list[str] = []
    with Server.at(scripted.url, {}) as server, pytest.raises(ServerError) as caught:
        server.create({"model": "x", "from": "m"}, lambda what, done, total: seen.append(what))
    assert seen[0] == "parsing GGUF"
    assert isinstance(caught.value, ServerRefused if "error" in last else ProtocolError)


def test_wrong_types_in_lists(scripted: ScriptedServer) -> None:
    """Lists that hold something else are a protocol error, not a crash."""
    broken: tuple[Any, ...] = ("none", [1], {})
    for value in ({"models": one} for one in broken):
        scripted.on("GET", "/api/tags", say.as_json(value))
        with Server.at(scripted.url, {}) as server, pytest.raises(ProtocolError, match="models"):
            server.models()
    fields: dict[str, Any] = {"parameters": 1, "model_info": [], "messages": [1], "capabilities": "x"}
    for field in fields:
        scripted.on("POST", "/api/show", say.show(**{field: fields[field]}))
        with Server.at(scripted.url, {}) as server, pytest.raises(ProtocolError, match=field):
            server.show("m")


def test_nothing_of_httpx_or_ollama_leaks_from_the_packages_own_client(scripted: ScriptedServer) -> None:
    """The ollama package's client on our transport raises our errors, streams included."""
    with Server(connect(scripted.url, {}), transport=Asker("plain").transport(connect(scripted.url, {}))) as server:
        scripted.on("POST", "/api/show", say.error(404, "model 'x' not found"))
        with pytest.raises(ServerRefused):
            server.client().show("x")
        scripted.on("POST", "/api/chat", say.lines(say.chat_values("a")[0]).then(say.RESET))
        with pytest.raises(ProtocolError):
            list(server.client().chat("m", [], stream=True))
        assert server.client().list().models[0].model == "llama3.2:latest"
