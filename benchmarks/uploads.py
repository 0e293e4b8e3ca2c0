"""Hashing and uploading a file of 2 GB: the memory it takes, and that its hash is remembered."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from benchmarks.timing import in_turns, median_ratio, peak_bytes, seconds_of, verdict
from ollama_kit.server import blobs
from ollama_kit.server.server import Server

SIZE_BYTES = 2 * 10**9
SMALL_BYTES = 10**8
ROUNDS = 7
MEMORY_BYTES = 16 * 2**20
"""Far less than the file, more than the pieces and what Python's allocator rounds up to."""


def run() -> Iterable[str]:
    # In a process of its own: the peak of this one may be another benchmark's.
    arguments = [sys.executable, "-m", "benchmarks.uploads"]
    return subprocess.run(arguments, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout.splitlines()


def measured() -> Iterable[str]:
    with TemporaryDirectory(ignore_cleanup_errors=True) as name, _sink() as url, Server.at(url, {}) as server:
        folder = Path(name)
        with mock.patch.dict(os.environ, {"OLLAMA_KIT_CACHE": str(folder / "cache")}):
            small, large = _sparse(folder / "small.gguf", SMALL_BYTES), _sparse(folder / "large.gguf", SIZE_BYTES)
            server.upload_blob(small, check=False)  # what every upload needs is loaded before memory is looked at
            before = peak_bytes()
            hashed_s = seconds_of(lambda: blobs.digest_of_file(large))
            after_hash = peak_bytes()
            uploaded_s = seconds_of(lambda: server.upload_blob(large, check=False))
            after_upload = peak_bytes()
            again_s = seconds_of(lambda: blobs.digest_of_file(large))
            in_turn = in_turns({"ours": lambda: _hash_anew(small), "bare": lambda: _bare_hash(small)}, ROUNDS)
    yield _line("hashed", hashed_s)
    yield f"of {SMALL_BYTES / 1e6:.0f} MB: {median_ratio(in_turn['ours'], in_turn['bare']):.2f} x a bare read and hash"
    yield _line("uploaded", uploaded_s) + ", to a server on this machine that throws it away"
    yield f"{'hash, again':<12}{again_s * 1e3:8.2f} ms, from the cache"
    if before is None or after_hash is None or after_upload is None:
        yield "peak memory: not told on this system"
        return
    met = verdict(after_upload - before <= MEMORY_BYTES)
    yield (
        f"peak memory grew by {(after_hash - before) / 2**20:.1f} MiB for the hash and "
        f"{(after_upload - after_hash) / 2**20:.1f} MiB for the upload; target {MEMORY_BYTES / 2**20:.0f} MiB: {met}"
    )


def _line(what: str, seconds: float) -> str:
    return f"{what:<12}{seconds:8.2f} s, {SIZE_BYTES / 1e6 / seconds:.0f} MB/s"


def _sparse(path: Path, size_bytes: int) -> Path:
    """A file of that size that takes no room where the file system knows holes."""
    with path.open("wb") as file:
        file.truncate(size_bytes)
    return path


def _hash_anew(path: Path) -> str:
    with TemporaryDirectory(ignore_cleanup_errors=True) as empty_cache:
        return blobs.digest_of_file(path, cache=Path(empty_cache))


def _bare_hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(blobs.PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()


class _Sink(BaseHTTPRequestHandler):
    """Has no blob, and takes every one without keeping it."""

    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(404)

    def do_POST(self) -> None:
        left = int(self.headers["Content-Length"])
        buffer = memoryview(bytearray(2**16))
        while left:
            read = self.rfile.readinto(buffer[: min(left, len(buffer))])
            if not read:
                return
            left -= read
        self._answer(201)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *args: object) -> None:
        """Says nothing."""


@contextmanager
def _sink() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Sink) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


if __name__ == "__main__":
    for found in measured():
        print(found)
