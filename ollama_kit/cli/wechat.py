"""`wechat summarize`: a night of group chats into something to read with breakfast."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ollama_kit.cli.options import json_option, server_options

FORMATS = ("md", "json", "html", "ics", "csv")


@click.group("wechat")
def wechat_command() -> None:
    """Summarize WeChat chats: topics, to-dos and questions, each with its messages."""


@wechat_command.command("summarize")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--model", required=True, help="A spec's name, such as wechat-zh, or a model on the server.")
@click.option("--since", metavar="WHEN", help="From then on: 2026-03-01, yesterday, 昨天, 24h.")
@click.option("--until", metavar="WHEN", help="Before then.")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="Only this group; may be repeated.")
@click.option("--with", "people", multiple=True, metavar="NAME", help="Only the private chat with this person.")
@click.option("--zone", metavar="ZONE", help="Zone of exports that name none, such as Asia/Shanghai or +08:00.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write the summaries into this folder.")
@click.option(
    "--format", "formats", multiple=True, type=click.Choice(FORMATS), help="With --out; all if none is named."
)
@click.option("--estimate", is_flag=True, help="Only say how many chunks, tokens and minutes it will take.")
@click.option("--parallel", type=click.IntRange(1, 64), help="Chunks read at once; as many as the server has slots.")
@click.option("--policy", metavar="NAME", help="The guard policy (default: the spec's, else standard).")
@click.option("--post", metavar="URL", help="Send the Markdown to a WeCom robot or a webhook.")
@server_options
@json_option
@click.pass_context
def summarize_command(ctx: click.Context, /, files: tuple[Path, ...], as_json: bool, **flags: Any) -> None:
    """Summarize the chats in FILES, exports of any of the common tools. With --out a run that was interrupted goes on
    where it stopped. Exit code 1 if some messages could not be covered."""
    from ollama_kit.cli.chats import ChatRun
    from ollama_kit.cli.output import print_json

    run = ChatRun(flags)
    messages = run.messages(files)
    with run.job() as job:
        if flags["estimate"]:
            run.print_estimate(job, messages, as_json=as_json)
            return
        summaries = job.summarize(messages)
    if as_json:
        print_json([summary.as_dict() for summary in summaries])
    run.deliver(summaries, to_stdout=not as_json)
    ctx.exit(0 if all(summary.coverage.complete for summary in summaries) else 1)
