"""What is sent to an Ollama server, as values: a `Call` goes out, JSON comes back. No socket is touched here.

A flow (a generator) yields Calls and is sent what came back; `Server` and `AsyncServer` are two ways to run one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol, TypeVar

from ollama_kit.errors import ProtocolError, ServerTimeout, UsageError

JSON = dict[str, Any]
T = TypeVar("T")
Flow = Generator["Call", JSON, T]

Pace = Literal["quick", "model", "long"]
"""Which timeouts apply: `quick` answers from memory or disk; `model` loads and generates; `long` moves files."""

End = Literal["done", "success", ""]
"""What the last line of a complete stream says: `"done": true`, `"status": "success"`, or nothing (no check)."""

LINE_LIMIT_BYTES = 64 * 2**20


class Content(Protocol):
    """A body too large for memory: read anew from its beginning each time it is iterated."""

    @property
    def size_bytes(self) -> int: ...

    def __iter__(self) -> Iterator[bytes]: ...


@dataclass(frozen=True)
class Deadline:
    """When an answer must be complete. `left_s` caps the read timeout, in seconds; `passed` is asked after each piece
    that arrives, since a trickle never runs into a read timeout."""

    left_s: float
    passed: Callable[[], bool]


@dataclass(frozen=True)
class Call:
    """One request. `path` starts with a slash, below the host's prefix; `body` is JSON or, for a blob, `content`.

    `model` is the name that a 404 would be about. `ends` says how a stream must end to be complete.
    """

    method: Literal["GET", "HEAD", "POST", "DELETE"]
    path: str
    body: Mapping[str, Any] | None = None
    stream: bool = False
    model: str = ""
    pace: Pace = "quick"
    ends: End = ""
    content: Content | None = None
    deadline: Deadline | None = field(default=None, compare=False)

    def check_time(self, url: str) -> None:
        """Returns while there is time; ServerTimeout after."""
        if self.deadline is not None and self.deadline.passed():
            raise ServerTimeout(f"{url} was still answering when the time limit of this call was reached", url=url)

    @cached_property
    def sent(self) -> bytes:
        """The JSON that is sent for `body`, made once; empty where there is none."""
        return b"" if self.body is None else encode(self.body)


def version() -> Call:
    return Call("GET", "/api/version")


def tags() -> Call:
    return Call("GET", "/api/tags")


def ps() -> Call:
    return Call("GET", "/api/ps")


def show(model: str, *, verbose: bool = False) -> Call:
    return Call("POST", "/api/show", {"model": model, "verbose": verbose}, model=model, pace="model")


def create(body: Mapping[str, Any]) -> Call:
    """`body` is /api/create's own; `stream` is set here. No `model`: a 404 would be about its base."""
    return Call("POST", "/api/create", {**body, "stream": True}, stream=True, pace="long", ends="success")


def copy(source: str, destination: str) -> Call:
    return Call("POST", "/api/copy", {"source": source, "destination": destination}, model=source)


def delete(model: str) -> Call:
    # Servers before 0.1.46 know the field as `name` only; newer ones take either.
    return Call("DELETE", "/api/delete", {"model": model, "name": model}, model=model)


def pull(model: str) -> Call:
    return Call("POST", "/api/pull", {"model": model, "stream": True}, stream=True, pace="long", ends="success")


def blob_exists(digest: str) -> Call:
    return Call("HEAD", f"/api/blobs/{digest}")


def blob(digest: str, content: Content) -> Call:
    return Call("POST", f"/api/blobs/{digest}", content=content, pace="long")


def chat(body: Mapping[str, Any]) -> Call:
    """A chat; streamed unless `body` says `"stream": false` (Ollama's own default)."""
    return _inference("/api/chat", body)


def render(body: Mapping[str, Any]) -> Call:
    """A chat whose prompt is asked for, not its answer (0.11.5 and later). A server that does not know the question
    answers with one token."""
    options = {**body.get("options", {}), "num_predict": 1}
    sent = {**body, "options": options, "stream": False, "_debug_render_only": True}
    return Call("POST", "/api/chat", sent, model=str(body.get("model", "")), pace="model")


def rendered(reply: JSON) -> str | None:
    """The prompt in a reply to `render`; None where there is none."""
    info = reply.get("_debug_info")
    text = info.get("rendered_template") if isinstance(info, dict) else None
    return text if isinstance(text, str) else None


def generate(body: Mapping[str, Any]) -> Call:
    """A generate; streamed unless `body` says `"stream": false`."""
    return _inference("/api/generate", body)


def embed(model: str, texts: Iterable[str], *, options: Mapping[str, Any] | None = None) -> Call:
    body: JSON = {"model": model, "input": list(texts), **({"options": dict(options)} if options else {})}
    return Call("POST", "/api/embed", body, model=model, pace="model")


def unload(model: str) -> Call:
    return Call("POST", "/api/generate", {"model": model, "keep_alive": 0, "stream": False}, model=model, pace="model")


def _inference(path: str, body: Mapping[str, Any]) -> Call:
    stream = body.get("stream", True) is not False
    sent = {**body, "stream": stream}
    return Call("POST", path, sent, stream=stream, model=str(body.get("model", "")), pace="model", ends="done")


def encode(body: Mapping[str, Any]) -> bytes:
    """UTF-8 JSON, not escaped; a lone surrogate (JSON has it, UTF-8 does not) is sent as its escape.

    UsageError for what JSON cannot express: NaN, infinity, other objects.
    """
    try:
        text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        try:
            return text.encode("utf-8")
        except UnicodeEncodeError:
            return json.dumps(body, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the request contains a value that JSON cannot express: {error}") from error


def decode(body: bytes, *, url: str) -> JSON:
    """The JSON object in `body`; an empty body (copy, delete, blobs) is an empty one. ProtocolError otherwise."""
    if not body.strip():
        return {}
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"{url} answered {excerpt(body)}, which is not JSON", url=url) from error
    if not isinstance(value, dict):
        raise ProtocolError(f"{url} answered {excerpt(body)} where a JSON object was expected", url=url)
    return value


