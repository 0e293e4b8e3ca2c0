"""Model specs: what a developer says about a model, loaded, inherited, overridden and checked."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ollama_kit.specs.model import SPEC_VERSION, Message, ModelSpec

if TYPE_CHECKING:
    from ollama_kit.specs.keys import looks_like_path
    from ollama_kit.specs.layers import find_spec, spec_names
    from ollama_kit.specs.load import load_spec

__all__ = ["SPEC_VERSION", "Message", "ModelSpec", "find_spec", "load_spec", "looks_like_path", "spec_names"]

_HOMES = {"looks_like_path": "keys", "find_spec": "layers", "spec_names": "layers", "load_spec": "load"}


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
