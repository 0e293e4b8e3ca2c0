"""The one httpx transport: every request, ours and the ollama package's, goes through it.

It adds the headers, sends, retries what is worth it, and turns faults and refusals into our errors, so that nobody
above sees httpx's. Never the environment's proxies, never a redirect.
"""

from __future__ import annotations

import asyncio
import random
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache

import httpx

from ollama_kit import __version__
from ollama_kit.errors import ServerError, UsageError
from ollama_kit.server.connection import Connection, proxy_shown
from ollama_kit.server.exchange import BETWEEN_S
from ollama_kit.server.faults import closed, translated, worth_another_try
from ollama_kit.server.refusals import refusal
from ollama_kit.server.sockets import Sockets

ERROR_BODY_LIMIT_BYTES = 2**20


class Transport(httpx.BaseTransport):
    """Sends one request, again where that can help; `sleep` and `jitter` (in [0, 1)) are the caller's to replace.

    Closing it ends the requests that run, in whichever thread: each raises ServerUnreachable there."""

    def __init__(
        self,
        connection: Connection,
        *,
        sleep: Callable[[float], None] | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        with _settings_checked(connection):
            self._inner = httpx.HTTPTransport(
                verify=_trust(connection), trust_env=False, proxy=_proxy(connection), limits=LIMITS
            )
        self._sockets = Sockets(self._inner.close)
        self._connection, self._sleep, self._jitter = connection, sleep or self._sockets.wait, jitter

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        _dress(request, self._connection)
        request.extensions["trace"] = self._sockets.note
        failures = 0
        while True:
            try:
                return self._once(request)
            except ServerError as error:
                failures += 1
                delay_s = self._connection.retry.delay_s(failures, self._jitter())
                if delay_s is None or not worth_another_try(error):
                    raise
            self._sleep(delay_s)

    def _once(self, request: httpx.Request) -> httpx.Response:
        url = _called(request.url)
        self._sockets.enter(url)
        try:
            with (
                _ended_by_closing(self._sockets, url),
                translated(url, answering=False, proxy=proxy_shown(self._connection)),
            ):
                response = self._inner.handle_request(request)
        except BaseException:
            self._sockets.leave()
            raise
        assert isinstance(response.stream, httpx.SyncByteStream)
        _await_rest(request)
        stream = _Stream(response.stream, url, self._sockets)
        answer = httpx.Response(
            response.status_code, headers=response.headers, stream=stream, extensions=response.extensions
        )
        if answer.status_code < 300:
            return answer
        try:
            body = _first_bytes(answer.iter_bytes()) if request.method != "HEAD" else b""
        finally:
            answer.close()
        raise refusal(answer.status_code, body, url=url, location=answer.headers.get("location", ""))

    def close(self) -> None:
        self._sockets.end()


class AsyncTransport(httpx.AsyncBaseTransport):
    """`Transport` for an event loop: the same decisions, awaited."""

    def __init__(
        self,
        connection: Connection,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._connection, self._sleep, self._jitter = connection, sleep, jitter
        with _settings_checked(connection):
            self._inner = httpx.AsyncHTTPTransport(
                verify=_trust(connection), trust_env=False, proxy=_proxy(connection), limits=LIMITS
            )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        _dress(request, self._connection)
        failures = 0
        while True:
            try:
                return await self._once(request)
            except ServerError as error:
                failures += 1
                delay_s = self._connection.retry.delay_s(failures, self._jitter())
                if delay_s is None or not worth_another_try(error):
                    raise
            await self._sleep(delay_s)

    async def _once(self, request: httpx.Request) -> httpx.Response:
        url = _called(request.url)
        with translated(url, answering=False, proxy=proxy_shown(self._connection)):
            response = await self._inner.handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream)
        _await_rest(request)
        stream = _AsyncStream(response.stream, url)
        answer = httpx.Response(
            response.status_code, headers=response.headers, stream=stream, extensions=response.extensions
        )
        if answer.status_code < 300:
            return answer
        body = b""
        try:
            if request.method != "HEAD":
                async for piece in answer.aiter_bytes():
                    body += piece
                    if len(body) >= ERROR_BODY_LIMIT_BYTES:
                        break
        finally:
            await answer.aclose()
        raise refusal(answer.status_code, body, url=url, location=answer.headers.get("location", ""))

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Stream(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream, url: str, sockets: Sockets) -> None:
        self._inner, self._url, self._sockets = inner, url, sockets
        self._left = False

    def __iter__(self) -> Iterator[bytes]:
        with _ended_by_closing(self._sockets, self._url), translated(self._url, answering=True):
            yield from self._inner

    def close(self) -> None:
        if self._left:
            return
        self._left = True
        try:
            self._inner.close()
        finally:
            self._sockets.leave()


class _AsyncStream(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, url: str) -> None:
        self._inner, self._url = inner, url

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with translated(self._url, answering=True):
            async for piece in self._inner:
                yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


LIMITS = httpx.Limits(max_connections=32, max_keepalive_connections=8, keepalive_expiry=30)


def _dress(request: httpx.Request, connection: Connection) -> None:
    """Ours replace what a client put there: the ollama package adds OLLAMA_API_KEY whatever the host is."""
    request.headers.pop("authorization", None)
    request.headers["user-agent"] = f"ollama-kit/{__version__}"
    # A proxy that packs the answer would hold lines back until it has a full block.
    request.headers["accept-encoding"] = "identity"
    for name, value in connection.headers.items():
        request.headers[name] = value


@contextmanager
def _ended_by_closing(sockets: Sockets, url: str) -> Iterator[None]:
    """Says of a request that was ended by `close` just that: what was raised depends on where it was met."""
    try:
        yield
    except Exception as fault:
        if not sockets.ended:
            raise
        raise closed(url) from fault


@lru_cache(maxsize=64)
def _called(url: httpx.URL) -> str:
    """A URL as messages name it."""
    return str(url.copy_with(userinfo=b"", query=None, fragment=None))


def _await_rest(request: httpx.Request) -> None:
    """From here on silence is measured between two pieces; httpcore reads the figure when the body is."""
    between_s = request.extensions.get(BETWEEN_S)
    if between_s is not None and "timeout" in request.extensions:
        request.extensions["timeout"]["read"] = between_s


def _first_bytes(pieces: Iterator[bytes]) -> bytes:
    body = b""
    for piece in pieces:
        body += piece
        if len(body) >= ERROR_BODY_LIMIT_BYTES:
            break
    return body


def _trust(connection: Connection) -> ssl.SSLContext:
    """The certificates to trust; for plain HTTP an empty context, which spares 20 ms of loading them."""
    if connection.host.scheme == "http" and connection.proxy is None:
        return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if connection.ca_file is not None:
        return ssl.create_default_context(cafile=str(connection.ca_file))
    return httpx.create_ssl_context(trust_env=False)


def _proxy(connection: Connection) -> httpx.Proxy | None:
    if connection.proxy is None or connection.host.is_loopback:
        return None
    return httpx.Proxy(connection.proxy)


@contextmanager
def _settings_checked(connection: Connection) -> Iterator[None]:
    """Names the setting that httpx could not take."""
    try:
        yield
    except (ssl.SSLError, OSError) as fault:
        raise UsageError(f"the CA file {connection.ca_file} holds no certificates that can be read") from fault
    except ImportError as fault:
        raise UsageError(f"the proxy {proxy_shown(connection)} needs `pip install httpx[socks]`") from fault
    except (ValueError, httpx.InvalidURL) as fault:
        raise UsageError(f"the proxy {proxy_shown(connection)} cannot be used: {fault}") from fault
