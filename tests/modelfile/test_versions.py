"""What a server calls its version."""

from __future__ import annotations

import pytest

from ollama_kit.modelfile import ServerVersion


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
