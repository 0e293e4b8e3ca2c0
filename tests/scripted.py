"""A local HTTP server that says exactly what a test tells it to: Ollama's wire format, and every way to break it.

    with ScriptedServer() as server:
        server.on("POST", "/api/chat", error(503, "server busy"), chat("hello"))    # one answer a call, in this order
        server.always("POST", "/api/show", show(context_length=4096))              # for every call without a queued one
        ... Server.at(server.url, {}) ...
        assert server.calls == [("POST", "/api/chat"), ("POST", "/api/chat")]
        assert server.seen("POST", "/api/chat")[0].json["model"] == "m"

/api/version and /api/tags answer by themselves; anything else that was not scripted gets Ollama's own
`404 page not found` and is listed in `unexpected`. Nothing sleeps: what must wait waits for an event.
"""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from functools import partial
from http.client import responses
from typing import Any
from urllib.parse import urlsplit

from tests.answers import (
    CLOSE,
    HANG,
    RESET,
    Answer,
    Do,
    Fault,
    Framing,
    Part,
    Reply,
    SeenRequest,
    Wait,
    as_json,
    bodies,
    chat,
    chat_values,
    closed,
    create_ok,
    empty,
    error,
    html,
    lines,
    raw,
    reset,
    show,
    silent,
    tags,
    text,
    trickle,
)

__all__ = [
    "ScriptedServer",
    "CLOSE",
    "HANG",
    "RESET",
    "Answer",
    "Do",
    "Fault",
    "Framing",
    "Part",
    "Reply",
    "SeenRequest",
    "Wait",
    "as_json",
    "bodies",
    "chat",
    "chat_values",
    "closed",
    "create_ok",
    "empty",
    "error",
    "html",
    "lines",
    "raw",
    "reset",
    "show",
    "silent",
    "tags",
    "text",
    "trickle",
]

HANG_LIMIT_S = 30.0
"""How long a Wait waits at most: a test that forgot to set its event fails instead of hanging."""


