"""The `ollama-kit` command: its commands, and how every one of them ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from glob import glob

import click

from ollama_kit import __version__, plugins
from ollama_kit.errors import OllamaKitError

SUMMARIES: Mapping[str, str] = {
    "init": "Create a project in FOLDER: modelfiles/ with an example, templates/ with the spec schema.",
    "list": "List the specs, their base and context, and whether the server's copies are current.",
    "render": "Print the Modelfile of the spec NAME on stdout.",
    "lint": "Check Modelfiles and specs (.yaml): line, what, why, fix.",
    "build": "Build the model of the spec NAME on the server, and prove it by reading it back.",
    "diff": "Compare the spec NAME with what the server has.",
    "show": "Show MODEL: context, GQA, tokenizer, quantization, capabilities, memory.",
    "plan": "Show how much memory MODEL needs, what fits, and which change helps most.",
    "rm": "Remove the model NAME from the server, and leftovers of interrupted builds.",
    "wechat": "Summarize WeChat chats: topics, to-dos and questions, each with its messages.",
    "contract": "Read contracts: parties, dates, amounts and clauses, each with the words that prove it.",
    "scan": "Give the guard's verdict on a text, without a model.",
    "schema": "Show the grammar-safe subset of a schema, and what it loses.",
    "count": "Count the tokens of FILE, or of standard input, as MODEL does.",
    "ask": "Ask MODEL, guarded: sanitized, fitted, checked, retried.",
    "audit": "List the recorded calls: filter them, or export them as JSON lines or CSV.",
    "doctor": "Check this machine's setup and suggest fixes.",
    "demo": "Build the demo model and let it summarize a sample WeChat group chat.",
}
"""The first sentence of each shipped command's docstring, so that --help loads no command."""


class Commands(click.Group):
    """The commands and jobs that ship and those of plug-ins. One is imported only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_entries())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        plug_in = _entries().get(cmd_name)
        return plug_in.load(click.Command) if plug_in else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in _entries():
            from ollama_kit.errors import nearest_names

            nearest = nearest_names(args[0], tuple(_entries()))
            meant = f" Did you mean {nearest[0]!r}?" if nearest else ""
            ctx.fail(f"No such command {args[0]!r}.{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, group in (("Commands", plugins.COMMANDS), ("Jobs", plugins.JOBS)):
            with formatter.section(title):
                formatter.write_dl([(one.name, _summary(one)) for one in plugins.found(group).values()])


def _entries() -> Mapping[str, plugins.PlugIn]:
    return {**plugins.found(plugins.COMMANDS), **plugins.found(plugins.JOBS)}


def _summary(plug_in: plugins.PlugIn) -> str:
    """A line of --help. Metadata holds no text for an entry, so a plug-in's shows that of its distribution."""
    if plug_in.ships:
        return SUMMARIES[plug_in.name]
    return f"{plug_in.summary} (from {plug_in.distribution})" if plug_in.summary else f"From {plug_in.distribution}."


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="ollama-kit")
def cli() -> None:
    """Describe a local model once; every call to it is then built, bounded, guarded and checked."""


def run() -> None:
    """Runs the command line. Exit codes: 0 done, 1 the answer is no, 2 usage or spec wrong, 3 server unreachable or
    refused, 130 interrupted."""
    sys.exit(main(with_files_of_patterns(sys.argv[1:]) if os.name == "nt" else sys.argv[1:]))


def with_files_of_patterns(arguments: list[str]) -> list[str]:
    """The arguments, each pattern that names files in their place: the shells of Windows leave that to the program. A
    pattern that names none stays what it is."""
    found: list[str] = []
    for one in arguments:
        files = sorted(glob(one, recursive=True)) if {"*", "?"} & set(one) else []  # noqa: PTH207 (absolute patterns)
        found += files or [one]
    return found


def main(arguments: list[str]) -> int:
    """The exit code of one run; every error of ours becomes a sentence on stderr."""
    _survive_narrow_consoles()
    try:
        code = cli.main(arguments, prog_name="ollama-kit", standalone_mode=False)
    except click.ClickException as error:
        from io import StringIO

        from ollama_kit.text.visible import visible

        said = StringIO()
        error.show(file=said)
        click.echo(visible(said.getvalue()), err=True, nl=False)
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:  # the reader, such as `head`, has read enough
        sys.stderr.close()
        return 0
    except OllamaKitError as error:
        return _fail(error, as_json="--json" in arguments)
    return code if isinstance(code, int) else 0


def _fail(error: OllamaKitError, *, as_json: bool) -> int:
    from ollama_kit.cli.output import attempts_of, echo, error_as_dict, print_result, styled

    if as_json:
        print_result({"error": error_as_dict(error)})
    styled("error: ", fg="red", bold=True, err=True, nl=False)
    echo(error.message, err=True)
    for line in attempts_of(error):
        echo(line, err=True)
    if error.hint:
        echo(error.hint, err=True)
    return error.exit_code


def _survive_narrow_consoles() -> None:
    """A console in GBK or ASCII cannot show every character, and none can show a file name that is not Unicode:
    it shows `?` for those, and the run continues."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


if __name__ == "__main__":
    run()
