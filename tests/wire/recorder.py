"""A scripted server that keeps what it was sent, and compares it with a file of `data`, byte for byte.

A line of such a file is `{"method": …, "path": …, "body": …}`, in the order of arrival. A body of JSON stands there as
it was sent, every byte of it; `null` is an empty one; any other is named by its size and SHA-256.

What is random is pinned in the standard library, wherever it is called from (see `pinned`). Two things are put in
words, for they depend on the machine or on a library: this server's port, and the encoded bytes of images (Pillow's
PNGs differ between versions; their kind, size and pixels are kept).
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import platform
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ollama_kit import AsyncClient, Client, Settings
from ollama_kit.cli.main import main
from tests.scripted import Reply, ScriptedServer, SeenRequest, as_json, chat, empty, lines, show

DATA = Path(__file__).parent / "data"
UPDATING = bool(os.environ.get("OLLAMA_KIT_UPDATE_GOLDENS"))  # read here: a test sees no setting of the user's
CHATML = "{{- range .Messages }}<|im_start|>{{ .Role }}\n{{ .Content }}<|im_end|>\n{{ end }}<|im_start|>assistant\n"
CONTROL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
IMAGES = re.compile(rb'"images": ?\[("[A-Za-z0-9+/=]+"(?:, ?"[A-Za-z0-9+/=]+")*)\]')


def byte_vocabulary() -> dict[str, Any]:
    """The `model_info` of a tokenizer with one token a byte, so that a window is a number of bytes."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spelled = {byte: chr(byte) for byte in printable}
    for at, byte in enumerate(byte for byte in range(256) if byte not in spelled):
        spelled[byte] = chr(256 + at)
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "smollm",
        "tokenizer.ggml.tokens": [*CONTROL, *(spelled[byte] for byte in range(256))],
        "tokenizer.ggml.token_type": [3] * len(CONTROL) + [1] * 256,
        "tokenizer.ggml.merges": [],
    }


@contextmanager
def pinned() -> Iterator[None]:
    """Keys of fences, seeds and names of builds: the system's random numbers, the process and the machine are always
    the same. `secrets` draws from `random.SystemRandom`, however it was imported. (A number
    of less than its bits is below every bound of `randbelow`.)"""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(random.SystemRandom, "randbytes", lambda self, n: bytes(at % 251 + 1 for at in range(n)))
        patch.setattr(random.SystemRandom, "getrandbits", lambda self, k: 0x5EED % 2 ** max(k - 1, 0))
        patch.setattr(os, "getpid", lambda: 4242)
        patch.setattr(platform, "node", lambda: "golden")
        yield


