"""Files on their way to a server: hashed once, sent from disk piece by piece, never held in memory."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ollama_kit import resources
from ollama_kit.errors import GGUFError
from ollama_kit.text.encodings import write_text
from ollama_kit.text.private_files import make_own_folder

PIECE_BYTES = 2**20

Progress = Callable[[str, int, int], None]
"""Called with (what is being done, bytes done, total bytes)."""


def quiet(what: str, done_bytes: int, total_bytes: int) -> None:
    """A Progress that shows nothing."""


@dataclass(frozen=True)
class FileContent:
    """A file as a request's body; read anew from its beginning each time, so that a request can be sent again."""

    path: Path
    size_bytes: int
    progress: Progress = quiet

    def __iter__(self) -> Iterator[bytes]:
        yield from _pieces(self.path, self.size_bytes, "uploading", self.progress)


def file_content(path: Path, progress: Progress = quiet) -> FileContent:
    """A file as it is now, ready to be sent."""
    return FileContent(path, _stat(path).st_size, progress)


@dataclass(frozen=True)
class BytesContent:
    """Bytes in memory as a request's body."""

    data: bytes
    progress: Progress = quiet

    @property
    def size_bytes(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[bytes]:
        for start in range(0, len(self.data), PIECE_BYTES):
            piece = self.data[start : start + PIECE_BYTES]
            yield piece
            self.progress("uploading", start + len(piece), len(self.data))


def digest_of_bytes(data: bytes) -> str:
    """`sha256:<hex>`, as Ollama names a blob.

    >>> digest_of_bytes(b"")[:15]
    'sha256:e3b0c442'
    """
    return "sha256:" + hashlib.sha256(data).hexdigest()


def digest_of_file(path: Path, *, progress: Progress = quiet, cache: Path | None = None) -> str:
    """`sha256:<hex>` of a file, remembered in `cache` (default: our cache folder) by path, size and change time.

    The memory is one small file a path, written beside and renamed: two processes at once both do it right.
    """
    path = path.resolve()
    before = _stat(path)
    key = {"path": str(path), "size_bytes": before.st_size, "mtime_ns": before.st_mtime_ns}
    name = hashlib.sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()[:32]
    memory = (cache or resources.cache_root()) / "digests" / f"{name}.json"
    known = _recall(memory, key)
    if known is not None:
        return known
    digest = hashlib.sha256()
    for piece in _pieces(path, before.st_size, "hashing", progress):
        digest.update(piece)
    after = _stat(path)
    if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        raise GGUFError("changed while it was being read", path=path, hint=_CHANGED)
    found = "sha256:" + digest.hexdigest()
    _remember(memory, {**key, "digest": found})
    return found


def _pieces(path: Path, size_bytes: int, what: str, progress: Progress) -> Iterator[bytes]:
    """Exactly `size_bytes` of a file; GGUFError where it has become shorter (a longer one is cut off)."""
    done_bytes = 0
    try:
        with path.open("rb") as file:
            while done_bytes < size_bytes:
                piece = file.read(min(PIECE_BYTES, size_bytes - done_bytes))
                if not piece:
                    raise GGUFError(
                        f"has shrunk to {done_bytes} of {size_bytes} bytes while being read", path=path, hint=_CHANGED
                    )
                yield piece
                done_bytes += len(piece)
                progress(what, done_bytes, size_bytes)
    except OSError as error:
        raise GGUFError(f"cannot be read: {error.strerror or error}", path=path) from error


def _stat(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise GGUFError(f"cannot be read: {error.strerror or error}", path=path) from error


def _recall(memory: Path, key: dict[str, object]) -> str | None:
    try:
        entry = json.loads(memory.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(entry, dict) or any(entry.get(name) != value for name, value in key.items()):
        return None
    digest = entry.get("digest")
    plausible = isinstance(digest, str) and digest.startswith("sha256:") and len(digest) == 71
    return digest if plausible else None


def _remember(memory: Path, entry: dict[str, object]) -> None:
    """Best effort: a cache folder that cannot be written costs time, not the build."""
    try:
        make_own_folder(memory.parent)
        write_text(memory, json.dumps(entry))
    except OSError:
        return


_CHANGED = ("Wait until the download or the copy is complete, then repeat.", "请等待下载或复制完成后重试。")
