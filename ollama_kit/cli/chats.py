"""What `wechat summarize` does around the job: read, select, show progress, write, send."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from ollama_kit.cli.batches import minutes, open_batch, speed_said
from ollama_kit.cli.output import print_json, warn
from ollama_kit.errors import UsageError
from ollama_kit.jobs.wechat.job import JOB, WeChatJob
from ollama_kit.jobs.wechat.message import CHINA, Message
from ollama_kit.jobs.wechat.readers.read_chat import ReadOptions, read_messages
from ollama_kit.jobs.wechat.selection import select, selection_of, zone_named
from ollama_kit.jobs.wechat.summary import Summary


@dataclass(frozen=True)
class ChatRun:
    """One run of the command; `flags` are its options by name."""

    flags: Mapping[str, Any]

    def messages(self, files: Sequence[Path]) -> list[Message]:
        """The messages that are meant, from all files; what was odd about a file is said on stderr."""
        zone = zone_named(self.flags["zone"]) if self.flags["zone"] else CHINA
        selection = selection_of(
            datetime.now(zone),
            since=self.flags["since"] or "",
            until=self.flags["until"] or "",
            groups=self.flags["groups"],
            people=self.flags["people"],
        )
        reading = read_messages(files, ReadOptions(zone=zone))
        messages = list(select(reading, selection))
        for report in reading.reports:
            if report.broken or report.warnings:
                warn("; ".join((report.summary(), *report.warnings)))
        if not messages:
            total = sum(report.messages for report in reading.reports)
            raise UsageError(f"none of the {total:,} messages in these files is meant by the selection")
        return messages

    @contextmanager
    def job(self) -> Iterator[WeChatJob]:
        """The job on the server that is named. With --out its ledger lies in that folder, else in memory only."""
        with open_batch(self.flags, JOB) as around:
            yield WeChatJob(
                around.client,
                self.flags["model"],
                around.ledger,
                around.slots,
                self.flags["policy"],
                tell=around.tell,
            )

    def print_estimate(self, job: WeChatJob, messages: Sequence[Message], *, as_json: bool) -> None:
        """Chunks, tokens and minutes; a speed that is not known yet is measured with a short request."""
        speed = speed_said(job.ledger)
        found = job.estimate(messages)
        if as_json:
            print_json(found)
            return
        click.echo(f"{found.messages:,} messages in {found.chunks:,} chunks, {found.chunks_done:,} of them done")
        click.echo(f"{found.tokens:,} tokens to read, about {minutes(found.seconds)} {speed}")

    def deliver(self, summaries: Sequence[Summary], *, to_stdout: bool) -> None:
        """Writes the files, or prints the Markdown where none were asked for; then sends it, if that was asked for."""
        from ollama_kit.jobs.wechat.writers import FORMATS, write_markdown, write_summaries

        out: Path | None = self.flags["out"]
        for path in write_summaries(summaries, out, self.flags["formats"] or FORMATS) if out else ():
            click.echo(f"wrote {path}", err=True)
        for summary in summaries:
            if not out and to_stdout:
                click.echo(write_markdown(summary))
            for failure in summary.coverage.failures:
                warn(f"not covered: {failure.label}, {len(failure.messages)} messages: {failure.reason}")
        if self.flags["post"]:
            from ollama_kit.jobs.webhooks import post_markdown

            posted = post_markdown(self.flags["post"], "\n\n".join(map(write_markdown, summaries)))
            click.echo(f"sent to {posted.host}", err=True)