class Wire:
    """A server whose models say what a scenario tells them to; `project` is the working folder, with `modelfiles`."""

    def __init__(self, server: ScriptedServer, project: Path) -> None:
        self.server, self.project = server, project
        # Tokenizers are kept by this name for the whole process: it must be one of this scenario's own.
        self.blob = hashlib.sha256(str(project).encode()).hexdigest()
        self.installed: dict[str, dict[str, Any]] = {}
        server.always("GET", "/api/tags", self._tags)
        server.always("POST", "/api/show", self._show)
        server.always("POST", "/api/create", self._create)
        server.always("POST", "/api/copy", self._copy)
        server.always("DELETE", "/api/delete", self._delete)
        server.always("POST", "/api/generate", lines({"response": "x", "done": True}))
        self.install("m", window=4096, system="You are terse.")

    def install(self, name: str, *, window: int = 4096, **fields: Any) -> None:
        """Puts a model on the server, or replaces it."""
        described = {"template": CHATML, "parameters": f"num_ctx {window}", "blob": self.blob, **fields}
        self.installed[f"{name}:latest"] = described

    def says(self, *answers: Any) -> None:
        """Queues the answers of the chats to come; the last one stays."""
        made = [chat(answer) if isinstance(answer, str) else answer for answer in answers]
        self.server.on("POST", "/api/chat", *made[:-1])
        self.server.always("POST", "/api/chat", made[-1])

    def file(self, name: str, content: str | bytes) -> Path:
        """A file in the project's folder."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def client(self, **how: Any) -> Client:
        return Client(Settings(host=self.server.url), **how)

    def awaited(self) -> AsyncClient:
        return AsyncClient(Settings(host=self.server.url))

    def run(self, *arguments: str | Path, code: int = 0) -> None:
        """A command of `ollama-kit`, in this process."""
        ended = main([*map(str, arguments), "--host", self.server.url])
        assert ended == code, f"{arguments} ended with {ended}"

    def recorded(self) -> bytes:
        assert not self.server.unexpected
        return b"".join(map(self._line, self.server.requests))

    def _line(self, seen: SeenRequest) -> bytes:
        head = f'{{"method": {json.dumps(seen.method)}, "path": {json.dumps(seen.target)}, "body": '.encode()
        return head + self._body(seen.body) + b"}\n"

    def _body(self, body: bytes) -> bytes:
        if not body:
            return b"null"
        try:
            json.loads(body)
        except ValueError:
            return json.dumps(f"{len(body)} bytes, sha256 {hashlib.sha256(body).hexdigest()}").encode()
        assert b"\n" not in body
        body = body.replace(self.server.url.encode(), b"http://server").replace(self.blob.encode(), b"<blob>")
        return IMAGES.sub(lambda found: b'"images":[%s]' % b",".join(map(_pixels, found[1].split(b","))), body)

    # -- the server's side

    def _tags(self, seen: SeenRequest) -> Reply:
        head = {"modified_at": "2026-01-01T00:00:00Z", "size": 1000}
        return as_json(
            {"models": [{"name": name, "model": name, "digest": self._digest(name), **head} for name in self.installed]}
        )

    def _digest(self, name: str) -> str:
        """The jobs make their seeds of it: it says what the model is, and not where this scenario runs."""
        kept = json.dumps(self.installed[name], sort_keys=True).replace(self.blob, "")
        return hashlib.sha256(kept.encode()).hexdigest()

    def _show(self, seen: SeenRequest) -> Reply:
        kept = self.installed.get(_full(seen.json["model"]))
        if kept is None:
            return as_json({"error": f"model '{seen.json['model']}' not found"}, 404)
        fields = {key: value for key, value in kept.items() if key != "blob"}
        modelfile = f"# Modelfile\nFROM /models/blobs/sha256-{kept['blob']}\n"
        return show(info=byte_vocabulary(), context_length=100_000, modelfile=modelfile, **fields)

    def _create(self, seen: SeenRequest) -> Reply:
        body = seen.json
        made = dict(self.installed[_full(body["from"])]) if "from" in body else {"parameters": "", "template": CHATML}
        made.update({key: body[key] for key in ("system", "template") if key in body})
        for digest in body.get("files", {}).values():
            made["blob"] = digest.removeprefix("sha256:")
        said: dict[str, Any] = dict(line.split(None, 1) for line in made["parameters"].splitlines())
        said.update(body.get("parameters", {}))
        made["parameters"] = "\n".join(
            f"{key} {one}" for key, value in said.items() for one in (value if isinstance(value, list) else [value])
        )
        self.installed[_full(body["model"])] = made
        return lines({"status": "reading model metadata"}, {"status": "success"})

    def _copy(self, seen: SeenRequest) -> Reply:
        self.installed[_full(seen.json["destination"])] = self.installed[_full(seen.json["source"])]
        return empty()

    def _delete(self, seen: SeenRequest) -> Reply:
        del self.installed[_full(seen.json["model"])]
        return empty()


@contextmanager
def recording(project: Path) -> Iterator[Wire]:
    """A Wire whose project is the working folder."""
    (project / "modelfiles").mkdir()
    with pytest.MonkeyPatch.context() as patch, pinned(), ScriptedServer() as server:
        patch.chdir(project)
        yield Wire(server, project)


def compare(name: str, recorded: bytes) -> None:
    """Fails where the requests differ from the file of that name; where goldens are updated, it is written first."""
    golden = DATA / f"{name}.jsonl"
    old = golden.read_bytes() if golden.exists() else b""
    if UPDATING and old != recorded:
        golden.parent.mkdir(exist_ok=True)
        golden.write_bytes(recorded)
        pytest.fail(f"{golden.name} was written anew: look at it")
    if old == recorded:
        return
    at = next((at for at, (was, now) in enumerate(zip(old, recorded, strict=False)) if was != now), None)
    at = min(len(old), len(recorded)) if at is None else at
    line, shown = old[:at].count(b"\n") + 1, slice(max(0, at - 60), at + 60)
    was, now = (text[shown].decode(errors="replace") for text in (old, recorded))
    pytest.fail(f"{golden.name}, line {line}, differs\n  was: {was!r}\n  now: {now!r}", pytrace=False)


def _full(name: str) -> str:
    return name if ":" in name else f"{name}:latest"


def _pixels(quoted: bytes) -> bytes:
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(quoted.strip(b' "'), validate=True)))
    pixels = hashlib.sha256(picture.tobytes()).hexdigest()
    return f'"{picture.format} {picture.mode} {picture.width}x{picture.height} {pixels}"'.encode()
