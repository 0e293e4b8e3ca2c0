"""The few requests that put a model on an Ollama server, over http.client: no proxy is ever asked.

Scaffolding has its own client, so that a fault in `ollama_kit.server` cannot hide in the tests' set-up.
"""

from __future__ import annotations

import hashlib
import http.client
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.realserver.install import RealServerError

TIMEOUT_S = 300.0


def request(url: str, method: str, path: str, body: Any = None, *, timeout_s: float = TIMEOUT_S) -> tuple[int, bytes]:
    """Status and body of one request. A Path is sent as that file's bytes, anything else as JSON."""
    where = urlsplit(url)
    connection = http.client.HTTPConnection(where.hostname or "127.0.0.1", where.port, timeout=timeout_s)
    try:
        if isinstance(body, Path):
            with body.open("rb") as file:
                connection.request(method, path, file, {"Content-Length": str(body.stat().st_size)})
                answer = connection.getresponse()
        else:
            payload = None if body is None else json.dumps(body).encode()
            connection.request(method, path, payload, {"Content-Type": "application/json"})
            answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def call(url: str, method: str, path: str, body: Any = None) -> Any:
    """The parsed answer of a request that must succeed; the last object where the answer is a stream."""
    status, raw = request(url, method, path, body)
    lines = [json.loads(line) for line in raw.splitlines() if line.strip()]
    failed = [line["error"] for line in lines if isinstance(line, dict) and "error" in line]
    if status >= 400 or failed:
        raise RealServerError(f"{method} {path} → {status}: {failed or raw[:500]!r}")
    return lines[-1] if lines else None


def model_names(url: str) -> set[str]:
    """The names on the server, each with its tag."""
    return {str(model["name"]) for model in call(url, "GET", "/api/tags")["models"]}


def upload(url: str, path: Path) -> str:
    """The digest of a file, `sha256:…`, whose bytes the server then holds."""
    with path.open("rb") as file:
        digest = "sha256:" + _sha256(file)
    status, _ = request(url, "HEAD", f"/api/blobs/{digest}")
    if status != 200:
        call(url, "POST", f"/api/blobs/{digest}", path)
    return digest


def create(url: str, name: str, gguf: Path, **fields: Any) -> None:
    """Creates `name` from a GGUF file; `fields` go into the request as they are (`template`, `parameters`)."""
    body: Mapping[str, Any] = {"model": name, "files": {gguf.name: upload(url, gguf)}, **fields}
    last = call(url, "POST", "/api/create", body)
    if last.get("status") != "success":
        raise RealServerError(f"creating {name} from {gguf.name} ended with {last}")


def ensure(url: str, name: str, gguf: Path, **fields: Any) -> str:
    """The name of a model that the server has afterwards, created first if it is not there."""
    if (name if ":" in name else f"{name}:latest") not in model_names(url):
        create(url, name, gguf, **fields)
    return name


def _sha256(file: Any) -> str:
    digest = hashlib.sha256()
    while chunk := file.read(1 << 20):
        digest.update(chunk)
    return digest.hexdigest()
