"""The guarded calls: `Client` blocks, `AsyncClient` awaits, and both drive the same flow."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.client.async_client import AsyncClient
    from ollama_kit.client.client import Client
    from ollama_kit.client.embedding import Embeddings
    from ollama_kit.client.streaming import Delta, Partial, Restart
    from ollama_kit.guard.exchange import Result

__all__ = ["AsyncClient", "Client", "Delta", "Embeddings", "Partial", "Restart", "Result"]

_HOMES = {
    "AsyncClient": "ollama_kit.client.async_client",
    "Client": "ollama_kit.client.client",
    "Delta": "ollama_kit.client.streaming",
    "Embeddings": "ollama_kit.client.embedding",
    "Partial": "ollama_kit.client.streaming",
    "Restart": "ollama_kit.client.streaming",
    "Result": "ollama_kit.guard.exchange",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
