"""A model's own tokenizer rebuilt from its metadata, its chat template rendered, and prompts counted before sending."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.tokens.store import load_tokenizer
    from ollama_kit.tokens.tokenizer import Tokenizer
    from ollama_kit.tokens.vocabulary import tokenizer_family

__all__ = ["Tokenizer", "load_tokenizer", "tokenizer_family"]

_WHERE = {
    "Tokenizer": "ollama_kit.tokens.tokenizer",
    "load_tokenizer": "ollama_kit.tokens.store",
    "tokenizer_family": "ollama_kit.tokens.vocabulary",
}


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_WHERE[name]), name)
