"""Which server an OLLAMA_HOST or a --host names, and whether a text sent there stays on this machine.

The rules are Ollama's own (envconfig/config.go, read at 0.33).
ollama-python reads the same variable differently (it refuses `::1`, keeps 0.0.0.0); these rules are the Go client's,
so a value that works for the `ollama` command works here.
"""

from __future__ import annotations

import ipaddress
import socket
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from ollama_kit.errors import RemoteHostRefused, UsageError
from ollama_kit.server.facts import ModelFacts

DEFAULT_PORT = "11434"

HOW_TO_WRITE_IT = (
    "Write it as host, host:port or http(s)://host:port/prefix, for example 127.0.0.1:11434.",
    "请写成 host、host:port 或 http(s)://host:port/prefix，例如 127.0.0.1:11434。",
)


@dataclass(frozen=True)
class Host:
    """One Ollama server. `url` has scheme, host, port and path prefix, no trailing slash and never a password.

    `authorization` is the value of the header that a `user:password@` in the text became; it is left out of `repr`.
    `warnings` are sentences for the user: what was read differently than written.
    """

    url: str
    scheme: str
    name: str
    port: int
    is_loopback: bool
    authorization: str | None = field(default=None, repr=False)
    warnings: tuple[str, ...] = ()

    @property
    def is_private(self) -> bool:
        """Whether a secret may be sent there: over TLS, or without leaving the machine."""
        return self.is_loopback or self.scheme == "https"

    def __str__(self) -> str:
        return self.url


def resolve_host(text: str | None, env: Mapping[str, str]) -> Host:
    """The server that `text` names, or OLLAMA_HOST in `env` where `text` is None; UsageError if it cannot be one.

    A port that is not one becomes the default with a warning, as in Ollama. An address to listen on (0.0.0.0, ::, or
    no name before the colon) is reached as 127.0.0.1: a server on `::` takes IPv4 too, and machines without IPv6
    exist.

    >>> resolve_host("0.0.0.0:8080", {}).url
    'http://127.0.0.1:8080'
    """
    written = env.get("OLLAMA_HOST", "") if text is None else text
    trimmed = written.strip().strip("\"'").strip()
    scheme, authority, default_port = _scheme(trimmed)
    authority, _, path = authority.partition("/")
    userinfo, at, hostport = authority.rpartition("@")
    name, port_text = split_host_port(hostport, default_port)
    warnings: tuple[str, ...] = ()
    port = _port(port_text)
    if port is None:
        port = int(default_port)
        warnings = (f"{port_text!r} is not a port; {default_port} is used, as Ollama does",)
    if port == 0:
        raise UsageError(f"port 0 in {shown(written)!r} cannot be connected to", hint=HOW_TO_WRITE_IT)
    name = _reachable(name, written)
    bracketed = f"[{name}]" if ":" in name else name
    prefix = quote(path.strip("/"), safe="/:@!$&'()*+,;=~-._%")
    url = f"{scheme}://{bracketed}:{port}" + (f"/{prefix}" if prefix else "")
    return Host(
        url=url,
        scheme=scheme,
        name=name,
        port=port,
        is_loopback=is_loopback(name),
        authorization=_basic(userinfo) if at else None,
        warnings=warnings,
    )


def is_loopback(name: str) -> bool:
    """Whether a host name or address stays on this machine; False for whatever is not plainly so. A name under
    `localhost` is asked for: what counts is where it leads, not what it is called. No other name is looked up.

    >>> is_loopback("127.8.8.8"), is_loopback("::1"), is_loopback("127.evil.example")
    (True, True, False)
    """
    plain = name.rstrip(".").lower()
    if plain == "localhost" or plain.endswith(".localhost"):
        addresses = _addresses(plain)
        return all(map(is_loopback, addresses)) if addresses else plain == "localhost"
    try:
        address = ipaddress.ip_address(plain)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def _addresses(name: str) -> tuple[str, ...]:
    """Every address that a name leads to; none where it leads nowhere."""
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError:
        return ()
    return tuple({str(address[0]).partition("%")[0] for *_, address in found})


