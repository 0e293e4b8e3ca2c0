"""Lints files of either kind, and prints what was found."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import click

from ollama_kit.errors import SourceError
from ollama_kit.modelfile.lint import LintFinding, lint_modelfile
from ollama_kit.modelfile.render import render_modelfile
from ollama_kit.modelfile.request import create_request_from_spec
from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.specs import load_spec
from ollama_kit.specs.model import ModelSpec

Located = tuple[Path, LintFinding]
_COLORS = {"error": "red", "warning": "yellow", "info": "cyan"}


def lint_paths(paths: Iterable[Path], target: ServerVersion | None) -> list[Located]:
    """The findings in each file, in order. A folder stands for the specs and Modelfiles in it."""
    findings: list[Located] = []
    for path in paths:
        for file in _files(path):
            is_spec = file.suffix in (".yaml", ".yml")
            found = _lint_spec(file, target) if is_spec else _lint_file(file, target)
            findings += ((file, finding) for finding in found)
    return findings


def print_findings(findings: Sequence[Located], files: int) -> None:
    """One paragraph a finding on stdout, and a line that counts them."""
    for path, finding in findings:
        place = f"{path}:{finding.line}" if finding.line else str(path)
        click.echo(f"{place}: ", nl=False)
        click.secho(finding.severity, fg=_COLORS.get(finding.severity), nl=False)
        click.echo(f": {finding.message} [{finding.rule}]")
        if finding.fix:
            click.echo(f"    {finding.fix}")
    errors = sum(finding.severity == "error" for _, finding in findings)
    click.echo(f"{errors} errors, {len(findings) - errors} other findings in {files} paths", err=True)


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
        message = f"a Modelfile cannot carry it ({error.problem}); `build` can, for it goes through the API"
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
