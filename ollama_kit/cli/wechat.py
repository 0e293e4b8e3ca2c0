"""`wechat summarize`: a night of group chats into something to read with breakfast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from ollama_kit.cli.batches import BatchOptions, batch_options, minutes, open_batch, speed_said
from ollama_kit.cli.output import echo, print_result, warn
from ollama_kit.errors import UsageError
from ollama_kit.jobs.wechat.job import JOB, WeChatJob
from ollama_kit.jobs.wechat.message import CHINA, Message
from ollama_kit.jobs.wechat.readers.read_chat import ReadOptions, read_messages
from ollama_kit.jobs.wechat.selection import select, selection_of, zone_named
from ollama_kit.jobs.wechat.summary import Summary
from ollama_kit.jobs.wechat.writers import FORMATS, write_markdown, write_summaries


@click.group("wechat")
def wechat_command() -> None:
    """Summarize WeChat chats: topics, to-dos and questions, each with its messages."""


@wechat_command.command("summarize")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--model", required=True, help="A spec's name, such as wechat-zh, or a model on the server.")
@click.option("--since", metavar="WHEN", help="Start of the time range: 2026-03-01, yesterday, 昨天, 24h.")
@click.option("--until", metavar="WHEN", help="End of the time range.")
@click.option("--group", "groups", multiple=True, metavar="NAME", help="Only this group; may be repeated.")
@click.option("--with", "people", multiple=True, metavar="NAME", help="Only the private chat with this person.")
@click.option(
    "--zone",
    metavar="ZONE",
    help="Time zone to assume if the export gives none, e.g. Asia/Shanghai or +08:00 (default: China's).",
)
@click.option("--post", metavar="URL", help="Send the Markdown to a WeCom robot or a webhook.")
@batch_options(FORMATS)
@click.pass_context
def summarize_command(
    ctx: click.Context,
    /,
    files: tuple[Path, ...],
    since: str | None,
    until: str | None,
    groups: tuple[str, ...],
    people: tuple[str, ...],
    zone: str | None,
    post: str | None,
    **batch: Any,
) -> None:
    """Summarize the chats in FILES, exports of any of the common tools. With --out an interrupted run resumes where it
    stopped. Exit code 1 if some messages could not be covered."""
    options = BatchOptions(**batch)
    messages = _messages(files, ChatRange(since or "", until or "", groups, people, zone))
    with open_batch(options, JOB) as context:
        job = WeChatJob(context.client, options.model, context.ledger, context.slots, options.policy, tell=context.tell)
        if options.estimate:
            _print_estimate(job, messages, as_json=options.as_json)
            return
        summaries = job.summarize(messages)
    if options.as_json:
        print_result({"chats": [summary.as_dict() for summary in summaries]})
    _deliver(summaries, options, post)
    ctx.exit(0 if all(summary.coverage.complete for summary in summaries) else 1)


@dataclass(frozen=True)
class ChatRange:
    """Which messages are asked for, as the options say it."""

    since: str
    until: str
    groups: tuple[str, ...]
    people: tuple[str, ...]
    zone: str | None


def _messages(files: Sequence[Path], wanted: ChatRange) -> list[Message]:
    """The messages in the range, from all files; what was odd about a file is reported on stderr. UsageError where
    none matches."""
    zone = zone_named(wanted.zone) if wanted.zone else CHINA
    selection = selection_of(
        datetime.now(zone), since=wanted.since, until=wanted.until, groups=wanted.groups, people=wanted.people
    )
    reading = read_messages(files, ReadOptions(zone=zone))
    messages = list(select(reading, selection))
    for report in reading.reports:
        if report.broken or report.warnings:
            warn("; ".join((report.summary(), *report.warnings)))
    if not messages:
        total = sum(report.messages for report in reading.reports)
        raise UsageError(f"no messages match --since/--until/--group/--with ({total:,} were read)")
    return messages


def _print_estimate(job: WeChatJob, messages: Sequence[Message], *, as_json: bool) -> None:
    """Chunks, tokens and minutes; a speed that is not known yet is measured with a short request."""
    speed = speed_said(job.ledger)
    found = job.estimate(messages)
    if as_json:
        print_result(found)
        return
    echo(f"{found.messages:,} messages in {found.chunks:,} chunks, {found.chunks_done:,} of them done")
    echo(f"{found.tokens:,} tokens to read, about {minutes(found.seconds)} {speed}")


def _deliver(summaries: Sequence[Summary], options: BatchOptions, post: str | None) -> None:
    """Writes the files, or prints the Markdown where neither files nor JSON were asked for; then posts it if asked."""
    for path in write_summaries(summaries, options.out, options.formats or FORMATS) if options.out else ():
        echo(f"wrote {path}", err=True)
    for summary in summaries:
        if not options.out and not options.as_json:
            echo(write_markdown(summary))
        for failure in summary.coverage.failures:
            warn(f"not covered: {failure.label}, {len(failure.messages)} messages: {failure.reason}")
    if post:
        from ollama_kit.jobs.webhooks import post_markdown

        posted = post_markdown(post, "\n\n".join(map(write_markdown, summaries)))
        echo(f"sent to {posted.host}", err=True)
