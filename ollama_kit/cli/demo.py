"""`demo`: the main job on a sample chat, with whatever Ollama there is."""

from __future__ import annotations

import click

from ollama_kit.cli.options import json_option, server_options, settings_from


@click.command("demo")
@server_options
@json_option
def demo_command(host: str | None, allow_remote: bool | None, as_json: bool) -> None:
    """Build the demo model and let it summarize a sample WeChat group chat.

    Uses the server that answers at --host or OLLAMA_HOST; if none does, starts the `ollama` on PATH and stops it
    afterwards.
    """
    from ollama_kit.cli.output import print_json, print_report
    from ollama_kit.cli.progress import progress_bar
    from ollama_kit.demonstration import demonstrate, running_server
    from ollama_kit.jobs.wechat.writers import write_markdown

    settings = settings_from(host, allow_remote)
    with running_server(settings, say=lambda line: click.echo(line, err=True)) as found, progress_bar() as progress:
        shown = demonstrate(found, progress, say=lambda line: click.echo(line, err=True))
    value = {key: shown.summary.as_dict()[key] for key in ("topics", "todos", "questions")}
    if as_json:
        print_json({"value": value, "summary": shown.summary.as_dict(), "report": shown.report.as_dict()})
        return
    print_json(value)
    click.echo(f"\n{write_markdown(shown.summary)}")
    print_report(shown.report)
