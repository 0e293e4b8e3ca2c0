"""What a server calls its version."""

from __future__ import annotations

from typing import Any

import pytest

from ollama_kit.modelfile import ServerVersion
from ollama_kit.modelfile.versions import builtin_problem


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("0.9.3", (0, 9, 3)),
        ("v0.12.6", (0, 12, 6)),
        ("0.33.0-rc1", (0, 33, 0)),
        ("0.14", (0, 14, 0)),
        ("0.5.5-0-g123abc-dirty", (0, 5, 5)),
        (" 0.9.3+ipex \n", (0, 9, 3)),
        ("0.0.0", (0, 0, 0)),
    ],
)
def test_versions_of_servers_in_the_wild_are_understood(text: str, version: tuple[int, int, int]) -> None:
    """Suffixes of release candidates and other builds do not matter."""
    assert ServerVersion.parse(text) == ServerVersion(*version)


@pytest.mark.parametrize("text", ["", "latest", "0", "0.x.1", "0.9.3 <html>", "1" * 50 + ".0", "0.９.3", "-0.1.2"])
def test_what_is_no_version_is_a_value_error(text: str) -> None:
    """The message shows what was there."""
    with pytest.raises(ValueError, match="not a version"):
        ServerVersion.parse(text)


def test_a_build_from_source_has_everything() -> None:
    """0.0.0 is what a server without a version says; it is taken for the newest."""
    assert ServerVersion(0, 0, 0).reaches(ServerVersion(0, 30, 0))
    assert not ServerVersion(0, 9, 3).reaches(ServerVersion(0, 12, 0))
    assert ServerVersion(0, 10, 0) > ServerVersion(0, 9, 3)


@pytest.mark.parametrize(
    ("command", "name", "version", "problem"),
    [
        ("renderer", "qwen3.8", "0.32.12", ""),
        ("renderer", "qwen3.8", "0.32.11", "came with Ollama 0.32.12"),
        ("renderer", "qwen3.8", "0.0.0", ""),
        ("renderer", "qwen9", "0.32.15", "has no renderer 'qwen9'"),
        ("renderer", "qwen9", "0.34.0", ""),
        ("renderer", "qwen9", "0.0.0", ""),
        ("parser", "qwen3.8", "0.32.15", "has no parser"),
        ("parser", "qwen3.5", "0.17.0", "came with Ollama 0.17.1"),
    ],
)
def test_renderers_and_parsers_are_known_by_version(command: Any, name: str, version: str, problem: str) -> None:
    """A server takes any name and fails at the first chat; one newer than our table may know more."""
    found = builtin_problem(command, name, ServerVersion.parse(version))
    assert bool(found) == bool(problem)
    assert problem in found
