"""How a server is reached: proxy, certificates, headers, timeouts and retries, as one frozen value; and what a `Call`
becomes on it, the same for `Server` and `AsyncServer`."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from ollama_kit.errors import UsageError
from ollama_kit.server import wire
from ollama_kit.server.host import Host, resolve_host, shown
from ollama_kit.server.refusals import Answer
from ollama_kit.server.wire import Call, Pace
from ollama_kit.settings import Settings

if TYPE_CHECKING:
    import httpx
    from typing_extensions import Self

BETWEEN_S = "ollama_kit.between_s"
"""Request extension: the read timeout in seconds once the answer has begun."""

SECRET_WORDS = ("authorization", "cookie", "key", "token", "secret", "password")


@dataclass(frozen=True)
class Timeouts:
    """Connect and read timeouts in seconds. Ollama sends its headers with the first token, so `first_s` includes
    loading the model; `between_s` is the time between two pieces of an answer; `quick_s` is for what the server answers
    from memory or disk; `long_s` for creating and pulling, where a large file is copied or quantized between two lines.
    """

    connect_s: float = 5.0
    quick_s: float = 30.0
    first_s: float = 600.0
    between_s: float = 120.0
    long_s: float = 1800.0

    def first(self, pace: Pace) -> float:
        """How long to wait for the answer's beginning."""
        return {"quick": self.quick_s, "model": self.first_s, "long": self.long_s}[pace]

    def between(self, pace: Pace) -> float:
        """How long to wait between two pieces of an answer."""
        return {"quick": self.quick_s, "model": self.between_s, "long": self.long_s}[pace]


@dataclass(frozen=True)
class Retry:
    """How often a request is sent, and the wait in between: exponential backoff with jitter, capped."""

    attempts: int = 4
    first_s: float = 0.5
    factor: float = 2.0
    cap_s: float = 8.0

    def delay_s(self, failures: int, jitter: float) -> float | None:
        """Seconds to wait after the `failures`-th failure, None where it was the last try. `jitter` is in [0, 1).

        >>> [Retry(attempts=3).delay_s(n, 0.0) for n in (1, 2, 3)]
        [0.25, 0.5, None]
        """
        if failures >= self.attempts:
            return None
        whole = min(self.cap_s, self.first_s * self.factor ** (failures - 1))
        return whole * (1 + jitter) / 2


@dataclass(frozen=True)
class Connection:
    """A host, and everything that decides how a request gets there. `headers` are sent with every request."""

    host: Host
    proxy: str | None = field(default=None, repr=False)
    ca_file: Path | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    timeouts: Timeouts = Timeouts()
    retry: Retry = Retry()

    def __post_init__(self) -> None:
        if self.host.is_private:
            return
        named = [name for name in self.headers if any(word in name.lower() for word in SECRET_WORDS)]
        if named:
            raise UsageError(
                f"{named[0]} would be sent to {self.host.url} in clear text",
                hint=(
                    "Use https:// for that host, or remove the key, the password or the header.",
                    "请对该主机使用 https://，或去掉密钥、密码或请求头。",
                ),
            )


