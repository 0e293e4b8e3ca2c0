"""`render` and `lint`: Modelfiles as text, without a server."""

from __future__ import annotations

from pathlib import Path

import click

from ollama_kit.cli.options import json_option, parsed_overrides, set_option


@click.command("render")
@click.argument("name")
@click.option("--target", metavar="VERSION", help="Write what that Ollama version takes, such as 0.9.3.")
@set_option
def render_command(name: str, target: str | None, overrides: tuple[str, ...]) -> None:
    """Print the Modelfile of the spec NAME on stdout."""
    from ollama_kit.modelfile.render import render_modelfile
    from ollama_kit.specs import load_spec

    spec = load_spec(name, parsed_overrides(overrides))
    click.echo(render_modelfile(spec, target=_version(target)), nl=False)


@click.command("lint")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--target", metavar="VERSION", help="Judge by what that Ollama version takes, such as 0.9.3.")
@json_option
@click.pass_context
def lint_command(ctx: click.Context, paths: tuple[Path, ...], target: str | None, as_json: bool) -> None:
    """Check Modelfiles and specs (.yaml): line, what, why, fix. Exit code 1 if anything is an error."""
    from ollama_kit.cli.linting import lint_paths, print_findings
    from ollama_kit.cli.output import print_json

    findings = lint_paths(paths, _version(target))
    if as_json:
        print_json([{"path": str(path), **vars(finding)} for path, finding in findings])
    else:
        print_findings(findings, len(paths))
    ctx.exit(1 if any(finding.severity == "error" for _, finding in findings) else 0)


def _version(text: str | None):  # type: ignore[no-untyped-def]
    from ollama_kit.errors import UsageError
    from ollama_kit.modelfile.versions import ServerVersion

    if text is None:
        return None
    try:
        return ServerVersion.parse(text)
    except ValueError as error:
        raise UsageError(f"--target: {error}") from error
