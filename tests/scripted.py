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

import json
import socket
import ssl
import struct
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from http.client import responses
from typing import Any, Literal
from urllib.parse import urlsplit

HANG_LIMIT_S = 30.0
"""How long a Wait waits at most: a test that forgot to set its event fails instead of hanging."""


@dataclass(frozen=True)
class Seen:
    """One request as it arrived. `path` without the query; header names in lower case.

    `hung_up` is set when the client closed the connection before it had the whole answer.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    target: str = ""
    connection: int = 0
    hung_up: threading.Event = field(default_factory=threading.Event, compare=False, repr=False)

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Wait:
    """A part of an answer: go on once the event is set."""

    event: threading.Event


@dataclass(frozen=True)
class Do:
    """A part of an answer: call this, send nothing."""

    action: Callable[[], object]


Fault = Literal["reset", "close", "hang"]
"""reset: RST, as when a machine goes down. close: a clean end too early. hang: silence until the client leaves."""

RESET: Fault = "reset"
CLOSE: Fault = "close"
HANG: Fault = "hang"

Part = bytes | Wait | Do | Fault
Framing = Literal["length", "chunked", "close", "raw"]


@dataclass(frozen=True)
class Reply:
    """One answer. Each bytes part is one write on the wire. `framing`: Content-Length, chunks, until the connection
    closes, or `raw` (the parts are all there is: no status line, no headers)."""

    status: int = 200
    parts: tuple[Part, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    framing: Framing = "length"
    keep_alive: bool = True

    def then(self, *parts: Part) -> Reply:
        """This answer with more parts at its end, chunked so that its length need not be known."""
        framing: Framing = "chunked" if self.framing == "length" else self.framing
        return replace(self, parts=(*self.parts, *parts), framing=framing)

    def before(self, *parts: Part) -> Reply:
        """This answer with its body held back by `parts` (the header goes out first)."""
        return replace(self, parts=(*parts, *self.parts))


Answer = Reply | Callable[[Seen], Reply]

# -- answers


def as_json(value: Any, status: int = 200) -> Reply:
    """A JSON body."""
    body = json.dumps(value, ensure_ascii=False).encode()
    return Reply(status, (body,), (("Content-Type", "application/json; charset=utf-8"),))


def error(status: int, message: str) -> Reply:
    """An error as Ollama says it: a status and `{"error": …}`."""
    return as_json({"error": message}, status)


def lines(*values: Any) -> Reply:
    """A stream of JSON lines, one chunk each."""
    parts = tuple(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)
    return Reply(200, parts, (("Content-Type", "application/x-ndjson"),), "chunked")


def text(body: str, status: int = 200, content_type: str = "text/plain") -> Reply:
    """A plain body."""
    return Reply(status, (body.encode(),), (("Content-Type", content_type),))


def html(title: str = "Blocked by proxy", status: int = 200) -> Reply:
    """A page, as a proxy or a login portal sends it."""
    page = f"<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><p>{title}</p></body></html>"
    return text(page, status, "text/html")


def raw(*parts: Part) -> Reply:
    """Bytes that need not be HTTP."""
    return Reply(parts=parts, framing="raw", keep_alive=False)


def empty(status: int = 200) -> Reply:
    return Reply(status)


def reset() -> Reply:
    """The connection is reset before any answer."""
    return raw(RESET)


def closed() -> Reply:
    """The connection is closed before any answer."""
    return raw(CLOSE)


def silent() -> Reply:
    """No answer at all until the client leaves."""
    return raw(HANG)


def trickle(reply: Reply, size: int = 1) -> Reply:
    """The same answer in pieces of `size` bytes, cut anywhere: inside a character, inside a line."""
    parts: list[Part] = []
    for part in reply.parts:
        if isinstance(part, bytes):
            parts += [part[start : start + size] for start in range(0, len(part), size)]
        else:
            parts.append(part)
    return replace(reply, parts=tuple(parts), framing="chunked")


def chat_values(
    content: str,
    *,
    model: str = "m",
    thinking: str = "",
    piece: int = 8,
    done_reason: str = "stop",
    prompt_eval_count: int = 10,
    **last: Any,
) -> list[dict[str, Any]]:
    """The lines of a streamed chat that answers `content` in pieces of `piece` characters."""
    head = {"model": model, "created_at": "2026-01-01T00:00:00Z"}
    said: list[dict[str, Any]] = []
    for start in range(0, len(thinking), piece):
        said.append({"role": "assistant", "content": "", "thinking": thinking[start : start + piece]})
    for start in range(0, len(content), piece):
        said.append({"role": "assistant", "content": content[start : start + piece]})
    end = {
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": done_reason,
        "total_duration": 2_000_000,
        "load_duration": 1_000_000,
        "prompt_eval_count": prompt_eval_count,
        "prompt_eval_duration": 500_000,
        "eval_count": max(1, len(said)),
        "eval_duration": 500_000,
        **last,
    }
    return [*({**head, "message": message, "done": False} for message in said), {**head, **end}]


def chat(content: str, **how: Any) -> Callable[[Seen], Reply]:
    """A chat's answer, streamed or whole as the request asked (see `chat_values` for `how`)."""

    def answer(seen: Seen) -> Reply:
        values = chat_values(content, **how)
        if seen.json.get("stream", True):
            return lines(*values)
        message: dict[str, Any] = {"role": "assistant", "content": content}
        if how.get("thinking"):
            message["thinking"] = how["thinking"]
        return as_json({**values[-1], "message": message})

    return answer


