"""Structured output: a schema checked, its grammar-safe part, JSON found in a reply, validation, words for a retry.

Public names load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.structured.derivation import Addition as Addition, Loss as Loss
    from ollama_kit.structured.find import (
        Found as Found,
        NotFound as NotFound,
        find_json as find_json,
    )
    from ollama_kit.structured.partial import PartialJSON as PartialJSON
    from ollama_kit.structured.schema import Schema as Schema, load_schema as load_schema
    from ollama_kit.structured.thinking import strip_thinking as strip_thinking
    from ollama_kit.structured.validation import (
        Problem as Problem,
        failing_part as failing_part,
        feedback as feedback,
        feedback_on_no_json as feedback_on_no_json,
        validate as validate,
    )
else:
    __getattr__, __dir__ = exports(__name__)
