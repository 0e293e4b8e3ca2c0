"""`ask` and `count`: one guarded call, and the tokens of a text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ollama_kit.cli.options import json_option, server_options, settings_from

if TYPE_CHECKING:
    from ollama_kit.guard.conversation import Document


_SAVE_AS_TEXT = ("Save it as UTF-8 text, or extract its text first.", "请另存为 UTF-8 文本，或先提取其中的文字。")


@click.command("ask")
@click.argument("model")
@click.argument("prompt", required=False)
@click.option("--document", "documents", multiple=True, type=click.Path(path_type=Path), help="An untrusted text file.")
@click.option("--schema", type=click.Path(path_type=Path), help="A JSON Schema the answer must satisfy.")
@click.option("--think/--no-think", default=None, help="Let the model think first, where it can.")
@click.option("--attempts", default=3, show_default=True, type=click.IntRange(1, 20), help="Tries in all.")
@click.option("--answer-tokens", type=click.IntRange(1), help="Bound on the answer's length.")
@click.option("--report", is_flag=True, help="Print the call's report on stderr.")
@server_options
@json_option
def ask_command(  # one parameter an option
    model: str,
    prompt: str | None,
    documents: tuple[Path, ...],
    schema: Path | None,
    think: bool | None,
    attempts: int,
    answer_tokens: int | None,
    report: bool,
    host: str | None,
    allow_remote: bool | None,
    as_json: bool,
) -> None:
    """Ask MODEL, guarded: sanitised, fitted, checked, retried. MODEL is a spec's name, or a model on the server; PROMPT
    may come from standard input."""
    from ollama_kit.cli.output import print_json, print_report, warn
    from ollama_kit.client import Client

    question = _standard_input() if prompt in (None, "-") else prompt
    texts = [read_document(path) for path in documents]
    options = {"num_predict": answer_tokens} if answer_tokens else {}
    with Client(settings_from(host, allow_remote), attempts=attempts) as client:
        result = client.chat(model, question or "", documents=texts, schema=schema, think=think, options=options)
    if as_json:
        print_json({"value": result.value, "text": result.text, "report": result.report.as_dict()})
    elif schema:
        print_json(result.value)
    else:
        click.echo(result.text)
    if report:
        print_report(result.report)
    elif not as_json:
        for note in result.report.notes:
            warn(note)


@click.command("count")
@click.argument("model")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@server_options
@json_option
def count_command(model: str, file: Path | None, host: str | None, allow_remote: bool | None, as_json: bool) -> None:
    """Count the tokens of FILE, or of standard input, as MODEL does. No prompt is sent."""
    from ollama_kit.cli.output import print_json
    from ollama_kit.client import Client

    text = read_document(file).text if file else _standard_input()
    with Client(settings_from(host, allow_remote)) as client:
        tokenizer = client.profile(model).tokenizer
    tokens = tokenizer.count(text, add_bos=False)
    if as_json:
        print_json({"model": model, "tokens": tokens, "exact": tokenizer.exact, "characters": len(text)})
    elif tokenizer.exact:
        click.echo(str(tokens))
    else:
        click.echo(f"at most {tokens}")
        click.echo(f"not exact: {tokenizer.inexact_because}", err=True)


def read_document(path: Path) -> Document:
    """A document from a file, in whatever encoding it was written. UsageError names the file."""
    from ollama_kit.encodings import decode
    from ollama_kit.errors import UsageError
    from ollama_kit.guard.conversation import Document

    try:
        text, _ = decode(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} can not be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not text in UTF-8, UTF-16 or GB18030",
            hint=_SAVE_AS_TEXT,
        ) from error
    if "\x00" in text:
        raise UsageError(f"{path} is not text: it holds NUL characters", hint=_SAVE_AS_TEXT)
    return Document(text, path.name)


def _standard_input() -> str:
    from ollama_kit.encodings import decode
    from ollama_kit.errors import UsageError

    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("there is no text: give it as an argument, or send it on standard input")
    try:
        return decode(sys.stdin.buffer.read())[0]
    except UnicodeDecodeError as error:
        raise UsageError("standard input is not text in UTF-8, UTF-16 or GB18030") from error
