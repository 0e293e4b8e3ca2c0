"""The guarded calls: `Client` blocks, `AsyncClient` awaits, and both drive the same flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.client.async_client import AsyncClient as AsyncClient
    from ollama_kit.client.client import Client as Client
    from ollama_kit.client.drive import Delta as Delta, Partial as Partial, Restart as Restart
    from ollama_kit.client.embedding import Embeddings as Embeddings
    from ollama_kit.guard.exchange import Result as Result
else:
    __getattr__, __dir__ = exports(__name__)
