"""`ollama-kit headline`: a job, which is a command that has a model work on people's files."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("headline")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", required=True, help="A spec's name, or a model on the server.")
def headline_command(files: tuple[Path, ...], model: str) -> None:
    """Give each of the documents FILES a headline of at most ten words."""
    from ollama_kit import Client, Document
    from ollama_kit.documents import read_document

    schema = {"type": "object", "properties": {"headline": {"type": "string"}}, "required": ["headline"]}
    with Client() as client:
        for file in files:
            document = Document(read_document(file).text, file.name)
            result = client.chat(model, "Give a headline of at most ten words.", documents=[document], schema=schema)
            click.echo(f"{file.name}: {result.value['headline']}")
