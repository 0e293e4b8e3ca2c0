"""A spec as the text of a Modelfile, from a Jinja template that a project can replace."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ollama_kit import resources
from ollama_kit.errors import ModelfileError, SpecError, SpecNotFound, nearest_names
from ollama_kit.modelfile.parameters import PARAMETERS, check_parameter, value_text
from ollama_kit.modelfile.reader import read_modelfile
from ollama_kit.modelfile.request import CreateRequest, create_request_from_spec
from ollama_kit.modelfile.syntax import COMMANDS
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.modelfile.writer import plain, quoted
from ollama_kit.specs.model import ModelSpec
from ollama_kit.templating import SUFFIX, environment, failures_of

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment

_TEMPLATE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")
_FOLDER = "modelfile"


@dataclass(frozen=True)
class StatedFacts:
    """What the model itself says, for the comment lines: query heads per KV head, and `tokenizer.ggml.pre`."""

    gqa: int | None = None
    tokenizer: str | None = None


def render_modelfile(spec: ModelSpec, target: ServerVersion | None = None, facts: StatedFacts | None = None) -> str:
    """The Modelfile of a spec for a server of that version (None: the newest), readable by `read_modelfile`.

    What came after the target (RENDERER, a parameter) is left out, and a comment says so; a parameter removed before it
    is a SpecError. num_gqa is written only for targets older than 0.1.35. `facts` fill the comment lines; without them
    they state what the spec expects. ModelfileError for text that a Modelfile cannot carry, SpecError with the
    template's file and line for one that fails.
    """
    newer = _newer_parameters(spec, target)
    request = create_request_from_spec(_without(spec, newer), target)
    _check_texts(spec, request)
    context = _context(spec, request, target, facts or StatedFacts())
    context["left_out"] = [*newer.values(), *_left_out_commands(spec, request)]
    name, path = _template(spec)
    with failures_of(path, hint=""):
        text = str(_environment().get_template(name).render(context))
    try:
        read_modelfile(text)
    except ModelfileError as error:
        message = f"gives a Modelfile that cannot be read: line {error.line} of the result: {error.problem}"
        raise SpecError(message, path=path, hint="Write values with the filters plain, quoted and comment.") from error
    return text


def _context(
    spec: ModelSpec, request: CreateRequest, target: ServerVersion | None, facts: StatedFacts
) -> dict[str, Any]:
    gqa = facts.gqa if facts.gqa is not None else spec.gqa
    is_old = target is not None and not target.is_development and check_parameter("num_gqa", "1", target) == ()
    scalars = [
        (key, value_text(value))
        for key, value in request.parameters.items()
        if not isinstance(value, tuple) and not (is_old and key == "num_gqa")
    ]
    stop = request.parameters.get("stop", ())
    return {
        "name": spec.name,
        "source": spec.path.name if spec.path else "",
        "base": spec.base if spec.base_path is None else str(spec.base_path),
        "is_file": spec.base_path is not None,
        "adapter": request.adapters[0] if request.adapters else None,
        "gqa": "auto" if gqa is None else gqa,
        "tokenizer": facts.tokenizer or spec.tokenizer or "any",
        "thinking": spec.thinking,
        "target": None if target is None else str(target),
        "num_gqa": request.parameters.get("num_gqa", gqa) if is_old else None,
        "parameters": scalars,
        "stop": list(stop) if isinstance(stop, tuple) else [],
        "template": request.template,
        "system": request.system,
        "messages": list(request.messages),
        "licenses": list(request.license),
        "renderer": request.renderer,
        "parser": request.parser,
        "requires": request.requires,
    }


def _newer_parameters(spec: ModelSpec, target: ServerVersion | None) -> dict[str, str]:
    """{name: why it is left out} of the parameters that came after the target."""
    return {
        name: f"{name} (Ollama {PARAMETERS[name].since})"
        for name, value in spec.all_parameters.items()
        if any(problem.rule == "newer-parameter" for problem in check_parameter(name, value, target))
    }


def _without(spec: ModelSpec, names: dict[str, str]) -> ModelSpec:
    kept = {name: value for name, value in spec.parameters.items() if name not in names}
    return replace(spec, parameters=kept)


def _left_out_commands(spec: ModelSpec, request: CreateRequest) -> list[str]:
    wanted = {"renderer": spec.renderer, "parser": spec.parser, "requires": spec.requires}
    lines = [
        f"{name} {value} (Ollama {COMMANDS[name]})"
        for name, value in wanted.items()
        if value is not None and getattr(request, name) is None
    ]
    if spec.quantize is not None:
        lines.append(f"quantize {spec.quantize} (ollama create --quantize {spec.quantize})")
    return lines


def _check_texts(spec: ModelSpec, request: CreateRequest) -> None:
    """ModelfileError, with the spec's line, for the first text that a Modelfile cannot carry."""
    stop = request.parameters.get("stop", ())
    if "stop" in request.parameters and not stop:
        path, line = _place(spec, "parameters.stop")
        hint = "`ollama-kit build` sends the empty list through the API; in a Modelfile leave stop out."
        raise ModelfileError("a Modelfile cannot express an empty list of stop texts", path=path, line=line, hint=hint)
    texts = [
        ("system", request.system or ""),
        ("template", request.template or ""),
        *((f"messages.{at}.content", message.content) for at, message in enumerate(request.messages)),
        *((f"license.{at}", text) for at, text in enumerate(request.license)),
        *((f"parameters.stop.{at}", text) for at, text in enumerate(stop if isinstance(stop, tuple) else ())),
    ]
    for key, text in texts:
        try:
            quoted(text, key)
        except ModelfileError as error:
            path, line = _place(spec, key)
            raise ModelfileError(error.problem, path=path, line=line, hint=error.hint) from error


def _place(spec: ModelSpec, key: str) -> tuple[Path | str, int]:
    """File and line of a dotted key of the spec, or of the nearest key around it that has one."""
    while key:
        if key in spec.lines:
            return spec.lines[key]
        key = key.rpartition(".")[0]
    return spec.path or "", 0


def _template(spec: ModelSpec) -> tuple[str, Path]:
    """(name for Jinja, file) of the spec's template. SpecNotFound, with the spec's line, if there is none."""
    name = spec.modelfile_template
    if _TEMPLATE_NAME.fullmatch(name):
        full = f"{_FOLDER}/{name}{SUFFIX}"
        found = resources.find("templates", full)
        if found is not None:
            return full, found
    folders = (folder / _FOLDER for folder in resources.search_path("templates"))
    known = sorted({path.stem for folder in folders if folder.is_dir() for path in folder.glob(f"*{SUFFIX}")})
    path, line = _place(spec, "modelfile")
    raise SpecNotFound(
        f"no Modelfile template named {name!r}",
        nearest=nearest_names(name, known),
        path=path,
        line=line,
        hint=f"Available: {', '.join(known)}" if known else "",
    )


@lru_cache(maxsize=1)
def _environment() -> SandboxedEnvironment:
    made = environment(folder=_FOLDER)
    made.filters.update(quoted=_quoted, plain=_plain, comment=_comment)
    return made


def _quoted(value: object) -> str:
    return quoted(_defined(value))


def _plain(value: object) -> str:
    return plain(_defined(value))


def _comment(value: object) -> str:
    """`# ` and the text on one line: every run of white space, line ends too, becomes one blank."""
    return f"# {' '.join(_defined(value).split())}"


def _defined(value: object) -> str:
    return str(value)  # an undefined value raises here
