"""One Ollama server: where it is, what it can do, what its models are, and every call to it.

The only package that imports httpx and ollama, and only when the first call is made.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.server.async_server import AsyncServer
    from ollama_kit.server.connection import Connection, Retry, Timeouts, connect
    from ollama_kit.server.facts import InstalledModel, ModelFacts, RunningModel
    from ollama_kit.server.features import supports
    from ollama_kit.server.gguf import check_gguf
    from ollama_kit.server.host import Host, resolve_host
    from ollama_kit.server.remote_policy import require_local
    from ollama_kit.server.server import Server
    from ollama_kit.server.wire import Call

_HOMES = {
    "AsyncServer": "awaited",
    "Call": "wire",
    "Connection": "connection",
    "Host": "host",
    "InstalledModel": "facts",
    "ModelFacts": "facts",
    "Retry": "connection",
    "RunningModel": "facts",
    "Server": "session",
    "Timeouts": "connection",
    "check_gguf": "gguf",
    "connect": "connection",
    "require_local": "locality",
    "resolve_host": "host",
    "supports": "features",
}

__all__ = [
    "AsyncServer",
    "Call",
    "Connection",
    "Host",
    "InstalledModel",
    "ModelFacts",
    "Retry",
    "RunningModel",
    "Server",
    "Timeouts",
    "check_gguf",
    "connect",
    "require_local",
    "resolve_host",
    "supports",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
