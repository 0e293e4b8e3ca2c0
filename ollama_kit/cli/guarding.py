"""`scan` and `schema`: the guards and the grammar, without a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ollama_kit import resources
from ollama_kit.cli.output import echo, styled
from ollama_kit.cli.shared_options import json_option

if TYPE_CHECKING:
    from ollama_kit.guard.scan import Scan

_COLORS = {"info": "cyan", "low": "cyan", "medium": "yellow", "high": "red"}


@click.command("scan")
@click.argument("file", required=False, type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--policy",
    default="standard",
    show_default=True,
    metavar="NAME",
    help="strict, standard, off, or a policy file.",
)
@click.option("--lines", is_flag=True, help="Treat each line as a separate text; print one JSON object per line.")
@json_option
@click.pass_context
def scan_command(ctx: click.Context, file: Path | None, policy: str, lines: bool, as_json: bool) -> None:
    """Give the guard's verdict on a text, without a model. The text is FILE, or standard input (-). Exit code 1 if it
    is not clean."""
    from ollama_kit.cli.ask import read_document, standard_input
    from ollama_kit.cli.output import print_result
    from ollama_kit.guard.policy import load_policy
    from ollama_kit.guard.scan import scan

    text = standard_input() if file is None or str(file) == "-" else read_document(file).text
    chosen = load_policy(policy)
    scans = [scan(part, chosen) for part in _parts(text, lines)]
    for found, part in zip(scans, _parts(text, lines), strict=True):
        if lines:
            print_result({"verdict": found.verdict, "findings": found.findings}, indent=None)
        elif as_json:
            print_result(found)
        else:
            _print_scan(found, part)
    ctx.exit(0 if all(found.verdict == "clean" for found in scans) else 1)


@click.command("schema")
@click.argument("file", type=click.Path(path_type=Path))
@json_option
def schema_command(file: Path, as_json: bool) -> None:
    """Show the grammar-safe subset of a schema, and what it loses. What the server's grammar cannot
    hold is checked afterwards, on every answer."""
    from ollama_kit.cli.output import print_json, print_result
    from ollama_kit.structured.schema import load_schema

    schema = load_schema(file)
    if as_json:
        print_result({"grammar": schema.grammar, "lost": schema.lost, "added": schema.added})
        return
    print_json(schema.grammar)
    for loss in schema.lost:
        echo(f"lost   {loss.path or '/'} {loss.keyword}: {loss.why}", err=True)
    for addition in schema.added:
        echo(f"added  {addition.path or '/'} {addition.keyword}: {addition.why}", err=True)


def _parts(text: str, lines: bool) -> list[str]:
    """The texts to scan. Only LF and CRLF end a line: what looks like a line end elsewhere is text."""
    if not lines:
        return [text]
    parts = text.split("\n")
    return [part.removesuffix("\r") for part in (parts[:-1] if parts[-1] == "" else parts)]


def _print_scan(found: Scan, text: str) -> None:
    """The verdict, the text with what was found in color, and a line for each finding."""
    color = {"clean": "green", "flagged": "yellow", "blocked": "red"}[found.verdict]
    styled(found.verdict, fg=color, bold=True, nl=False)
    echo(f": {found.reason}" if found.reason else "")
    if found.policy_file and not resources.is_own(Path(found.policy_file)):
        echo(f"policy from {found.policy_file}", err=True)
    at = 0
    for finding in sorted(found.findings, key=lambda finding: finding.span):
        start, end = max(at, finding.span[0]), finding.span[1]
        if start >= end:
            continue
        echo(_visible(text[at:start]), nl=False)
        styled(_visible(text[start:end]), fg=_COLORS[finding.severity], underline=True, nl=False)
        at = end
    echo(_visible(text[at:]))
    for finding in found.findings:
        line = text.count("\n", 0, finding.span[0]) + 1
        echo(f"  line {line}: ", nl=False)
        styled(finding.severity, fg=_COLORS[finding.severity], nl=False)
        echo(f" {finding.stage}/{finding.rule}, {finding.action}: {_visible(finding.detail)}")
    by_action: dict[str, list[str]] = {}
    for kind, action in found.private_data.items():
        by_action.setdefault(action, []).append(kind)
    said = "; ".join(f"{action} {', '.join(kinds)}" for action, kinds in by_action.items())
    echo(f"  private data: {said}")


def _visible(text: str) -> str:
    """A text with the characters that nobody sees, or that would steer a terminal, written as escapes."""
    keep = "\n\t"
    return "".join(
        character if character in keep or character.isprintable() else f"\\u{ord(character):04x}" for character in text
    )
