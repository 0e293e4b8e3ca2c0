"""`doctor`: what is wrong with this machine's set-up, and the fix."""

from __future__ import annotations

import click

from ollama_kit.cli.options import json_option, server_options, settings_from

_MARKS = {"ok": ("ok", "green"), "warning": ("!!", "yellow"), "error": ("no", "red")}


@click.command("doctor")
@server_options
@json_option
@click.pass_context
def doctor_command(ctx: click.Context, host: str | None, allow_remote: bool | None, as_json: bool) -> None:
    """Say what is wrong with this machine's set-up, and the fix. Exit code 1 if something is wrong."""
    from ollama_kit.cli.checkup import checkup
    from ollama_kit.cli.output import print_json

    checks = checkup(settings_from(host, allow_remote))
    if as_json:
        print_json(checks)
    else:
        for check in checks:
            mark, color = _MARKS[check.verdict]
            click.secho(f"{mark}  ", fg=color, nl=False)
            click.echo(f"{check.subject}: {check.found}")
            if check.fix:
                click.echo(f"    {check.fix}")
    ctx.exit(1 if any(check.verdict == "error" for check in checks) else 0)
