"""What httpx and the sockets below it raise, as our errors: one context manager round a request and its stream."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import httpx

from ollama_kit.errors import Hint, ProtocolError, ServerError, ServerTimeout, ServerUnreachable

TLS_HINT: Hint = (
    "For a certificate of your own authority name its file with --ca-file; for plain HTTP write http://.",
    "如果服务器证书由自建 CA 签发,请用 --ca-file 指定;如果服务器是普通 HTTP,请写 http://。",
)
NAME_HINT: Hint = ("Check the name in --host or OLLAMA_HOST.", "请检查 --host 或 OLLAMA_HOST 中的主机名。")
PROXY_HINT: Hint = (
    "The proxy is the one from your settings; leave it out to connect directly.",
    "该代理来自你的设置;去掉即可直连。",
)
CUT_HINT: Hint = (
    "The server or something between stopped; its log says why. Nothing of this answer was kept.",
    "服务器或中间设备中断了连接,原因见服务器日志。该回答未被采用。",
)


@contextmanager
def translated(url: str, *, answering: bool, proxy: str = "") -> Iterator[None]:
    """Turns whatever httpx raises inside into a ServerError about `url`.

    `answering` says whether the answer has begun: a lost connection is then half an answer, before it nobody there.
    """
    try:
        yield
    except httpx.HTTPError as fault:
        raise _error(fault, url, answering, proxy) from fault
    except (httpx.StreamError, httpx.InvalidURL) as fault:
        raise ProtocolError(f"{url}: {fault}", url=url) from fault


def closed(url: str) -> ServerUnreachable:
    """What a request raises that was ended from this side, by closing its client."""
    return ServerUnreachable(f"the request to {url} was ended: its client was closed", url=url, hint="")


def worth_another_try(error: ServerError) -> bool:
    """Whether the same request may be sent again: the server is busy, or the connection broke before any answer.

    Nothing else: a server that refuses the connection is not there, and a timeout has cost the user enough.
    """
    if getattr(error, "retryable", False):
        return True
    return isinstance(error, ServerUnreachable) and _is_lost(error.__cause__)


def _error(fault: httpx.HTTPError, url: str, answering: bool, proxy: str) -> ServerError:
    if isinstance(fault, httpx.ConnectTimeout):
        return ServerUnreachable(f"{url} did not take the connection in time", url=url)
    if isinstance(fault, httpx.TimeoutException):
        what = "stopped in the middle of its answer" if answering else "did not answer in time"
        return ServerTimeout(f"{url} {what}", url=url)
    if isinstance(fault, httpx.ProxyError) or (proxy and isinstance(fault, httpx.ConnectError)):
        return ServerUnreachable(
            f"{url} could not be reached through the proxy {proxy}: {fault}", url=url, hint=PROXY_HINT
        )
    if isinstance(fault, httpx.ConnectError):
        return _not_connected(fault, url)
    if isinstance(fault, httpx.DecodingError):
        return ProtocolError(f"{url} sent an answer that cannot be unpacked: {fault}", url=url)
    if answering:
        return ProtocolError(f"the connection to {url} broke in the middle of its answer", url=url, hint=CUT_HINT)
    if _is_lost(fault):
        return ServerUnreachable(f"{url} closed the connection without an HTTP answer", url=url, hint=CUT_HINT)
    return ProtocolError(f"{url} does not speak HTTP as it should: {fault}", url=url)


def _is_lost(fault: BaseException | None) -> bool:
    """Whether a connection that stood was lost before the answer's first line."""
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