def is_cloud_name(model: str) -> bool:
    """Whether a model of that name leaves the machine: since 0.18 a server forwards every name whose tag is `cloud` or
    ends in `-cloud`, with no local model of that name (server/model_resolver.go).

    >>> is_cloud_name("qwen3:480b-cloud"), is_cloud_name("glm:cloud"), is_cloud_name("cloudy:8b")
    (True, True, False)
    """
    return model.strip().lower().endswith((":cloud", "-cloud"))


def require_local(host: Host, facts: ModelFacts | None, *, allow_remote: bool = False, model: str = "") -> None:
    """Returns if a text sent to a model stays on this machine, or the caller allows that it leaves; RemoteHostRefused
    otherwise.

    A server on this machine is not enough: it may forward a cloud model's prompts (`remote_host`), and does so by the
    name of the `model` alone.
    """
    if allow_remote:
        return
    if not host.is_loopback:
        raise RemoteHostRefused(f"the text would be sent to another machine, {host.url}")
    if is_cloud_name(model):
        raise RemoteHostRefused(f"{model!r} is the name of a cloud model: Ollama sends its prompts to ollama.com")
    if facts is not None and facts.is_remote:
        where = facts.remote_host or "another machine"
        raise RemoteHostRefused(f"the server forwards prompts for {facts.name} to {where}")


def shown(url: str) -> str:
    """`url` as it may be printed: what is between `://` and `@` replaced by dots.

    >>> shown("http://me:secret@proxy:3128/x")
    'http://…@proxy:3128/x'
    """
    scheme, separator, rest = url.rpartition("://") if "://" in url else ("", "", url)
    authority, slash, path = rest.partition("/")
    _, at, hostport = authority.rpartition("@")
    return f"{scheme}{separator}{'…@' if at else ''}{hostport}{slash}{path}"


def split_host_port(hostport: str, default_port: str) -> tuple[str, str]:
    """(host, port) as Go's `net.SplitHostPort` and Ollama's fallback read them; the port may not be a number.

    >>> split_host_port("[::1]:80", "11434"), split_host_port("::1", "11434"), split_host_port("", "11434")
    (('::1', '80'), ('::1', '11434'), ('127.0.0.1', '11434'))
    """
    if hostport.startswith("["):
        inside, bracket, after = hostport[1:].partition("]")
        if bracket and after.startswith(":") and ":" not in after[1:]:
            return inside, after[1:]
    elif hostport.count(":") == 1:
        name, _, port = hostport.partition(":")
        return name, port
    bare = hostport.strip("[]")
    try:
        return str(ipaddress.ip_address(bare)), default_port
    except ValueError:
        return hostport or "127.0.0.1", default_port


def _scheme(trimmed: str) -> tuple[str, str, str]:
    scheme, separator, rest = trimmed.partition("://")
    if not separator:
        # The one name that Ollama itself gives a scheme.
        return ("https", "ollama.com:443", "443") if trimmed == "ollama.com" else ("http", trimmed, DEFAULT_PORT)
    if scheme.lower() not in ("http", "https"):
        raise UsageError(f"{shown(trimmed)!r} starts with {scheme}://; a server is http or https", hint=HOW_TO_WRITE_IT)
    return scheme.lower(), rest, {"http": "80", "https": "443"}.get(scheme, DEFAULT_PORT)


def _port(text: str) -> int | None:
    digits = text[1:] if text[:1] in ("+", "-") else text
    if not (digits.isascii() and digits.isdigit()):
        return None
    number = int(text) if len(digits) <= 10 else -1
    return number if 0 <= number <= 65535 else None


def _reachable(name: str, written: str) -> str:
    if name == "":
        return "127.0.0.1"
    address: ipaddress.IPv4Address | ipaddress.IPv6Address | None = None
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        pass
    if address is not None:
        return "127.0.0.1" if address.is_unspecified else _written(address)
    usable = all(character.isalnum() or character in "-._" for character in name)
    if not usable or name.startswith((".", "-")) or ".." in name:
        raise UsageError(f"{shown(written)!r} does not name a host", hint=HOW_TO_WRITE_IT)
    return name


def _written(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
    """An address as every Python from 3.13 on writes it; before, IPv4 inside IPv6 was written in hexadecimal."""
    mapped = getattr(address, "ipv4_mapped", None)
    return f"::ffff:{mapped}" if mapped else str(address)


def _basic(userinfo: str) -> str:
    user, _, password = userinfo.partition(":")
    return "Basic " + b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode("ascii")
