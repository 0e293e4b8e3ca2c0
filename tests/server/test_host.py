"""Which server a text means: vectors read off Ollama's own rules (envconfig/config.go and its test, 0.33)."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from ollama_kit import Client
from ollama_kit.errors import RemoteHostRefused, UsageError
from ollama_kit.server.host import is_loopback, require_local, resolve_host
from ollama_kit.settings import Settings
from tests.intensity import examples
from tests.scripted import ScriptedServer

VECTORS = json.loads(Path(__file__).parents[1].joinpath("data/server/hosts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("text", "url", "loopback"), VECTORS)
def test_reads_a_host_as_ollama_does(text: str, url: str, loopback: bool) -> None:
    """Each vector gives Ollama's URL, and is known to stay here or not, from a flag and from OLLAMA_HOST alike."""
    for host in (resolve_host(text, {}), resolve_host(None, {"OLLAMA_HOST": text})):
        assert (host.url, host.is_loopback) == (url, loopback)


def test_a_flag_goes_before_the_environment() -> None:
    """--host wins over OLLAMA_HOST; an empty one means the default, not the environment."""
    assert resolve_host("1.2.3.4", {"OLLAMA_HOST": "5.6.7.8"}).url == "http://1.2.3.4:11434"
    assert resolve_host("", {"OLLAMA_HOST": "5.6.7.8"}).url == "http://127.0.0.1:11434"


@pytest.mark.parametrize("text", ["example.com:99999", "example.com:http", "example.com:", "[::1]:x"])
def test_says_when_a_port_was_replaced(text: str) -> None:
    """A port that is none becomes the default, as in Ollama, and a warning says so."""
    host = resolve_host(text, {})
    assert host.port == 11434
    assert "11434 is used" in host.warnings[0]


@pytest.mark.parametrize(
    "text",
    [
        "ftp://example.com",
        "unix:///tmp/x",
        "exa mple.com",
        "a:b:c",
        "example.com:0",
        "-x",
        "a..b",
    ],
)
def test_refuses_what_names_no_server(text: str) -> None:
    """A text that no host can be read from is an error that shows the right form, and no password."""
    with pytest.raises(UsageError, match=r"host:port"):
        resolve_host(text, {})


def test_a_password_is_sent_as_a_header_and_never_shown() -> None:
    """user:password@ becomes Basic authorization; neither the URL, the repr nor an error holds it."""
    host = resolve_host("https://me:p%40ss@example.com", {})
    assert host.authorization == "Basic bWU6cEBzcw=="
    assert "p%40ss" not in repr(host) + host.url
    assert "bWU6" not in repr(host)
    with pytest.raises(UsageError) as caught:
        resolve_host("https://me:geheim@exa mple", {})
    assert "geheim" not in str(caught.value)


@settings(deadline=None, max_examples=examples(300))
@given(st.text(max_size=30) | st.from_regex(r"(https?://)?[a-z0-9.:\[\]@/%-]{0,30}", fullmatch=True))
def test_any_text_is_a_host_or_a_usage_error(text: str) -> None:
    """No text makes anything else happen, and what is read is read the same again."""
    try:
        host = resolve_host(text, {})
    except UsageError:
        return
    assert host.url.startswith(("http://", "https://"))
    assert 0 < host.port <= 65535
    assert resolve_host(host.url, {}).url == host.url


@pytest.mark.parametrize(
    ("addresses", "loopback"),
    [
        (["127.0.0.1"], True),
        (["::1", "127.0.0.1"], True),
        (["127.0.0.1", "192.0.2.1"], False),
        (["192.0.2.1"], False),
        ([], False),
    ],
)
def test_a_name_under_localhost_is_where_it_leads(
    addresses: list[str], loopback: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every address counts; one that leads nowhere is not this machine, unless it is localhost itself."""

    def lookup(name: str, *rest: object, **more: object) -> list[tuple[object, ...]]:
        if not addresses:
            raise OSError(name)
        return [(0, 0, 0, "", (address, 0)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    assert is_loopback("evil.localhost") is loopback
    assert is_loopback("localhost") is (loopback or not addresses)


def test_no_other_name_is_looked_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "getaddrinfo", lambda *rest: pytest.fail("looked up"))
    assert not is_loopback("example.com")


@pytest.mark.parametrize("model", ["qwen3:480b-cloud", "glm-4.6:cloud", "GPT-OSS:120B-Cloud", "you/kimi:cloud"])
def test_a_cloud_models_name_is_refused_before_anything_is_sent(model: str) -> None:
    """Also where no model of that name is on the server; with remote models allowed it goes."""
    with ScriptedServer(models=["m:latest"]) as server:
        with Client(Settings(host=server.url)) as client, pytest.raises(RemoteHostRefused, match="cloud model"):
            client.chat(model, "secret")
        with Client(Settings(host=server.url)) as client, pytest.raises(RemoteHostRefused):
            client.embed(model, ["secret"])
        assert not server.requests
    require_local(resolve_host("127.0.0.1", {}), None, allow_remote=True, model=model)


@pytest.mark.parametrize("model", ["cloudy:8b", "cloud", "m:cloud-8b", "qwen3:8b"])
def test_other_names_are_local(model: str) -> None:
    require_local(resolve_host("127.0.0.1", {}), None, model=model)
