"""Which names Ollama takes for a model, and what is suggested in the place of one that it does not."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from ollama_kit.errors import UsageError
from ollama_kit.server.model_names import check_model_name, suggested


@pytest.mark.parametrize(
    "name",
    ["m", "qwen3:8b", "me/qwen3-27b_custom:v1.0", "registry.example:5000/me/m:latest", "_x", "A.b-C", "m:Q4_K_M"],
)
def test_names_that_are_taken(name: str) -> None:
    check_model_name(name)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("合同模型", "its model holds '合'"),
        ("", "its model is empty"),
        ("m:", "its tag is empty"),
        (":x", "its model is empty"),
        ("a b", "its model holds ' '"),
        ("-m", "its model holds '-'"),
        ("a/b/c/d", "more than two slashes"),
        ("me.you/m", "its namespace holds a dot"),
        ("m" * 81, "more than 80 characters"),
        ("m:标签", "its tag holds '标'"),
    ],
)
def test_names_that_are_refused_before_anything_is_made(name: str, why: str) -> None:
    """With the reason and a name that would do."""
    with pytest.raises(UsageError, match=why) as caught:
        check_model_name(name)
    assert suggested(name) in caught.value.hint


@given(st.text(min_size=1, max_size=60))
def test_what_is_suggested_is_taken(name: str) -> None:
    check_model_name(suggested(name))
