"""Modelfiles: read, written and linted as Ollama's own parser reads them; and what a spec becomes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.modelfile.characters import LostCharacter, kept, lost_characters
    from ollama_kit.modelfile.grammar import Command, Modelfile
    from ollama_kit.modelfile.lint import LintFinding, lint_modelfile
    from ollama_kit.modelfile.parameters import PARAMETERS, Parameter, ParameterProblem, check_parameter
    from ollama_kit.modelfile.reader import load_modelfile, read_modelfile
    from ollama_kit.modelfile.render import StatedFacts, render_modelfile
    from ollama_kit.modelfile.request import CreateRequest, create_request, create_request_from_spec
    from ollama_kit.modelfile.versions import ServerVersion
    from ollama_kit.modelfile.writer import write_modelfile

_HOMES = {
    "characters": ("LostCharacter", "kept", "lost_characters"),
    "grammar": ("Command", "Modelfile"),
    "lint": ("LintFinding", "lint_modelfile"),
    "parameters": ("PARAMETERS", "Parameter", "ParameterProblem", "check_parameter"),
    "reader": ("load_modelfile", "read_modelfile"),
    "render": ("StatedFacts", "render_modelfile"),
    "request": ("CreateRequest", "create_request", "create_request_from_spec"),
    "versions": ("ServerVersion",),
    "writer": ("write_modelfile",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Command",
    "CreateRequest",
    "LintFinding",
    "LostCharacter",
    "Modelfile",
    "PARAMETERS",
    "Parameter",
    "ParameterProblem",
    "ServerVersion",
    "StatedFacts",
    "check_parameter",
    "create_request",
    "create_request_from_spec",
    "kept",
    "lint_modelfile",
    "load_modelfile",
    "lost_characters",
    "read_modelfile",
    "render_modelfile",
    "write_modelfile",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
