"""The one httpx transport: every request, ours and the ollama package's, goes through it.

It adds the headers, sends, retries where that can help, and turns faults and refusals into our errors, so that nobody
above sees httpx's. Never the environment's proxies, never a redirect. Three parts, top-down: the transports and their
streams; `Sockets`, by which closing one ends the requests that run; `translated`, one context manager around a request
and its stream.
"""

from __future__ import annotations

import asyncio
import os
import random
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from threading import Event, Lock
from typing import Any
from weakref import WeakSet

import httpx

from ollama_kit import __version__
from ollama_kit.errors import Hint, ProtocolError, ServerError, ServerTimeout, ServerUnreachable, UsageError
from ollama_kit.server.connection import BETWEEN_S, Connection, proxy_shown
from ollama_kit.server.refusals import refusal

ERROR_BODY_LIMIT_BYTES = 2**20
LIMITS = httpx.Limits(max_connections=32, max_keepalive_connections=8, keepalive_expiry=30)
OPENED = ("connect_tcp.complete", "start_tls.complete")
"""Endings of the events in httpcore's `trace` that report an open connection, also through a proxy."""

TLS_HINT: Hint = (
    "For a certificate from your own CA pass its file with --ca-file; for plain HTTP write http://.",
    "如果服务器证书由自建 CA 签发，请用 --ca-file 指定；如果服务器是普通 HTTP，请写 http://。",
)
NAME_HINT: Hint = ("Check the name in --host or OLLAMA_HOST.", "请检查 --host 或 OLLAMA_HOST 中的主机名。")
PROXY_HINT: Hint = (
    "The proxy comes from your settings; remove it there to connect directly.",
    "该代理来自你的设置；去掉即可直连。",
)
CUT_HINT: Hint = (
    "The server or something in between stopped; check the server's log. Nothing of this answer was kept.",
    "服务器或中间设备中断了连接，原因见服务器日志。该回答未被采用。",
)


