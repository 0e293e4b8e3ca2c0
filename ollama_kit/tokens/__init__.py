"""A model's own tokenizer rebuilt from its metadata, its chat template rendered, and prompts counted before sending."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.tokens.store import load_tokenizer as load_tokenizer
    from ollama_kit.tokens.tokenizer import Tokenizer as Tokenizer
    from ollama_kit.tokens.vocabulary import tokenizer_family as tokenizer_family
else:
    __getattr__, __dir__ = exports(__name__)
