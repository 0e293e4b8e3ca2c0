"""The context window of a model's calls: one num_ctx, and who set it."""

from __future__ import annotations

from ollama_kit.server.facts import ModelFacts
from ollama_kit.specs.model import ModelSpec

DEFAULT_CONTEXT_TOKENS = 8192


def window(facts: ModelFacts, spec: ModelSpec | None = None) -> tuple[int, str]:
    """num_ctx for a model and where it comes from: the spec, else the model's own parameter, else 8192; never above
    the context the model was trained on, where the server would clip it."""
    own = facts.parameters.get("num_ctx")
    if spec is not None and spec.context is not None:
        wanted, origin = spec.context, f"spec {spec.name}"
    elif isinstance(own, int):
        wanted, origin = own, "the model's num_ctx"
    else:
        wanted, origin = DEFAULT_CONTEXT_TOKENS, "default"
    trained = facts.context_length
    if trained and wanted > trained:
        return trained, f"{origin}, clipped to the trained context"
    return wanted, origin
