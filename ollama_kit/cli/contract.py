"""`ollama-kit contract`: what stands in contracts that may not leave the building."""

from __future__ import annotations

from pathlib import Path

import click

from ollama_kit.cli.options import json_option


@click.group("contract")
def contract_command() -> None:
    """Read contracts: parties, dates, amounts and clauses, each with the words that prove it."""


@contract_command.command("extract")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--no-model", is_flag=True, default=True, help="Extract by rules alone, which is what it does.")
@click.option(
    "--password-file", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Of encrypted PDFs."
)
@click.option(
    "--out", type=click.Path(path_type=Path, file_okay=False), help="Write JSON and Markdown into this folder."
)
@json_option
@click.pass_context
def extract_command(
    ctx: click.Context,
    /,
    files: tuple[Path, ...],
    no_model: bool,
    password_file: Path | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Extract the facts of the contracts in FILES (PDF, DOCX, HTML, Markdown, text) by rules, without a model. With
    --out each is written as JSON and Markdown, else Markdown is printed. Exit code 1 if any could not be read."""
    from ollama_kit.cli.output import error_as_dict, print_json, warn
    from ollama_kit.jobs.contract import facts_as_dict, read_contracts, write_files, write_markdown

    password = password_file.read_text(encoding="utf-8").rstrip("\r\n") if password_file else None
    contracts, refused = read_contracts(files, password=password)
    for error in refused:
        warn(str(error))
    for path in write_files(contracts, out) if out else ():
        warn(f"written: {path}")
    if as_json:
        errors = [error_as_dict(error) for error in refused]
        print_json({"contracts": [facts_as_dict(one) for one in contracts], "refused": errors})
    elif not out:
        click.echo("\n".join(map(write_markdown, contracts)), nl=False)
    ctx.exit(1 if refused else 0)
