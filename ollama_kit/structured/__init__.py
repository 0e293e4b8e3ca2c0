"""Structured output: a schema checked, its grammar-safe part, JSON found in a reply, validation, words for a retry.

Public names load on first use. `validate` and `feedback` are the functions of the modules of the same name.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.structured.derivation import Addition as Addition
    from ollama_kit.structured.derivation import Loss as Loss
    from ollama_kit.structured.feedback import failing_part as failing_part
    from ollama_kit.structured.feedback import feedback_on_no_json as feedback_on_no_json
    from ollama_kit.structured.find import Found as Found
    from ollama_kit.structured.find import NotFound as NotFound
    from ollama_kit.structured.find import find_json as find_json
    from ollama_kit.structured.find import strip_thinking as strip_thinking
    from ollama_kit.structured.partial import PartialJSON as PartialJSON
    from ollama_kit.structured.schema import Schema as Schema
    from ollama_kit.structured.schema import load_schema as load_schema
    from ollama_kit.structured.validate import Problem as Problem

_HOMES = {
    "Addition": "derivation",
    "Loss": "derivation",
    "failing_part": "feedback",
    "feedback_on_no_json": "feedback",
    "Found": "find",
    "NotFound": "find",
    "find_json": "find",
    "strip_thinking": "find",
    "PartialJSON": "partial",
    "Schema": "schema",
    "load_schema": "schema",
    "Problem": "validate",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
