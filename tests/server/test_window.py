"""Which num_ctx a model's calls carry, and who said so."""

from __future__ import annotations

from types import MappingProxyType

import pytest

from ollama_kit.server import ModelFacts
from ollama_kit.server.facts import window
from ollama_kit.specs.model import ModelSpec


@pytest.mark.parametrize(
    ("own", "spec", "trained", "tokens", "origin"),
    [
        (None, None, None, 8192, "default"),
        (2048, None, 4096, 2048, "the model's num_ctx"),
        (2048, 1024, 4096, 1024, "spec s"),
        (None, None, 4096, 4096, "default, clipped to the trained context"),
        (None, 9000, 4096, 4096, "spec s, clipped to the trained context"),
    ],
)
def test_the_window_and_its_origin(
    own: int | None, spec: int | None, trained: int | None, tokens: int, origin: str
) -> None:
    """The spec goes first, then the model, then 8192; what the model was trained on is the end of it."""
    parameters = MappingProxyType({} if own is None else {"num_ctx": own})
    facts = ModelFacts("m", context_length=trained, parameters=parameters)
    described = None if spec is None else ModelSpec(name="s", base="m", context=spec)
    assert window(facts, described) == (tokens, origin)
