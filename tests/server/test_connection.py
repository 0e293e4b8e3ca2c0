"""Where requests go, and what they carry: proxies, keys, headers, prefixes."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from ollama_kit.errors import OllamaKitError, ServerUnreachable, UsageError
from ollama_kit.server import Server, connect, wire
from ollama_kit.server.connection import Retry, connect_with, read_headers
from ollama_kit.settings import Settings
from tests import scripted as say
from tests.scripted import ScriptedServer

DEAD_PROXY = dict.fromkeys(("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"), "http://127.0.0.1:9")


@pytest.mark.parametrize("proxies", [DEAD_PROXY, {"ALL_PROXY": "socks5://127.0.0.1:9", "OLLAMA_HOST": "::1"}])
def test_the_environments_proxies_are_not_used(
    proxies: dict[str, str], scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead or SOCKS proxy in the environment changes nothing, for our calls and the ollama package's."""
    for name, value in proxies.items():
        monkeypatch.setenv(name, value)
    with Server.at(scripted.url) as server:
        assert len(server.models()) == 2
        assert len(server.client().list().models) == 2


@pytest.mark.process
def test_the_ollama_package_imports_whatever_the_environment_says(scripted: ScriptedServer) -> None:
    """In a fresh process with a SOCKS proxy and a host that the package cannot read, its client works, and the
    environment is as it was."""
    code = (
        "import os; from ollama_kit.server import Server\n"
        f"print(len(Server.at({scripted.url!r}).client().list().models), os.environ['ALL_PROXY'])"
    )
    environment = {"ALL_PROXY": "socks5://127.0.0.1:9", "OLLAMA_HOST": "::1", "SYSTEMROOT": "C:\\Windows"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, encoding="utf-8", timeout=60
    )
    assert (done.stdout.split(), done.stderr) == (["2", "socks5://127.0.0.1:9"], "")


def test_a_proxy_is_used_where_it_was_asked_for(scripted: ScriptedServer) -> None:
    """A named proxy carries what goes to another machine, and is asked for its whole URL."""
    connection = connect("ollama.example:11434", {}, proxy=scripted.url)
    with Server(connection) as server:
        assert str(server.version()) == "0.9.3"
    assert scripted.requests[0].target == "http://ollama.example:11434/api/version"


def test_a_proxy_never_carries_loopback(scripted: ScriptedServer) -> None:
    """Even a named proxy is not used for this machine."""
    connection = connect(scripted.url, {}, proxy="http://127.0.0.1:9")
    with Server(connection) as server:
        assert str(server.version()) == "0.9.3"


def test_a_dead_proxy_is_named_without_its_password() -> None:
    """What could not be reached is the proxy: its URL stands in the error, its password does not."""
    connection = connect("ollama.example:11434", {}, proxy="http://me:geheim@127.0.0.1:9")
    with Server(connection) as server, pytest.raises(ServerUnreachable, match=r"proxy http://…@127.0.0.1:9") as caught:
        server.version()
    assert "geheim" not in str(caught.value) + repr(connection)


@pytest.mark.parametrize("proxy", ["socks4x://h:1", "not a url"])
def test_an_unusable_proxy_is_a_usage_error(proxy: str) -> None:
    """A proxy that no client can use is told as a wrong setting."""
    with Server(connect("ollama.example", {}, proxy=proxy)) as server, pytest.raises(UsageError, match="proxy"):
        server.version()


def test_a_ca_file_must_exist_and_hold_certificates(tmp_path: Path) -> None:
    """A CA file that is missing or is something else is a usage error that names it."""
    with pytest.raises(UsageError, match=r"gone\.pem"):
        connect("https://example.com", {}, ca_file=tmp_path / "gone.pem")
    (tmp_path / "text.pem").write_text("hello", encoding="utf-8")
    connection = connect("https://example.com", {}, ca_file=tmp_path / "text.pem")
    with Server(connection) as server, pytest.raises(UsageError, match=r"text\.pem"):
        server.version()


@pytest.mark.parametrize(
    "env",
    [
        {"OLLAMA_API_KEY": "geheim"},
        {"OLLAMA_KIT_HEADERS": "X-Api-Key: geheim"},
        {"OLLAMA_HOST": "me:geheim@example.com"},
    ],
)
def test_a_secret_does_not_travel_in_the_clear(env: dict[str, str]) -> None:
    """A key, a password or a header that looks like one goes over HTTPS or loopback only."""
    host = None if "OLLAMA_HOST" in env else "example.com"
    with pytest.raises(UsageError, match="https://") as caught:
        connect(host, env)
    assert "geheim" not in str(caught.value)
    private = connect("https://me:geheim@example.com" if host is None else "https://example.com", env)
    assert "geheim" not in repr(private)


