"""`ask` and `count`: one guarded call, and the tokens of a text."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from ollama_kit.cli.output import echo
from ollama_kit.cli.shared_options import json_option, server_options, settings_from

if TYPE_CHECKING:
    from ollama_kit.client import Client, Result
    from ollama_kit.client.calls import CallOptions
    from ollama_kit.client.drive import Piece
    from ollama_kit.guard.conversation import Document
    from ollama_kit.guard.policy import PolicyLike
    from ollama_kit.records.report import Report
    from ollama_kit.specs.model import Level, Think


LEVELS = ("low", "medium", "high", "max")
NO_PROMPT = "no prompt: pass it as an argument or pipe it to stdin"
_SAVE_AS_TEXT = ("Save it as UTF-8 text, or extract its text first.", "请另存为 UTF-8 文本，或先提取其中的文字。")


@click.command("ask")
@click.argument("model")
@click.argument("prompt", required=False)
@click.option("--document", "documents", multiple=True, type=click.Path(path_type=Path), help="An untrusted text file.")
@click.option("--image", "images", multiple=True, metavar="FILE", help="An image, for a vision model.")
@click.option("--schema", type=click.Path(path_type=Path), help="A JSON Schema the answer must satisfy.")
@click.option(
    "--think",
    type=click.Choice(("true", *LEVELS)),
    is_flag=False,
    flag_value="true",
    help="Let the model think first, at a level where it has them.",
)
@click.option("--no-think", is_flag=True, help="Do not let the model think first.")
@click.option("--policy", metavar="NAME", help="strict, standard, off, or a policy file (default: the spec's).")
@click.option("--attempts", type=click.IntRange(1, 20), help="Maximum attempts (default: the policy's).")
@click.option("--stream", is_flag=True, help="Print the answer as it arrives; it is checked at the end.")
@click.option("--answer-tokens", type=click.IntRange(1), help="Maximum answer length, in tokens.")
@click.option("--report", is_flag=True, help="Print the call's report on stderr.")
@server_options
@json_option
def ask_command(  # one parameter an option
    model: str,
    prompt: str | None,
    documents: tuple[Path, ...],
    images: tuple[str, ...],
    schema: Path | None,
    think: str | None,
    no_think: bool,
    policy: str | None,
    attempts: int | None,
    stream: bool,
    answer_tokens: int | None,
    report: bool,
    host: str | None,
    allow_remote: bool | None,
    as_json: bool,
) -> None:
    """Ask MODEL, guarded: sanitized, fitted, checked, retried. MODEL is a spec's name, or a model on the server; PROMPT
    may come from standard input."""
    from ollama_kit.cli.output import print_json, print_result, warn
    from ollama_kit.client import Client
    from ollama_kit.guard.conversation import Message

    asked = (standard_input(NO_PROMPT) if prompt in (None, "-") else prompt) or ""
    question = Message("user", asked, images=images)
    texts = [read_document(path) for path in documents]
    with Client(settings_from(host, allow_remote)) as client:
        bound = {"num_predict": answer_tokens} if answer_tokens else {}
        how: CallOptions = {
            "think": _think(think, no_think),
            "options": bound,
            "policy": _policy(client, model, policy, attempts),
        }
        if said := client.weakened_by_project(model, how["policy"]):
            warn(said)
        if stream and not as_json:
            result = _printed_as_it_comes(client.stream(model, question, documents=texts, schema=schema, **how))
        else:
            result = client.chat(model, question, documents=texts, schema=schema, **how)
    if as_json:
        answer = {"value": result.value, "text": result.text, "complete": result.complete}
        print_result({**answer, "evidence": result.evidence, "report": result.report.as_dict()})
        return
    if schema:
        print_json(result.value)
    elif not stream:
        echo(result.text)
    _print_account(result.report, whole=report)


def _print_account(report: Report, *, whole: bool) -> None:
    """The report on stderr, or the notes alone: what a reader of the answer has to know."""
    from ollama_kit.cli.output import print_report, warn

    if whole:
        print_report(report)
    for note in () if whole else report.notes:
        warn(note)


def _think(level: str | None, off: bool) -> Think | None:
    """What the two options say about thinking; None where they say nothing. UsageError where both are given."""
    from ollama_kit.errors import UsageError

    if level is not None and off:
        raise UsageError("pass either --think or --no-think")
    if level is None:
        return False if off else None
    return True if level == "true" else cast("Level", level)


def _policy(client: Client, model: str, named: str | None, attempts: int | None) -> PolicyLike | None:
    if attempts is None:
        return named
    spec = client.spec_for(model)
    return {"extends": named or (spec.guard if spec else "standard"), "attempts": attempts}


def _printed_as_it_comes(pieces: Iterator[Piece]) -> Result:
    """The result; text goes to stdout as it arrives, a restart is reported on stderr."""
    from ollama_kit.client import Delta, Restart, Result

    for piece in pieces:
        if isinstance(piece, Delta):
            echo(piece.text, nl=False)
        elif isinstance(piece, Restart):
            echo(f"\n(attempt {piece.attempt}: disregard the text above)", err=True)
        elif isinstance(piece, Result):
            echo() if isinstance(piece.value, str) else None
            return piece
    raise AssertionError("a stream ends with its result or an error")


@click.command("count")
@click.argument("model")
@click.argument("file", required=False, type=click.Path(path_type=Path))
@server_options
@json_option
def count_command(model: str, file: Path | None, host: str | None, allow_remote: bool | None, as_json: bool) -> None:
    """Count the tokens of FILE, or of standard input, as MODEL does. No prompt is sent."""
    from ollama_kit.cli.output import print_result
    from ollama_kit.client import Client

    text = read_document(file).text if file else standard_input()
    with Client(settings_from(host, allow_remote)) as client:
        tokenizer = client.profile(model).tokenizer
    tokens = tokenizer.count(text, add_bos=False)
    if as_json:
        print_result({"model": model, "tokens": tokens, "exact": tokenizer.exact, "characters": len(text)})
    elif tokenizer.exact:
        echo(str(tokens))
    else:
        echo(f"at most {tokens}")
        echo(f"not exact: {tokenizer.inexact_because}", err=True)


def read_document(path: Path) -> Document:
    """A document from a file, in whatever encoding it was written. UsageError names the file."""
    from ollama_kit.errors import UsageError
    from ollama_kit.guard.conversation import Document
    from ollama_kit.text.encodings import decode

    try:
        text, _ = decode(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is not text in UTF-8, UTF-16 or GB18030",
            hint=_SAVE_AS_TEXT,
        ) from error
    if "\x00" in text:
        raise UsageError(f"{path} is not text: it contains NUL characters", hint=_SAVE_AS_TEXT)
    return Document(text, path.name)


def standard_input(missing: str = "no text: name a file or pipe it to stdin") -> str:
    """The whole of standard input. UsageError, saying `missing`, where it is a terminal."""
    from ollama_kit.errors import UsageError
    from ollama_kit.text.encodings import decode

    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(missing)
    try:
        return decode(sys.stdin.buffer.read())[0]
    except UnicodeDecodeError as error:
        raise UsageError("standard input is not text in UTF-8, UTF-16 or GB18030") from error
