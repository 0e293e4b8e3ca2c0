"""Model specs: what a developer says about a model, loaded, inherited, overridden and checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.specs.load import find_spec as find_spec, load_spec as load_spec, spec_names as spec_names
    from ollama_kit.specs.model import (
        SPEC_VERSION as SPEC_VERSION,
        Message as Message,
        ModelSpec as ModelSpec,
        looks_like_path as looks_like_path,
    )
else:
    __getattr__, __dir__ = exports(__name__)
