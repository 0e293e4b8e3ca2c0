"""`ollama-kit contract`: what stands in contracts that may not leave the building."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ollama_kit.cli.options import json_option, server_options

F = TypeVar("F", bound=Callable[..., Any])
FORMATS = ("json", "md", "html")
TABLES = ("xlsx", "csv")


@click.group("contract")
def contract_command() -> None:
    """Read contracts: parties, dates, amounts and clauses, each with the words that prove it."""


def _batch_options(command: F) -> F:
    """What both commands take: the files, and how a batch of them is run and written."""
    for option in (
        click.option("--policy", metavar="NAME", help="The guard policy (default: the spec's, else standard)."),
        click.option(
            "--parallel", type=click.IntRange(1, 64), help="Requests at once; as many as the server has slots."
        ),
        click.option("--estimate", is_flag=True, help="Only say how many requests, tokens and minutes it will take."),
        click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write into this folder."),
        click.option(
            "--password-file",
            type=click.Path(path_type=Path, exists=True, dir_okay=False),
            help="Its first line opens encrypted PDFs; else it is asked for.",
        ),
        click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path)),
    ):
        command = option(command)
    return command


def _format_option(*formats: str) -> Callable[[F], F]:
    help_text = "With --out; all if none is named."
    return click.option("--format", "formats", multiple=True, type=click.Choice(formats), help=help_text)


@contract_command.command("extract")
@_batch_options
@_format_option(*FORMATS, *TABLES)
@click.option("--model", help="A spec's name, such as contract-zh, or a model on the server.")
@click.option("--no-model", is_flag=True, help="Extract by rules alone: nothing is sent anywhere.")
@click.option(
    "--schema",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A JSON Schema of your own: its properties are the questions.",
)
@server_options
@json_option
@click.pass_context
def extract_command(ctx: click.Context, /, files: tuple[Path, ...], **flags: Any) -> None:
    """Extract the facts of the contracts in FILES (PDF, DOCX, HTML, Markdown, text): by rules, and by a model whose
    every answer has its quote. With --out each is written into that folder, and a run that was interrupted goes on
    where it stopped; else Markdown is printed. Exit code 1 if any could not be read or answered."""
    from ollama_kit.cli.contracts import ContractRun
    from ollama_kit.errors import UsageError

    if bool(flags["model"]) == flags["no_model"]:
        hint = ("Say --model NAME, or --no-model for rules alone.", "请用 --model 指定模型，或用 --no-model 只用规则。")
        raise UsageError("a model or none: which?", hint=hint)
    if flags["no_model"] and (flags["schema"] or flags["estimate"]):
        raise UsageError("--schema and --estimate need a model")
    run = ContractRun(files, flags)
    reports = run.by_rules() if flags["no_model"] else run.by_model("facts")
    ctx.exit(int(bool(run.refused)) if flags["estimate"] else run.deliver(reports, (*FORMATS, *TABLES)))


@contract_command.command("summarize")
@_batch_options
@_format_option(*FORMATS)
@click.option("--model", required=True, help="A spec's name, such as contract-zh, or a model on the server.")
@server_options
@json_option
@click.pass_context
def summarize_command(ctx: click.Context, /, files: tuple[Path, ...], **flags: Any) -> None:
    """Summarize each contract on one page in plain words for whoever must sign it, each sentence with the words that
    prove it. Exit code 1 if any could not be read or answered."""
    from ollama_kit.cli.contracts import ContractRun

    run = ContractRun(files, flags)
    reports = run.by_model("summary")
    ctx.exit(int(bool(run.refused)) if flags["estimate"] else run.deliver(reports, FORMATS))
