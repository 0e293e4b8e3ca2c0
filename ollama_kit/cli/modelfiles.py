"""`init`, `render` and `lint`: projects, specs and Modelfiles as files, without a server."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from ollama_kit import resources
from ollama_kit.cli.output import echo, print_result, styled
from ollama_kit.cli.shared_options import json_option, parsed_overrides, set_option
from ollama_kit.errors import SourceError, UsageError
from ollama_kit.modelfile.lint import LintFinding, lint_modelfile
from ollama_kit.modelfile.render import render_modelfile
from ollama_kit.modelfile.request import create_request_from_spec
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.specs import load_spec
from ollama_kit.specs.model import ModelSpec
from ollama_kit.text.encodings import write_text

Located = tuple[Path, LintFinding]
_COLORS = {"error": "red", "warning": "yellow", "info": "cyan"}

_SPEC = """\
# yaml-language-server: $schema=../templates/schemas/spec.schema.json
spec: 1
from: qwen3:4b               # a model on the server or in the registry, or the path of a GGUF
context: 8192                # tokens
gqa: auto                    # or the number you expect: checked against the model
tokenizer: qwen              # the family you expect: checked against the model
thinking: false
system: |
  你是一个严谨的助手，回答简短，不确定时直接说不知道。
parameters: {temperature: 0.7, top_p: 0.8, top_k: 20, min_p: 0}
guard: standard
"""

_SETTINGS = """\
# Settings of this project; a flag or an environment variable comes first. `ollama-kit doctor` shows what is in force.
# host: 127.0.0.1:11434
# allow_remote: false
"""


@click.command("init")
@click.argument("folder", default=".", type=click.Path(path_type=Path, file_okay=False))
def init_command(folder: Path) -> None:
    """Create a project in FOLDER: modelfiles/ with an example, templates/ with the spec schema. Existing files
    are kept."""
    schema = (resources.shipped_root() / "templates" / "schemas" / "spec.schema.json").read_text(encoding="utf-8")
    files = {
        "ollama-kit.yaml": _SETTINGS,
        "modelfiles/my-assistant.yaml": _SPEC,
        "templates/schemas/spec.schema.json": schema,
    }
    for name, text in files.items():
        path = folder / name
        if path.exists():
            echo(f"kept     {path}")
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, text, private=False)
        echo(f"created  {path}")
    echo(f"Next: cd {folder} && ollama-kit build my-assistant", err=True)


@click.command("render")
@click.argument("name")
@click.option("--target", metavar="VERSION", help="Write for this Ollama version, e.g. 0.9.3.")
@set_option
def render_command(name: str, target: str | None, overrides: tuple[str, ...]) -> None:
    """Print the Modelfile of the spec NAME on stdout."""
    spec = load_spec(name, parsed_overrides(overrides))
    echo(render_modelfile(spec, target=_version(target)), nl=False)


@click.command("lint")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--target", metavar="VERSION", help="Lint against this Ollama version, e.g. 0.9.3.")
@json_option
@click.pass_context
def lint_command(ctx: click.Context, paths: tuple[Path, ...], target: str | None, as_json: bool) -> None:
    """Check Modelfiles and specs (.yaml): line, what, why, fix. Exit code 1 if anything is an error."""
    findings = lint_paths(paths, _version(target))
    if as_json:
        print_result({"findings": [replace(finding, path=str(path)) for path, finding in findings]})
    else:
        print_findings(findings, len(paths))
    ctx.exit(1 if any(finding.severity == "error" for _, finding in findings) else 0)


def _version(text: str | None) -> ServerVersion | None:
    if text is None:
        return None
    try:
        return ServerVersion.parse(text)
    except ValueError as error:
        raise UsageError(f"--target: {error}") from error


# -- linting


def lint_paths(paths: Iterable[Path], target: ServerVersion | None) -> list[Located]:
    """The findings in each file, in order. Of a folder, the specs and Modelfiles in it."""
    findings: list[Located] = []
    for path in paths:
        for file in _files(path):
            is_spec = file.suffix in (".yaml", ".yml")
            found = _lint_spec(file, target) if is_spec else _lint_file(file, target)
            findings += ((file, finding) for finding in found)
    return findings


def print_findings(findings: Sequence[Located], files: int) -> None:
    """One paragraph per finding on stdout, and a line that counts them."""
    for path, finding in findings:
        place = f"{path}:{finding.line}" if finding.line else str(path)
        echo(f"{place}: ", nl=False)
        styled(finding.severity, fg=_COLORS.get(finding.severity), nl=False)
        echo(f": {finding.message} [{finding.rule}]")
        if finding.fix:
            echo(f"    {finding.fix}")
    errors = sum(finding.severity == "error" for _, finding in findings)
    echo(f"{errors} errors, {len(findings) - errors} other findings in {files} paths", err=True)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    names = (child for child in sorted(path.rglob("*")) if child.is_file())
    return [child for child in names if child.suffix in (".yaml", ".yml") or "modelfile" in child.name.lower()]


def _lint_file(path: Path, target: ServerVersion | None) -> Sequence[LintFinding]:
    try:
        data = path.read_bytes()
    except OSError as error:
        return [LintFinding(0, "unreadable", "error", f"cannot be read: {error.strerror}")]
    return lint_modelfile(data, str(path), target=target)


def _lint_spec(path: Path, target: ServerVersion | None) -> list[LintFinding]:
    """A spec that loads is also judged as the Modelfile that it becomes."""
    try:
        spec = load_spec(str(path))
        create_request_from_spec(spec, target)
    except SourceError as error:
        return [LintFinding(error.line, error.code, "error", error.problem, error.hint)]
    try:
        rendered = render_modelfile(spec, target)
    except SourceError as error:
        message = f"the Modelfile format cannot express it ({error.problem}); `build` can, as it uses the API"
        return [LintFinding(error.line, "text-form", "warning", message)]
    found = lint_modelfile(rendered, "", target=target)
    return [_in_spec(finding, spec) for finding in found if finding.severity != "info"]


def _in_spec(finding: LintFinding, spec: ModelSpec) -> LintFinding:
    """A finding in the rendered text, at the spec's own line where one key is to blame."""
    key = "system" if "secret" in finding.rule else ""
    _, line = spec.lines.get(key, (path_of(spec), 0))
    return LintFinding(line, finding.rule, finding.severity, finding.message, finding.fix)


def path_of(spec: ModelSpec) -> Path:
    return spec.path or Path(spec.name)
