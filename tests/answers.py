"""What a ScriptedServer can be told to say: whole answers, Ollama's own ones, and every way to break one."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal


@dataclass(frozen=True)
class SeenRequest:
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


Answer = Reply | Callable[[SeenRequest], Reply]

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
    prompt_eval_count: int | None = None,
    **last: Any,
) -> list[dict[str, Any]]:
    """The lines of a streamed chat that answers `content` in pieces of `piece` characters. `prompt_eval_count` is left
    out unless it is given: nobody here has counted."""
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
        **({} if prompt_eval_count is None else {"prompt_eval_count": prompt_eval_count}),
        "prompt_eval_duration": 500_000,
        "eval_count": max(1, len(said)),
        "eval_duration": 500_000,
        **last,
    }
    return [*({**head, "message": message, "done": False} for message in said), {**head, **end}]


def chat(content: str, **how: Any) -> Callable[[SeenRequest], Reply]:
    """A chat's answer, streamed or whole as the request asked (see `chat_values` for `how`)."""

    def answer(seen: SeenRequest) -> Reply:
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


def bodies(requests: Iterable[SeenRequest]) -> list[Any]:
    """The JSON bodies of requests."""
    return [seen.json for seen in requests]