class Connected:
    """What `Server` and `AsyncServer` have in common: the connection they talk over, and its names."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    @classmethod
    def at(cls, host: str | None = None, env: Mapping[str, str] | None = None) -> Self:
        """The server that `host`, else OLLAMA_HOST, names (default: this machine, port 11434)."""
        return cls(connect(host, os.environ if env is None else env))

    @property
    def host(self) -> Host:
        return self.connection.host

    @property
    def url(self) -> str:
        return self.connection.host.url

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"

    def _request(self, call: Call) -> httpx.Request:
        return request(call, self.connection)

    def _answer(self, call: Call) -> Answer:
        return Answer(call, url=url_of(call, self.connection))


def connect(
    host: str | None,
    env: Mapping[str, str],
    *,
    proxy: str | None = None,
    ca_file: Path | None = None,
    timeouts: Timeouts | None = None,
    is_named: bool = True,
) -> Connection:
    """The connection that `host` (else OLLAMA_HOST) and `env` describe; UsageError where a value cannot be used.

    Only the variables of Ollama and ollama-kit are read: OLLAMA_HOST, OLLAMA_API_KEY and OLLAMA_KIT_HEADERS.
    HTTP_PROXY and the like are not (a proxy would carry prompts off the machine unasked): pass `proxy` to use one; it
    is never used for loopback. The key goes only to a host that the user named (`is_named`).
    """
    resolved = resolve_host(host, env)
    headers = read_headers(env.get("OLLAMA_KIT_HEADERS", ""))
    lowered = {name.lower() for name in headers}
    if "authorization" not in lowered:
        key = env.get("OLLAMA_API_KEY", "").strip() if is_named else ""
        value = resolved.authorization or (f"Bearer {key}" if key else None)
        if value is not None:
            headers["Authorization"] = _sendable("OLLAMA_API_KEY", value)
    if ca_file is not None and not ca_file.is_file():
        raise UsageError(f"the CA file {ca_file} does not exist")
    return Connection(
        host=resolved,
        proxy=None if resolved.is_loopback else proxy,
        ca_file=ca_file,
        headers=MappingProxyType(headers),
        timeouts=timeouts or Timeouts(),
    )


def connect_with(settings: Settings) -> Connection:
    """The connection that the settings describe; keys and extra headers come from the environment."""
    return connect(
        settings.host,
        os.environ,
        proxy=settings.proxy,
        ca_file=Path(settings.ca_file) if settings.ca_file else None,
        is_named=bool(settings.host or os.environ.get("OLLAMA_HOST")),
        timeouts=Timeouts(
            connect_s=settings.connect_timeout_s,
            first_s=settings.first_token_timeout_s,
            between_s=settings.between_tokens_timeout_s,
        ),
    )


def read_headers(text: str) -> dict[str, str]:
    """The headers in OLLAMA_KIT_HEADERS: a JSON object of strings, or `Name: value` lines; UsageError otherwise.

    >>> read_headers("X-Team: 法务".replace("法务", "legal")), read_headers('{"A": "b"}')
    ({'X-Team': 'legal'}, {'A': 'b'})
    """
    stripped = text.strip()
    if not stripped:
        return {}
    if stripped.startswith("{"):
        try:
            value = json.loads(stripped)
        except ValueError as error:
            raise UsageError("OLLAMA_KIT_HEADERS starts with { but is not JSON", hint=_HEADERS_HINT) from error
        pairs = list(value.items()) if isinstance(value, dict) else []
    else:
        pairs = [_pair(number, line) for number, line in enumerate(stripped.splitlines(), 1) if line.strip()]
    headers = {}
    for name, content in pairs:
        if not isinstance(content, str) or not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
            raise UsageError(f"OLLAMA_KIT_HEADERS: {name!r} is not a valid header name/value pair", hint=_HEADERS_HINT)
        headers[name] = _sendable(f"OLLAMA_KIT_HEADERS: {name}", content)
    return headers


_HEADERS_HINT = (
    'Write one `Name: value` per line, or a JSON object such as {"X-Team": "legal"}.',
    '请每行写一个 `Name: value`，或写成 JSON 对象，如 {"X-Team": "legal"}。',
)


def _pair(number: int, line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        # The line itself stays out of the message: it may be a bare key.
        raise UsageError(f"OLLAMA_KIT_HEADERS: line {number} has no colon", hint=_HEADERS_HINT)
    return name.strip(), value.strip()


def _sendable(what: str, value: str) -> str:
    if not value.isascii() or not value.isprintable():
        raise UsageError(f"{what} contains a character that an HTTP header cannot carry")
    return value


def proxy_shown(connection: Connection) -> str:
    """The proxy's URL without its password; empty where none is used."""
    return shown(connection.proxy) if connection.proxy else ""


def url_of(call: Call, connection: Connection) -> str:
    """Where a call goes, as messages name it."""
    return connection.host.url + call.path


def request(call: Call, connection: Connection) -> httpx.Request:
    """The request for a call, with its timeouts; a blob's length is stated so that it need not be chunked."""
    import httpx

    headers = {"accept": "application/x-ndjson" if call.stream else "application/json"}
    content: bytes | wire.Content | None = None
    if call.content is not None:
        content = call.content
        headers |= {"content-type": "application/octet-stream", "content-length": str(call.content.size_bytes)}
    elif call.body is not None:
        content = call.sent
        headers["content-type"] = "application/json"
    timeouts = connection.timeouts
    most_s = math.inf if call.deadline is None else call.deadline.left_s
    between_s = min(timeouts.between(call.pace), most_s)
    limits = httpx.Timeout(
        connect=min(timeouts.connect_s, most_s),
        read=min(timeouts.first(call.pace), most_s),
        write=between_s,
        pool=min(timeouts.first_s, most_s),
    )
    # What a client's build_request would add (headers of its own, cookies), the transport would only remove again.
    return httpx.Request(
        call.method,
        url_of(call, connection),
        content=content,
        headers=headers,
        extensions={"timeout": limits.as_dict(), BETWEEN_S: between_s},
    )
