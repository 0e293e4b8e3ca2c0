"""What /api/create is asked to make (Ollama 0.5.5 and later), from a spec or from a Modelfile: one value either way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ollama_kit.errors import ModelfileError, SpecError
from ollama_kit.modelfile.lint_rules import RULES
from ollama_kit.modelfile.parameters import ParameterProblem, check_parameter, typed_value
from ollama_kit.modelfile.syntax import COMMANDS, Command, Modelfile, kept
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.modelfile.writer import check_parameter_name
from ollama_kit.specs.model import Message, ModelSpec, ParameterValue, looks_like_path


@dataclass(frozen=True)
class CreateRequest:
    """The fields of /api/create, typed. Exactly one of `from_` (a model's name) and `files` (paths, as written) is set,
    unless a Modelfile names both. Empty texts are None: the server takes them for "not given"."""

    from_: str | None = None
    files: tuple[str, ...] = ()
    adapters: tuple[str, ...] = ()
    draft_files: tuple[str, ...] = ()
    template: str | None = None
    system: str | None = None
    license: tuple[str, ...] = ()
    parameters: Mapping[str, ParameterValue] = field(default_factory=lambda: MappingProxyType({}))
    messages: tuple[Message, ...] = ()
    renderer: str | None = None
    parser: str | None = None
    requires: str | None = None
    quantize: str | None = None

    def body(
        self,
        name: str,
        files: Mapping[str, str] = MappingProxyType({}),
        adapters: Mapping[str, str] = MappingProxyType({}),
        draft_files: Mapping[str, str] = MappingProxyType({}),
    ) -> dict[str, Any]:
        """The JSON to post for a model called `name`. The mappings are {relative file name: "sha256:…"} of blobs that
        the server has already; whoever uploads the paths in `files` and `adapters` makes them.

        >>> CreateRequest("qwen3:4b", parameters={"stop": ("a",)}).body("x")
        {'model': 'x', 'from': 'qwen3:4b', 'parameters': {'stop': ['a']}}
        """
        parameters = {key: list(value) if isinstance(value, tuple) else value for key, value in self.parameters.items()}
        fields: dict[str, Any] = {
            "from": self.from_,
            "files": dict(files),
            "adapters": dict(adapters),
            "draft_files": dict(draft_files),
            "template": self.template,
            "system": self.system,
            "license": list(self.license),
            "parameters": parameters,
            "messages": [{"role": message.role, "content": message.content} for message in self.messages],
            "renderer": self.renderer,
            "parser": self.parser,
            "requires": self.requires,
            "quantize": self.quantize,
        }
        return {"model": name, **{key: value for key, value in fields.items() if value not in (None, {}, [])}}


def create_request_from_spec(spec: ModelSpec, target: ServerVersion | None = None) -> CreateRequest:
    """What a spec asks a server of that version (None: the newest) to make. SpecError, with the spec's line, for a
    parameter that this server does not take. `renderer`, `parser` and `requires` are left out where they are unknown.
    """
    files = () if spec.base_path is None else (str(spec.base_path),)
    return CreateRequest(
        from_=None if files else spec.base,
        files=files,
        adapters=() if spec.adapter is None else (str(spec.adapter),),
        template=spec.template or None,
        system=spec.system or None,
        license=tuple(spec.license),
        parameters=MappingProxyType(dict(_spec_parameters(spec, target))),
        messages=tuple(spec.messages),
        renderer=_where_known("renderer", spec.renderer, target),
        parser=_where_known("parser", spec.parser, target),
        requires=_requires(spec, target),
        quantize=spec.quantize,
    )


def create_request(
    modelfile: Modelfile,
    *,
    folder: Path | None = None,
    target: ServerVersion | None = None,
    quantize: str | None = None,
) -> CreateRequest:
    """What a Modelfile asks for, as `ollama create` reads it, but with every character of its prose.

    A FROM is a path if it exists from `folder` or looks like one. ModelfileError, with the line, for one that looks
    like a path and is not there (only looked for where `folder` is given), and for what a server of that version does
    not take. Parameters that the `ollama` command only warns about are left out, as it does.
    """
    bases = [(kept(base.args), _is_path(base, folder, modelfile.path)) for base in modelfile.named("from")]
    models = [value for value, is_path in bases if not is_path]
    return CreateRequest(
        from_=models[-1] if models else None,
        files=tuple(value for value, is_path in bases if is_path),
        adapters=_values(modelfile, "adapter")[-1:],
        draft_files=_values(modelfile, "draft"),
        template=_last_text(modelfile, "template"),
        system=_last_text(modelfile, "system"),
        license=tuple(command.args for command in modelfile.named("license")),
        parameters=MappingProxyType(_modelfile_parameters(modelfile, target)),
        messages=tuple(Message(command.role, command.args) for command in modelfile.named("message")),  # type: ignore[arg-type]
        renderer=_known_command(modelfile, "renderer", target),
        parser=_known_command(modelfile, "parser", target),
        requires=_known_command(modelfile, "requires", target),
        quantize=quantize,
    )


def path_exists(value: str, folder: Path) -> bool:
    """Whether FROM or ADAPTER names something there, as Ollama resolves it: `~` is home, else from `folder`."""
    try:
        return (folder / Path(value).expanduser()).exists()
    except (OSError, RuntimeError, ValueError):
        return False


def _is_path(command: Command, folder: Path | None, path: str) -> bool:
    value = kept(command.args)
    if not value:
        raise _at(command, path, "FROM is empty", "empty-value")
    if folder is not None and path_exists(value, folder):
        return True
    if folder is not None and looks_like_path(value):
        raise _at(command, path, f"FROM {value}: no such file", "from-path-missing")
    return looks_like_path(value)


def _spec_parameters(spec: ModelSpec, target: ServerVersion | None) -> Iterable[tuple[str, ParameterValue]]:
    for name, value in spec.all_parameters.items():
        key = "context" if name == "num_ctx" and "num_ctx" not in spec.parameters else f"parameters.{name}"
        path, line = spec.lines.get(key, (spec.path or "", 0))
        problem = next(iter(spec_parameter_problems(name, value, target)), None)
        if problem is not None:
            raise SpecError(problem.message, path=path, line=line, hint=RULES[problem.rule].fix)
        yield name, typed_value(name, value)


def spec_parameter_problems(
    name: str, value: ParameterValue, target: ServerVersion | None
) -> tuple[ParameterProblem, ...]:
    """Problems of a spec's parameter; stricter than a Modelfile, where all is text: `"8k"` and a lone text for `stop`
    are wrong types."""
    if isinstance(value, str) and not check_parameter(name, value, target):
        expected = "a list of texts" if name == "stop" else "a number or true/false"
        return (ParameterProblem("parameter-type", f"{name} must be {expected}, not the text {value[:60]!r}"),)
    return check_parameter(name, value, target)


def _modelfile_parameters(modelfile: Modelfile, target: ServerVersion | None) -> dict[str, ParameterValue]:
    result: dict[str, ParameterValue] = {}
    for command in modelfile.named("parameter"):
        name = command.parameter or ""
        value = command.args if name == "stop" else kept(command.args)
        try:
            check_parameter_name(name)
        except ModelfileError as error:
            raise _at(command, modelfile.path, error.problem, name_rule(name)) from error
        problem = next(iter(check_parameter(name, value, target)), None)
        if problem is not None and problem.rule == "ignored-parameter":
            continue
        if problem is not None:
            raise _at(command, modelfile.path, problem.message, problem.rule)
        typed, earlier = typed_value(name, value), result.get(name)
        result[name] = (*earlier, *typed) if isinstance(typed, tuple) and isinstance(earlier, tuple) else typed
    return result


def name_rule(name: str) -> str:
    """The linter's code for a parameter name that the parser does not read as one."""
    return "parameter-is-command" if name else "parameter-blanks"


def _known_command(modelfile: Modelfile, name: str, target: ServerVersion | None) -> str | None:
    command = next(reversed(list(modelfile.named(name))), None)
    if command is None:
        return None
    if target is not None and not target.reaches(COMMANDS[name]):
        message = f"{name.upper()} came with Ollama {COMMANDS[name]}; the target is {target}"
        raise _at(command, modelfile.path, message, "newer-command")
    return kept(command.args) or None


def _values(modelfile: Modelfile, name: str) -> tuple[str, ...]:
    return tuple(kept(command.args) for command in modelfile.named(name))


def _last_text(modelfile: Modelfile, name: str) -> str | None:
    return next((command.args for command in reversed(list(modelfile.named(name)))), None) or None


def _where_known(name: str, value: str | None, target: ServerVersion | None) -> str | None:
    return value if target is None or target.reaches(COMMANDS[name]) else None


def _requires(spec: ModelSpec, target: ServerVersion | None) -> str | None:
    if spec.requires is None:
        return None
    path, line = spec.lines.get("requires", (spec.path or "", 0))
    try:
        needed = ServerVersion.parse(spec.requires)
    except ValueError as error:
        raise SpecError(f"requires: {error}", path=path, line=line, hint=RULES["requires-version"].fix) from error
    if target is not None and not target.reaches(needed):
        raise SpecError(f"requires Ollama {needed}; the target is {target}", path=path, line=line)
    return _where_known("requires", spec.requires, target)


def _at(command: Command, path: str, message: str, rule: str) -> ModelfileError:
    return ModelfileError(message, path=path, line=command.line, hint=RULES[rule].fix)
