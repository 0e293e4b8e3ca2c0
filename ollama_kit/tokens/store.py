"""Tokenizers kept by model digest: in this process, and on disk as the metadata they are built from.

Building from the metadata takes less time than reading the `tokenizers` library's own file back, and the file holds
for every version of that library. A file names its format and the SHA-256 of what follows; anything else than a
whole file of this format counts as absent. Files are written beside, then renamed: another process sees none or all.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ollama_kit import resources
from ollama_kit.errors import ProtocolError
from ollama_kit.text.encodings import write_bytes
from ollama_kit.text.private_files import make_own_folder
from ollama_kit.tokens.tokenizer import Tokenizer
from ollama_kit.tokens.vocabulary import KEYS

FORMAT = "ollama-kit tokenizer 1"
KEPT_IN_MEMORY = 4
"""A tokenizer of 150,000 tokens takes some 100 MB."""

_loaded: OrderedDict[str, Tokenizer] = OrderedDict()
_lock = threading.Lock()


def load_tokenizer(digest: str, fetch: Callable[[], Mapping[str, Any]]) -> Tokenizer:
    """The tokenizer of the model of that digest; `fetch` (its `model_info`, verbose) is called only if none is kept.

    A cache that cannot be read or written costs time, never an answer. What `fetch` raises goes through;
    ProtocolError where what it returns holds no vocabulary.
    """
    return kept_tokenizer(digest) or keep_tokenizer(digest, fetch())


def kept_tokenizer(digest: str) -> Tokenizer | None:
    """The tokenizer that is kept for that digest, in memory or on disk; None if there is none."""
    with _lock:
        if digest in _loaded:
            _loaded.move_to_end(digest)
            return _loaded[digest]
    tokenizer = _from_disk(digest)
    return None if tokenizer is None else _remember(digest, tokenizer)


def keep_tokenizer(digest: str, info: Mapping[str, Any]) -> Tokenizer:
    """The tokenizer of `info`, kept for that digest from now on; ProtocolError where `info` has no vocabulary."""
    return _remember(digest, _kept_on_disk(digest, info))


def _remember(digest: str, tokenizer: Tokenizer) -> Tokenizer:
    with _lock:
        _loaded[digest] = tokenizer
        while len(_loaded) > KEPT_IN_MEMORY:
            _loaded.popitem(last=False)
    return tokenizer


def forget_loaded() -> None:
    """Empties the cache of this process; files stay."""
    with _lock:
        _loaded.clear()


def cache_file(digest: str) -> Path:
    """Where the tokenizer of a model is kept."""
    return resources.cache_root() / "tokenizers" / f"{hashlib.sha256(digest.encode()).hexdigest()[:32]}.json"


def _from_disk(digest: str) -> Tokenizer | None:
    try:
        header, _, body = cache_file(digest).read_bytes().partition(b"\n")
        if header != _header(body):
            return None
        return Tokenizer.from_metadata(json.loads(body))
    except (OSError, ValueError, ProtocolError):
        return None


def _kept_on_disk(digest: str, info: Mapping[str, Any]) -> Tokenizer:
    tokenizer = Tokenizer.from_metadata(info)
    kept = {key: info[key] for key in KEYS if info.get(key) is not None}
    body = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    try:
        _write(cache_file(digest), _header(body) + b"\n" + body)
    except OSError:
        pass  # a cache folder that is full or read-only must not stop the count
    return tokenizer


def _header(body: bytes) -> bytes:
    return f"{FORMAT} {hashlib.sha256(body).hexdigest()}".encode()


def _write(path: Path, content: bytes) -> None:
    make_own_folder(path.parent)
    write_bytes(path, content)