def check_types(value: JSON, *, url: str) -> JSON:
    """`value` itself, if the fields of a chat or generate line have their types (or are null); else ProtocolError.

    So whoever reads a line may take `message.content` for text and `prompt_eval_count` for a number.
    """
    _check_fields(value, LINE_TYPES, "", url)
    message = value.get("message")
    if message is not None:
        _check_fields(message, MESSAGE_TYPES, "message.", url)
    return value


LINE_TYPES: Mapping[str, type] = {
    "message": dict, "response": str, "thinking": str, "done": bool, "done_reason": str,
    "prompt_eval_count": int, "eval_count": int, "total_duration": int, "load_duration": int,
    "prompt_eval_duration": int, "eval_duration": int, "context": list,
}  # fmt: skip
MESSAGE_TYPES: Mapping[str, type] = {"role": str, "content": str, "thinking": str, "tool_calls": list}


def _check_fields(value: JSON, types: Mapping[str, type], where: str, url: str) -> None:
    for name, kind in types.items():
        found = value.get(name)
        # A bool is an int to Python, not to Ollama.
        if found is not None and (not isinstance(found, kind) or (kind is int and isinstance(found, bool))):
            raise ProtocolError(f"{url} answered with {where}{name} = {found!r:.80}, not {kind.__name__}", url=url)


def is_end(call: Call, value: JSON) -> bool:
    """Whether a line, or a whole reply, says that the answer is complete; True where a call has no such mark."""
    if call.ends == "done":
        return value.get("done") is True
    return call.ends == "" or value.get("status") == "success"


def unfinished(call: Call, url: str) -> ProtocolError:
    """The error for an answer that stopped before it said that it was complete."""
    wanted = '"done": true' if call.ends == "done" else '"status": "success"'
    return ProtocolError(
        f"{url} ended its answer without {wanted}: it is incomplete",
        url=url,
        hint=(
            "The server stopped mid-response; check its log. Nothing of this answer was kept.",
            "服务器中途停止，原因见其日志。该回答未被采用。",
        ),
    )


def excerpt(body: bytes) -> str:
    """What came, for a message: an HTML page by its title, anything else by its first 80 characters.

    >>> excerpt(b"<!DOCTYPE html><html><head><title>Sign in</title></head></html>")
    "an HTML page titled 'Sign in'"
    """
    text = body[:65536].decode("utf-8", "replace").strip()
    if is_html(body):
        lowered = text.lower()
        start, end = lowered.find("<title>"), lowered.find("</title>")
        title = " ".join(text[start + 7 : end].split())[:80] if 0 <= start < end else ""
        return f"an HTML page titled {title!r}" if title else "an HTML page"
    return repr(text[:80] + ("…" if len(text) > 80 else "")) if text else "nothing"


def is_html(body: bytes) -> bool:
    """Whether a body is a page made for a browser.

    >>> is_html(b'<html>'), is_html(b'{"error": "<html>"}')
    (True, False)
    """
    start = body.lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower()
    return start.startswith((b"<!", b"<?xml", b"<html", b"<head", b"<body", b"<title", b"<h1", b"<center"))


class Lines:
    """Cuts a stream of bytes into JSON objects, one per line, as they become complete.

    Lines end at LF alone: U+2028 and the like are text inside a JSON string.
    """

    def __init__(self, call: Call, *, url: str) -> None:
        self._call, self._url = call, url
        self._pending: list[bytes] = []
        self._pending_bytes = self._blank_bytes = 0
        self._complete = call.ends == ""

    def feed(self, data: bytes) -> Iterator[JSON]:
        """The objects that `data` completes; an error line is yielded as it came (see `refusals.check_line`)."""
        if not self._pending and not data.strip():  # endless whitespace is counted, not cut into lines
            self._blank_bytes, data = self._blank_bytes + len(data), b""
        *whole, rest = data.split(b"\n")
        for index, piece in enumerate(whole):
            line = b"".join((*self._pending, piece))
            self._pending, self._pending_bytes = [], 0
            if is_html(line):  # an error either way: it names the page's title, which is in a later line
                line = b"\n".join((line, *whole[index + 1 :], rest))
            if line.strip():
                self._blank_bytes = 0
                yield self._parse(line)
        if rest:
            self._pending.append(rest)
            self._pending_bytes += len(rest)
        if max(self._pending_bytes, self._blank_bytes) > LINE_LIMIT_BYTES:
            raise ProtocolError(f"{self._url} sent a line of more than {LINE_LIMIT_BYTES} bytes", url=self._url)

    def close(self) -> Iterator[JSON]:
        """What is left after the last line end; then ProtocolError if the stream never said that it was complete."""
        line = b"".join(self._pending)
        self._pending = []
        if line.strip():
            yield self._parse(line)
        if not self._complete:
            raise unfinished(self._call, self._url)

    def _parse(self, line: bytes) -> JSON:
        value = decode(line, url=self._url)
        self._complete = self._complete or is_end(self._call, value)
        return value


def run(flow: Flow[T], answers: Iterable[JSON]) -> tuple[T, list[Call]]:
    """(what a flow returns, the Calls it made) when it is given `answers` in turn: how tests read a flow."""
    calls: list[Call] = []
    remaining = iter(answers)
    try:
        call = next(flow)
        while True:
            calls.append(call)
            call = flow.send(next(remaining))
    except StopIteration as stop:
        return stop.value, calls