def test_what_every_request_carries(scripted: ScriptedServer) -> None:
    """The key and the extra headers are on each request; on the ollama package's too, and only ours."""
    env = {"OLLAMA_API_KEY": "k1", "OLLAMA_KIT_HEADERS": '{"X-Team": "legal"}'}
    with Server.at(scripted.url, env) as server:
        server.version()
        server.client().list()
    for seen in scripted.requests:
        assert seen.headers["authorization"] == "Bearer k1"
        assert seen.headers["x-team"] == "legal"
        assert seen.headers["accept-encoding"] == "identity"
        assert seen.headers["user-agent"].startswith("ollama-kit/")


def test_the_packages_client_sends_no_key_of_its_own(scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """ollama-python takes OLLAMA_API_KEY from the environment; here only what the connection holds is sent."""
    monkeypatch.setenv("OLLAMA_API_KEY", "leak")
    with Server.at(scripted.url, {}) as server:
        server.client().list()
    assert "authorization" not in scripted.requests[0].headers


@pytest.mark.parametrize(
    "text", ["just-a-key", "{broken", '{"A": 1}', '["a"]', "Bad Name: x", "A: ü", '{"A": "x\\ny"}']
)
def test_headers_that_can_not_be_sent(text: str) -> None:
    """What is no header is a usage error that does not repeat the value."""
    with pytest.raises(UsageError, match="OLLAMA_KIT_HEADERS") as caught:
        read_headers(text)
    assert "just-a-key" not in str(caught.value)


def test_a_path_prefix_is_kept() -> None:
    """A server behind a path is called below it."""
    with ScriptedServer(prefix="/llm/one") as proxied, Server.at(proxied.url + "/", {}) as server:
        server.version()
        server.client().list()
        assert proxied.calls == [("GET", "/api/version"), ("GET", "/api/tags")]


def test_connections_are_kept_and_a_stale_one_is_replaced(scripted: ScriptedServer) -> None:
    """Calls share a connection; one that the server has closed meanwhile costs a retry, not an error."""
    scripted.always("GET", "/api/ps", say.as_json({"models": []}))
    with Server.at(scripted.url, {}) as server:
        server.version()
        server.running()
        assert scripted.connection_count == 1
        scripted.on("GET", "/api/ps", say.closed())
        waits = replace(server.connection, retry=Retry(first_s=0.0))
    with Server(waits) as server:
        assert server.running() == ()
        assert scripted.connection_count > 1


@pytest.mark.process
def test_only_what_is_needed_is_imported() -> None:
    """Importing the package's names loads neither httpx nor ollama; asking the server does not load ollama."""
    code = (
        "import sys\nfrom ollama_kit.server import Server, ModelFacts, connect, check_gguf, supports, require_local\n"
        "print([name for name in ('httpx', 'ollama', 'pydantic', 'requests', 'rich') if name in sys.modules])\n"
        "server = Server.at('127.0.0.1:9', {})\n"
        "try: server.version()\nexcept Exception as error: print(type(error).__name__)\n"
        "print([name for name in ('ollama', 'pydantic', 'requests') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", timeout=60)
    assert done.stdout.splitlines() == ["[]", "ServerUnreachable", "[]"], done.stderr


def test_values_that_json_can_not_carry() -> None:
    """NaN or an object in a request is a usage error; a lone surrogate is sent as its escape."""
    with pytest.raises(UsageError):
        wire.encode({"temperature": float("nan")})
    with pytest.raises(OllamaKitError):
        wire.encode({"x": object()})
    assert wire.encode({"x": "\ud800"}) == b'{"x":"\\ud800"}'
    assert wire.encode({"x": "中"}) == '{"x":"中"}'.encode()


def test_settings_become_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Host, proxy, CA file and time limits come from the settings, the key from the environment."""
    pem = Path(__file__).parents[1] / "data" / "server" / "localhost.pem"
    monkeypatch.setenv("OLLAMA_API_KEY", "k1")
    settings = Settings(host="https://example.com", proxy="http://127.0.0.1:9", ca_file=str(pem), connect_timeout_s=1.5)
    connection = connect_with(settings)
    assert connection.host.url == "https://example.com:443"
    assert (connection.proxy, connection.ca_file) == ("http://127.0.0.1:9", pem)
    assert connection.timeouts.connect_s == 1.5
    assert connection.headers["Authorization"] == "Bearer k1"
