"""ollama-kit: a local model described once, and every call to it built, bounded, guarded and checked.

    from ollama_kit import Client

    with Client() as client:
        result = client.chat("wechat-zh", "总结待办", documents=[chat], schema="todos.schema.json")

Names are loaded when they are first used: importing the package costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ollama_kit.client import AsyncClient, Client
    from ollama_kit.errors import ContextOverflow, GuardBlocked, OllamaKitError, OutputInvalid, ServerError
    from ollama_kit.guard.conversation import Document, Message
    from ollama_kit.guard.exchange import Result
    from ollama_kit.guard.images.image import ImageRules
    from ollama_kit.guard.images.prepare import prepare_image
    from ollama_kit.records.report import Report
    from ollama_kit.settings import Settings, load_settings
    from ollama_kit.specs import ModelSpec, load_spec

_HOMES = {
    "AsyncClient": "client",
    "Client": "client",
    "ContextOverflow": "errors",
    "Document": "guard.conversation",
    "GuardBlocked": "errors",
    "ImageRules": "guard.images.image",
    "Message": "guard.conversation",
    "ModelSpec": "specs",
    "OllamaKitError": "errors",
    "OutputInvalid": "errors",
    "Report": "records.report",
    "Result": "guard.exchange",
    "ServerError": "errors",
    "Settings": "settings",
    "load_settings": "settings",
    "load_spec": "specs",
    "prepare_image": "guard.images.prepare",
}

__all__ = [
    "AsyncClient",
    "Client",
    "ContextOverflow",
    "Document",
    "GuardBlocked",
    "ImageRules",
    "Message",
    "ModelSpec",
    "OllamaKitError",
    "OutputInvalid",
    "Report",
    "Result",
    "ServerError",
    "Settings",
    "load_settings",
    "load_spec",
    "prepare_image",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
