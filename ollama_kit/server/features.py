"""What a server can do, by its version: the lines between releases that change what we send."""

from __future__ import annotations

from types import MappingProxyType
from typing import Literal

from ollama_kit.modelfile.versions import ServerVersion

Feature = Literal[
    "schema", "create_fields", "capabilities", "think", "debug_render", "renderer", "truncate", "logprobs", "requires"
]

SINCE: MappingProxyType[Feature, ServerVersion] = MappingProxyType(
    {
        "schema": ServerVersion(0, 5, 0),  # `format` takes a JSON Schema
        "create_fields": ServerVersion(0, 5, 5),  # /api/create takes from, files, parameters instead of a Modelfile
        "capabilities": ServerVersion(0, 6, 4),  # /api/show lists capabilities
        "think": ServerVersion(0, 9, 0),  # `think` on chat and generate
        "debug_render": ServerVersion(0, 11, 5),  # `_debug_render_only` returns the rendered prompt
        "renderer": ServerVersion(0, 12, 0),  # RENDERER and PARSER
        "truncate": ServerVersion(0, 12, 6),  # `truncate` and `shift` on chat and generate
        "logprobs": ServerVersion(0, 12, 11),
        "requires": ServerVersion(0, 14, 0),  # REQUIRES
    }
)


def supports(version: ServerVersion, feature: Feature) -> bool:
    """Whether a server of that version has a feature; one built from source (0.0.0) is taken to have all.

    >>> supports(ServerVersion.parse("0.9.3"), "truncate"), supports(ServerVersion.parse("0.12.6-rc0"), "truncate")
    (False, True)
    """
    return version.reaches(SINCE[feature])
