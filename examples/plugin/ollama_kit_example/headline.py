"""`ollama-kit headline`: a job, which is a command that has a model work on people's files, and that resumes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from ollama_kit import Document
    from ollama_kit.jobs.runner import Task

JOB = "headline"
PROMPT = "Give a headline of at most ten words."
SCHEMA = {"type": "object", "properties": {"headline": {"type": "string"}}, "required": ["headline"]}


@click.command("headline")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--model", required=True, help="A spec's name, or a model on the server.")
@click.option("--out", type=click.Path(path_type=Path), help="Keep what is done in this folder, for the next run.")
def headline_command(files: tuple[Path, ...], model: str, out: Path | None) -> None:
    """Give each of the documents FILES a headline of at most ten words."""
    from ollama_kit import Document
    from ollama_kit.cli.batches import BatchOptions, open_batch
    from ollama_kit.documents import read_document
    from ollama_kit.jobs.ledger import task_key
    from ollama_kit.jobs.runner import Batch, Task

    with open_batch(BatchOptions(model=model, out=out), JOB) as context:
        client = context.client
        weights, policy = client.profile(model).facts.digest, client.policy_for(model)

        def task(file: Path) -> Task:
            document = Document(read_document(file).text, file.name)
            decides = [weights, policy, PROMPT, SCHEMA, document.name, document.text]
            return Task(task_key(JOB, decides), file.name, document)

        def work(document: Document) -> str:
            return client.chat(model, PROMPT, documents=[document], schema=SCHEMA).value["headline"]

        batch = Batch(work, context.ledger, context.slots, tell=context.tell, stop=client.server.close)
        for outcome in batch.run([task(file) for file in files]).values():
            click.echo(f"{outcome.label}: {outcome.value if outcome.done else outcome.value['message']}")
