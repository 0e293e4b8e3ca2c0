"""Remembers what was built from what, so that building a current model again asks the server only two things.

A receipt is a claim, never a proof: it is believed only while the server's digests are the ones it names.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ollama_kit import resources
from ollama_kit.text.encodings import write_text


@dataclass(frozen=True)
class Receipt:
    """`request` is the sha256 of the create request; `base` and `model` are digests as the server lists them."""

    request: str
    base: str
    model: str


def request_digest(body: dict[str, Any]) -> str:
    """The sha256 of what a build sends."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def find_receipt(url: str, name: str) -> Receipt | None:
    """The receipt of the last build of `name` on the server at `url`, None if there is none that can be read."""
    try:
        fields = json.loads(_path(url, name).read_text(encoding="utf-8"))
        return Receipt(**{key: str(value) for key, value in fields.items()})
    except (OSError, ValueError, TypeError, AttributeError):
        return None


def keep_receipt(url: str, name: str, receipt: Receipt) -> None:
    """Writes a receipt; that it cannot be written is no reason for a build to fail."""
    path = _path(url, name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, json.dumps(asdict(receipt)))
    except OSError:
        return


def _path(url: str, name: str) -> Path:
    key = hashlib.sha256(f"{url}\n{name}".encode()).hexdigest()[:24]
    return resources.cache_root() / "builds" / f"{key}.json"