class ScriptedServer:
    """Listens on a free loopback port between `with` and its end; see the module's docstring."""

    def __init__(
        self,
        *,
        version: str = "0.9.3",
        models: Sequence[str] = (),
        prefix: str = "",
        certificate: tuple[str, str] | None = None,
    ) -> None:
        """`certificate` is (certificate file, key file) and makes it speak TLS."""
        self.prefix = prefix
        self.requests: list[SeenRequest] = []
        self.unexpected: list[tuple[str, str]] = []
        self.handler_errors: list[BaseException] = []
        self._queued: dict[tuple[str, str], deque[Answer]] = defaultdict(deque)
        self._always: dict[tuple[str, str], Answer] = {
            ("GET", "/api/version"): as_json({"version": version}),
            ("GET", "/api/tags"): tags(*models),
        }
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._connections: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._connection_count = 0
        self._tls: ssl.SSLContext | None = None
        if certificate:
            self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self._tls.load_cert_chain(*certificate)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]

    @property
    def url(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}{self.prefix}"

    @property
    def calls(self) -> list[tuple[str, str]]:
        """(method, path) of every request so far, in order of arrival."""
        with self._lock:
            return [(seen.method, seen.path) for seen in self.requests]

    @property
    def connection_count(self) -> int:
        """How many connections were opened so far."""
        return self._connection_count

    def on(self, method: str, path: str, *answers: Answer) -> None:
        """Queues answers for a method and path: each call takes the next one."""
        with self._lock:
            self._queued[method, path].extend(answers)

    def always(self, method: str, path: str, answer: Answer) -> None:
        """The answer of every call of that method and path for which none is queued."""
        with self._lock:
            self._always[method, path] = answer

    def seen(self, method: str, path: str) -> list[SeenRequest]:
        """The requests of one kind so far."""
        with self._lock:
            return [seen for seen in self.requests if (seen.method, seen.path) == (method, path)]

    def left(self) -> list[tuple[str, str]]:
        """What was queued and never asked for."""
        with self._lock:
            return [key for key, queue in self._queued.items() for _ in queue]

    def __enter__(self) -> ScriptedServer:
        self._start(self._accept)
        return self

    def __exit__(self, *error: object) -> None:
        self._stopping.set()
        # A listener's accept() ends by itself only on some systems; a connection of our own ends it on all.
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
        except OSError:
            pass
        self._listener.close()
        with self._lock:
            open_ones = list(self._connections)
        for connection in open_ones:
            _quietly(partial(connection.shutdown, socket.SHUT_RDWR))
        for thread in self._threads:
            thread.join(timeout=10)
        if error[0] is None and self.handler_errors:
            raise AssertionError("the scripted server itself failed") from self.handler_errors[0]

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            if self._stopping.is_set():
                connection.close()
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._connection_count += 1
            with self._lock:
                self._connections.add(connection)
            self._start(self._serve, connection, self._connection_count)

    def _serve(self, connection: socket.socket, number: int) -> None:
        plain = connection
        try:
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True)
                with self._lock:
                    self._connections.discard(plain)
                    self._connections.add(connection)
            reader = connection.makefile("rb")
            if not reader.peek(1)[:1].isalpha():  # a TLS greeting, say: answered as Go's server does
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request")
                return
            while not self._stopping.is_set():
                seen = _read_request(reader, self.prefix, number)
                if seen is None or not self._answer(connection, seen):
                    break
        except OSError:  # the client went away: what it left is in hung_up
            pass
        except Exception as failure:  # noqa: BLE001 -- shown by the test at the end of the block
            self.handler_errors.append(failure)
            # Its frames hold the reader: closing alone would leave the client waiting.
            _quietly(partial(connection.shutdown, socket.SHUT_RDWR))
        finally:
            with self._lock:
                self._connections.discard(connection)
            _quietly(connection.close)

    def _answer(self, connection: socket.socket, seen: SeenRequest) -> bool:
        """Sends the answer to one request; False where the connection is not to be used again."""
        key = (seen.method, seen.path)
        with self._lock:
            self.requests.append(seen)
            queue = self._queued.get(key)
            answer = queue.popleft() if queue else self._always.get(key)
            if answer is None:
                self.unexpected.append(key)
                answer = text("404 page not found", 404)
        reply = answer(seen) if callable(answer) else answer
        try:
            return self._send(connection, seen, reply)
        except OSError:
            seen.hung_up.set()
            return False

    def _send(self, connection: socket.socket, seen: SeenRequest, reply: Reply) -> bool:
        if reply.framing != "raw":
            connection.sendall(_head(reply))
        body = seen.method != "HEAD"
        for part in reply.parts:
            if isinstance(part, bytes):
                if part and body:
                    connection.sendall(_chunk(part) if reply.framing == "chunked" else part)
            elif isinstance(part, Wait):
                part.event.wait(HANG_LIMIT_S)
            elif isinstance(part, Do):
                part.action()
            else:
                _break(connection, part, seen)
                return False
        if reply.framing == "chunked" and body:
            connection.sendall(b"0\r\n\r\n")
        return reply.keep_alive and reply.framing in ("length", "chunked")


def _head(reply: Reply) -> bytes:
    head = [f"HTTP/1.1 {reply.status} {responses.get(reply.status, 'Unknown')}"]
    head += [f"{name}: {value}" for name, value in reply.headers]
    if reply.framing == "length":
        head.append(f"Content-Length: {sum(len(part) for part in reply.parts if isinstance(part, bytes))}")
    elif reply.framing == "chunked":
        head.append("Transfer-Encoding: chunked")
    if not reply.keep_alive or reply.framing == "close":
        head.append("Connection: close")
    return ("\r\n".join(head) + "\r\n\r\n").encode("latin-1")


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _break(connection: socket.socket, fault: Fault, seen: SeenRequest) -> None:
    if fault == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif fault == "hang":
        while connection.recv(65536):
            pass
        seen.hung_up.set()


def _read_request(reader: Any, prefix: str, number: int) -> SeenRequest | None:
    """The next request of a connection, None at its end."""
    start = reader.readline().decode("latin-1").split()
    if len(start) != 3:
        return None
    headers: dict[str, str] = {}
    while (line := reader.readline().decode("latin-1").strip()) != "":
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    body = _read_chunks(reader) if "chunked" in headers.get("transfer-encoding", "") else b""
    if "content-length" in headers:
        wanted = int(headers["content-length"])
        body = reader.read(wanted)
        if len(body) < wanted:
            return None
    path = urlsplit(start[1]).path if start[0] != "CONNECT" else start[1]
    return SeenRequest(start[0], path.removeprefix(prefix), headers, body, start[1], number)


def _read_chunks(reader: Any) -> bytes:
    pieces: list[bytes] = []
    while size := int(reader.readline().split(b";")[0] or b"0", 16):
        pieces.append(reader.read(size))
        reader.readline()
    while reader.readline().strip():
        pass
    return b"".join(pieces)


def _quietly(action: Callable[[], object]) -> None:
    try:
        action()
    except OSError:
        pass