class Transport(httpx.BaseTransport):
    """Sends one request, again where that can help; `sleep` and `jitter` (in [0, 1)) can be replaced.

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


def _dress(request: httpx.Request, connection: Connection) -> None:
    """Ours replace what a client put there: the ollama package adds OLLAMA_API_KEY whatever the host is."""
    request.headers.pop("authorization", None)
    request.headers["user-agent"] = f"ollama-kit/{__version__}"
    # A proxy that compresses the answer would buffer lines until it has a full block.
    request.headers["accept-encoding"] = "identity"
    for name, value in connection.headers.items():
        request.headers[name] = value


@contextmanager
def _ended_by_closing(sockets: Sockets, url: str) -> Iterator[None]:
    """Reports a request that `close` ended as just that: what was raised depends on where it was at the time."""
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
    """From here on the read timeout is the one between two pieces; httpcore looks it up when the body is read."""
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
    """Names the setting that httpx does not accept."""
    try:
        yield
    except (ssl.SSLError, OSError) as fault:
        raise UsageError(f"the CA file {connection.ca_file} has no readable certificates") from fault
    except ImportError as fault:
        raise UsageError(f"the proxy {proxy_shown(connection)} needs `pip install httpx[socks]`") from fault
    except (ValueError, httpx.InvalidURL) as fault:
        raise UsageError(f"the proxy {proxy_shown(connection)} cannot be used: {fault}") from fault


class Sockets:
    """The sockets that a blocking transport has open, so that another thread can end what waits on them; and how many
    requests run. `close` closes the pool they are in.

    Closing an httpx client does not do that, and is not safe: on Linux and macOS a thread that waits for bytes sleeps
    on when its socket is closed, and then waits on the next file that gets the same number. It wakes where the socket
    is shut down. So sockets are shut down, and closed once nobody reads. On Windows it is closing that wakes
    (python/cpython#91913).
    """

    def __init__(self, close: Callable[[], None]) -> None:
        self._close = close
        self._open: WeakSet[socket.socket] = WeakSet()
        self._lock = Lock()
        self._ended = Event()
        self._running = 0

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def note(self, event: str, info: Mapping[str, Any]) -> None:
        """Keeps the socket of a connection that has opened; one that opens after the end is shut down at once.
        httpcore calls it as the `trace` extension of a request."""
        if not event.endswith(OPENED):
            return
        opened = info["return_value"].get_extra_info("socket")
        if not isinstance(opened, socket.socket):
            return
        with self._lock:
            self._open.add(opened)
            if self.ended:
                _shut(opened)

    def enter(self, url: str) -> None:
        """A request begins; ServerUnreachable after the end. `leave` follows."""
        with self._lock:
            if self.ended:
                raise closed(url)
            self._running += 1

    def leave(self) -> None:
        """A request has ended."""
        with self._lock:
            self._running -= 1
            last = self.ended and not self._running
        if last:
            self._close()

    def wait(self, seconds: float) -> None:
        """Sleeps, and wakes at the end."""
        self._ended.wait(seconds)

    def end(self) -> None:
        """Makes every read end now, in whichever thread, and closes the pool after the last."""
        with self._lock:
            self._ended.set()
            for opened in self._open:
                _shut(opened)
            unused = not self._running
        if unused or os.name == "nt":
            self._close()


def _shut(opened: socket.socket) -> None:
    try:
        # Not SSLSocket's own: it takes the TLS object away from the thread that reads.
        socket.socket.shutdown(opened, socket.SHUT_RDWR)
    except OSError:  # not connected any more
        pass


@contextmanager
def translated(url: str, *, answering: bool, proxy: str = "") -> Iterator[None]:
    """Turns whatever httpx raises inside into a ServerError about `url`.

    `answering` says whether the answer has begun: then a lost connection is half an answer, before that nobody answers.
    """
    try:
        yield
    except httpx.HTTPError as fault:
        raise _error(fault, url, answering, proxy) from fault
    except (httpx.StreamError, httpx.InvalidURL) as fault:
        raise ProtocolError(f"{url}: {fault}", url=url) from fault


def closed(url: str) -> ServerUnreachable:
    """What a request raises that was ended from this side, by closing its client."""
    return ServerUnreachable(f"the request to {url} was canceled: its client was closed", url=url, hint="")


def worth_another_try(error: ServerError) -> bool:
    """Whether the same request may be sent again: the server is busy, or the connection broke before any answer.

    Nothing else: a server that refuses the connection is not running, and a timeout has cost the user enough.
    """
    if getattr(error, "retryable", False):
        return True
    return isinstance(error, ServerUnreachable) and _is_lost(error.__cause__)


def _error(fault: httpx.HTTPError, url: str, answering: bool, proxy: str) -> ServerError:
    if isinstance(fault, httpx.ConnectTimeout):
        return ServerUnreachable(f"{url}: connection timed out", url=url)
    if isinstance(fault, httpx.TimeoutException):
        what = "timed out mid-response" if answering else "timed out waiting for a response"
        return ServerTimeout(f"{url}: {what}", url=url)
    if isinstance(fault, httpx.ProxyError) or (proxy and isinstance(fault, httpx.ConnectError)):
        return ServerUnreachable(
            f"{url} could not be reached through the proxy {proxy}: {fault}", url=url, hint=PROXY_HINT
        )
    if isinstance(fault, httpx.ConnectError):
        return _not_connected(fault, url)
    if isinstance(fault, httpx.DecodingError):
        return ProtocolError(f"{url} sent an answer that cannot be decompressed: {fault}", url=url)
    if answering:
        return ProtocolError(f"the connection to {url} broke mid-response", url=url, hint=CUT_HINT)
    if _is_lost(fault):
        return ServerUnreachable(f"{url} closed the connection without an HTTP answer", url=url, hint=CUT_HINT)
    return ProtocolError(f"{url} does not speak valid HTTP: {fault}", url=url)


def _is_lost(fault: BaseException | None) -> bool:
    """Whether an open connection was lost before the answer's first line."""
    if isinstance(fault, httpx.RemoteProtocolError):
        # httpcore's words for a connection closed before a status line; its other messages are about nonsense.
        return "without sending a response" in str(fault)
    return isinstance(fault, (httpx.ReadError, httpx.WriteError, httpx.CloseError))


def _not_connected(fault: httpx.ConnectError, url: str) -> ServerUnreachable:
    root = _root(fault)
    if isinstance(root, ssl.SSLError):
        reason = getattr(root, "verify_message", "") or root.reason or str(root)
        return ServerUnreachable(f"{url}: no secure connection ({reason})", url=url, hint=TLS_HINT)
    if isinstance(root, socket.gaierror):
        return ServerUnreachable(f"{url}: the host name cannot be resolved", url=url, hint=NAME_HINT)
    if isinstance(root, ConnectionRefusedError) or "refused" in str(fault).lower():
        return ServerUnreachable(f"no server answers at {url}: connection refused", url=url)
    return ServerUnreachable(f"no server answers at {url}: {fault}", url=url)


def _root(error: BaseException) -> BaseException:
    """The first cause of an error, along `from` and along what was being handled."""
    seen = {id(error)}
    while (cause := error.__cause__ or error.__context__) is not None and id(cause) not in seen:
        error = cause
        seen.add(id(error))
    return error
