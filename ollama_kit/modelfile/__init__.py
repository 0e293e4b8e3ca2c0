"""Modelfiles: read, written and linted as Ollama's own parser reads them; and what a spec becomes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.modelfile.lint import LintFinding as LintFinding, lint_modelfile as lint_modelfile
    from ollama_kit.modelfile.parameters import (
        PARAMETERS as PARAMETERS,
        Parameter as Parameter,
        ParameterProblem as ParameterProblem,
        check_parameter as check_parameter,
    )
    from ollama_kit.modelfile.reader import load_modelfile as load_modelfile, read_modelfile as read_modelfile
    from ollama_kit.modelfile.render import StatedFacts as StatedFacts, render_modelfile as render_modelfile
    from ollama_kit.modelfile.request import (
        CreateRequest as CreateRequest,
        create_request as create_request,
        create_request_from_spec as create_request_from_spec,
    )
    from ollama_kit.modelfile.syntax import (
        Command as Command,
        LostCharacter as LostCharacter,
        Modelfile as Modelfile,
        kept as kept,
        lost_characters as lost_characters,
    )
    from ollama_kit.modelfile.versions import ServerVersion as ServerVersion
    from ollama_kit.modelfile.writer import write_modelfile as write_modelfile
else:
    __getattr__, __dir__ = exports(__name__)