def create_ok(*statuses: str) -> Reply:
    """A create or pull that succeeds, with a line for each status before the last."""
    return lines(*({"status": status} for status in statuses or ("reading model metadata",)), {"status": "success"})


def show(
    architecture: str = "llama",
    *,
    context_length: int = 8192,
    head_count: Any = 9,
    head_count_kv: Any = 3,
    info: Mapping[str, Any] | None = None,
    **fields: Any,
) -> Reply:
    """/api/show of a small model; `info` adds to `model_info`, `fields` replaces top-level ones."""
    model_info = {
        "general.architecture": architecture,
        "general.parameter_count": 134515008,
        f"{architecture}.context_length": context_length,
        f"{architecture}.block_count": 30,
        f"{architecture}.embedding_length": 576,
        f"{architecture}.attention.head_count": head_count,
        f"{architecture}.attention.head_count_kv": head_count_kv,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        **(info or {}),
    }
    value = {
        "license": "Apache-2.0",
        "modelfile": f"# Modelfile\nFROM /models/blobs/sha256-{'a' * 64}\n",
        "parameters": "",
        "template": "{{ .Prompt }}",
        "system": "",
        "details": {"family": architecture, "parameter_size": "134.52M", "quantization_level": "Q4_1"},
        "model_info": model_info,
        "capabilities": ["completion"],
        "modified_at": "2026-01-01T00:00:00Z",
        **fields,
    }
    return as_json(value)


def tags(*names: str, digest: str = "d" * 64) -> Reply:
    """/api/tags with these models."""
    models = [
        {
            "name": name,
            "model": name,
            "modified_at": "2026-01-01T00:00:00Z",
            "size": 1000,
            "digest": digest,
            "details": {"family": "llama", "parameter_size": "134.52M", "quantization_level": "Q4_1"},
        }
        for name in names
    ]
    return as_json({"models": models})


# -- the server


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
        self.requests: list[Seen] = []
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

    def seen(self, method: str, path: str) -> list[Seen]:
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
        finally:
            with self._lock:
                self._connections.discard(connection)
            _quietly(connection.close)

    def _answer(self, connection: socket.socket, seen: Seen) -> bool:
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

    def _send(self, connection: socket.socket, seen: Seen, reply: Reply) -> bool:
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


def _break(connection: socket.socket, fault: Fault, seen: Seen) -> None:
    if fault == "reset":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    elif fault == "hang":
        while connection.recv(65536):
            pass
        seen.hung_up.set()


def _read_request(reader: Any, prefix: str, number: int) -> Seen | None:
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
    return Seen(start[0], path.removeprefix(prefix), headers, body, start[1], number)


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


def bodies(requests: Iterable[Seen]) -> list[Any]:
    """The JSON bodies of requests."""
    return [seen.json for seen in requests]
