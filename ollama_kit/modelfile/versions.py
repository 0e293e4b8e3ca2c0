"""Versions of an Ollama server, and what it can do by its version: the releases that change what we send.

The commands of a Modelfile have theirs in `syntax`, the parameters in `parameters`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

_VERSION = re.compile(r"v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(?P<rest>[-+.][0-9A-Za-z.+-]*)?", re.ASCII)


@dataclass(frozen=True, order=True)
class ServerVersion:
    """major.minor.patch. A release candidate counts as its release: it has what the release has.

    0.0.0 is what a server built from source reports; it is assumed to know everything.
    """

    major: int
    minor: int
    patch: int = 0

    @classmethod
    def parse(cls, text: str) -> ServerVersion:
        """The version that a server reports, without its suffix. ValueError if it is not one.

        >>> str(ServerVersion.parse("0.33.0-rc1"))
        '0.33.0'
        """
        match = _VERSION.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"not a version of Ollama: {text[:80]!r} (expected something like 0.9.3)")
        return cls(int(match[1]), int(match[2]), int(match[3] or 0))

    @property
    def is_development(self) -> bool:
        return self == ServerVersion(0, 0, 0)

    def reaches(self, since: ServerVersion | None) -> bool:
        """Whether this server has what came with `since` (None: what was always there)."""
        return since is None or self.is_development or self >= since

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"


Feature = Literal[
    "schema",
    "create_fields",
    "capabilities",
    "think",
    "think_levels_of_gpt_oss",
    "debug_render",
    "renderer",
    "truncate",
    "logprobs",
    "requires",
    "think_levels",
    "think_max",
    "native_templates",
]

SINCE: MappingProxyType[Feature, ServerVersion] = MappingProxyType(
    {
        "schema": ServerVersion(0, 5, 0),  # `format` takes a JSON Schema
        "create_fields": ServerVersion(0, 5, 5),  # /api/create takes from, files, parameters instead of a Modelfile
        "capabilities": ServerVersion(0, 6, 4),  # /api/show lists capabilities
        "think": ServerVersion(0, 9, 0),  # `think` on chat and generate
        "think_levels_of_gpt_oss": ServerVersion(0, 11, 0),  # `think` takes low, medium, high
        "debug_render": ServerVersion(0, 11, 5),  # `_debug_render_only` returns the rendered prompt
        "renderer": ServerVersion(0, 12, 0),  # RENDERER and PARSER
        "truncate": ServerVersion(0, 12, 6),  # `truncate` and `shift` on chat and generate
        "logprobs": ServerVersion(0, 12, 11),
        "requires": ServerVersion(0, 14, 0),  # REQUIRES
        "think_levels": ServerVersion(0, 17, 6),  # `think` takes low, medium, high of any model that can think
        "think_max": ServerVersion(0, 22, 0),  # and max
        "native_templates": ServerVersion(0, 30, 0),  # llama-server runs a GGUF's own Jinja template
    }
)


def supports(version: ServerVersion, feature: Feature) -> bool:
    """Whether a server of that version has a feature; one built from source (0.0.0) is assumed to have all.

    >>> supports(ServerVersion.parse("0.9.3"), "truncate"), supports(ServerVersion.parse("0.12.6-rc0"), "truncate")
    (False, True)
    """
    return version.reaches(SINCE[feature])


_RENDERERS = """
    qwen3-coder 0.12.0, qwen3-vl-instruct 0.12.6, qwen3-vl-thinking 0.12.7, cogito 0.13.0, olmo3 0.13.3,
    olmo3-think 0.13.3, nemotron-3-nano 0.13.4, olmo3-32b-think 0.13.4, olmo3.1 0.13.4, functiongemma 0.13.5,
    deepseek3.1 0.13.5, glm-4.7 0.14.3, lfm2 0.14.3, lfm2-thinking 0.14.3, glm-ocr 0.15.5, qwen3.5 0.17.1,
    gemma4 0.20.0, gemma4-small 0.21.0, gemma4-large 0.21.0, laguna 0.22.0, cohere 0.30.10, ornith 0.30.11,
    poolside-v1 0.32.3, glimmer 0.32.7, nemotron-3.5-nano 0.32.9, qwen3.8 0.32.12
"""
_PARSERS = """
    passthrough 0.12.0, qwen3-coder 0.12.0, harmony 0.12.1, qwen3-vl-instruct 0.12.6, qwen3-vl-thinking 0.12.7,
    ministral 0.13.1, cogito 0.13.1, olmo3 0.13.3, olmo3-think 0.13.3, nemotron-3-nano 0.13.4, functiongemma 0.13.5,
    deepseek3 0.13.5, glm-4.7 0.14.3, lfm2 0.14.3, lfm2-thinking 0.14.3, glm-ocr 0.15.5, qwen3 0.16.3,
    qwen3-thinking 0.16.3, qwen3.5 0.17.1, gemma4 0.20.0, gemma4-no-thinking 0.20.0, laguna 0.22.0, cohere 0.30.10,
    ornith 0.30.11, poolside-v1 0.32.3, glimmer 0.32.7, nemotron-3.5-nano 0.32.9
"""


def _named(table: str) -> MappingProxyType[str, ServerVersion]:
    pairs = (entry.split() for entry in table.split(","))
    return MappingProxyType({name: ServerVersion.parse(version) for name, version in pairs})


RENDERERS, PARSERS = _named(_RENDERERS), _named(_PARSERS)
"""The names that RENDERER and PARSER know, and since when (model/renderers, model/parsers; to 0.33)."""
NEWEST_KNOWN = ServerVersion(0, 33, 0)
"""A newer server may know names that are not here."""


def builtin_problem(command: Literal["renderer", "parser"], name: str, version: ServerVersion) -> str:
    """What is wrong with a RENDERER or PARSER for a server of that version; empty where it knows the name, or may.
    The server itself takes any name, and fails at the first chat.

    >>> builtin_problem("renderer", "qwen3.8", ServerVersion.parse("0.32.11"))
    'renderer qwen3.8 came with Ollama 0.32.12; the server is 0.32.11'
    """
    known = RENDERERS if command == "renderer" else PARSERS
    since = known.get(name)
    if since is None:
        newer = version.is_development or version > NEWEST_KNOWN
        return "" if newer else f"Ollama {version} has no {command} {name!r}"
    return "" if version.reaches(since) else f"{command} {name} came with Ollama {since}; the server is {version}"
