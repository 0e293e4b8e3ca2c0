"""`ollama-kit roll-call`: a command. What it needs is imported when it runs, so that naming it in --help is free."""

from __future__ import annotations

from pathlib import Path

import click


@click.command("roll-call")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
def roll_call_command(files: tuple[Path, ...]) -> None:
    """Count who wrote how many messages in FILES, chats in any format that can be read."""
    from collections import Counter

    from ollama_kit.jobs.wechat import read_messages

    counts = Counter(message.name for message in read_messages(files))
    for name, count in counts.most_common():
        click.echo(f"{count:6}  {name}")
