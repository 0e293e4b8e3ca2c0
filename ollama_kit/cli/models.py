"""`list`, `build`, `diff`, `show` and `rm`: specs and the models they become."""

from __future__ import annotations

import click

from ollama_kit.cli.output import echo
from ollama_kit.cli.shared_options import (
    json_option,
    open_server,
    parsed_overrides,
    server_options,
    set_option,
    settings_from,
)


@click.command("list")
@server_options
@json_option
def list_command(host: str | None, allow_remote: bool | None, as_json: bool) -> None:
    """List the specs, their base and context, and whether the server's copies are current."""
    from ollama_kit.builder.description import inventory
    from ollama_kit.cli.output import print_result, print_table, warn

    with open_server(host, allow_remote) as server:
        found = inventory(server)
    if as_json:
        print_result(found)
        return
    rows = [(entry.name, _marked(entry.base), str(entry.context or ""), entry.state) for entry in found.entries]
    print_table(("SPEC", "BASE", "CONTEXT", "ON THE SERVER"), rows)
    if found.problem:
        warn(found.problem)
    for name in found.leftovers:
        warn(f"{name} is left over from an interrupted build; the next build removes it")


def _marked(base: str) -> str:
    """The name of a base, marked where prompts would leave this machine."""
    from ollama_kit.server.host import is_cloud_name

    return f"{base} (cloud: leaves this machine)" if is_cloud_name(base) else base


@click.command("build")
@click.argument("name")
@click.option("--from", "base", metavar="MODEL", help="The base model (default: the spec's).")
@click.option("--name", "as_name", metavar="NAME", help="The model's name (default: the spec's).")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--force", is_flag=True, help="Build even if the server's copy is current.")
@set_option
@server_options
@json_option
def build_command(  # one parameter an option
    name: str,
    base: str | None,
    as_name: str | None,
    dry_run: bool,
    force: bool,
    overrides: tuple[str, ...],
    host: str | None,
    allow_remote: bool | None,
    as_json: bool,
) -> None:
    """Build the model of the spec NAME on the server, and prove it by reading it back."""
    from dataclasses import replace

    from ollama_kit.builder.build import BuildOptions, build
    from ollama_kit.builder.description import fit_warning
    from ollama_kit.cli.output import print_result, progress_bar
    from ollama_kit.specs import load_spec

    given = parsed_overrides(overrides) | ({"from": base} if base else {})
    spec = load_spec(name, given)
    options = BuildOptions(as_name or "", force, dry_run, bool(allow_remote))
    with open_server(host, allow_remote) as server, progress_bar() as progress:
        result = build(spec, server, options, progress)
        warning = fit_warning(spec, server, settings_from(host, allow_remote))
    if warning:
        result = replace(result, notes=(*result.notes, warning))
    if as_json:
        print_result(result)
        return
    digest = f" ({result.digest[:12]})" if result.digest else ""
    echo(f"{result.name}: {result.status} on {result.host}{digest}")
    for difference in result.differences:
        echo(f"  {difference}")
    for line in (
        *result.notes,
        *(f"removed {gone}, left over from an earlier build" for gone in result.removed_leftovers),
    ):
        echo(f"  {line}", err=True)


@click.command("diff")
@click.argument("name")
@click.option("--name", "as_name", metavar="NAME", help="The model's name (default: the spec's).")
@set_option
@server_options
@json_option
@click.pass_context
def diff_command(
    ctx: click.Context,
    name: str,
    as_name: str | None,
    overrides: tuple[str, ...],
    host: str | None,
    allow_remote: bool | None,
    as_json: bool,
) -> None:
    """Compare the spec NAME with what the server has. Exit code 1 if they differ."""
    from ollama_kit.builder.build import diff
    from ollama_kit.cli.output import print_result
    from ollama_kit.specs import load_spec

    spec = load_spec(name, parsed_overrides(overrides))
    with open_server(host, allow_remote) as server:
        differences = diff(spec, server, as_name or "")
    if as_json:
        print_result({"differences": differences})
    elif differences:
        for difference in differences:
            echo(str(difference))
    else:
        echo(f"{as_name or name}: no difference")
    ctx.exit(1 if differences else 0)


@click.command("show")
@click.argument("model")
@server_options
@json_option
def show_command(model: str, host: str | None, allow_remote: bool | None, as_json: bool) -> None:
    """Show MODEL: context, GQA, tokenizer, quantization, capabilities, memory."""
    from dataclasses import replace

    from ollama_kit.builder.description import describe, memory_lines
    from ollama_kit.cli.output import print_result

    with open_server(host, allow_remote) as server:
        described = describe(server.show(model), server.url)
        described = replace(described, memory=memory_lines(model, server, settings_from(host, allow_remote)))
    if as_json:
        print_result(described)
        return
    for label, value in described.lines():
        echo(f"{label:<14}{value}")


@click.command("rm")
@click.argument("name")
@server_options
@json_option
def rm_command(name: str, host: str | None, allow_remote: bool | None, as_json: bool) -> None:
    """Remove the model NAME from the server, and leftovers of interrupted builds."""
    from ollama_kit.builder.build_records import remove_leftovers
    from ollama_kit.cli.output import print_result

    with open_server(host, allow_remote) as server:
        gone = remove_leftovers(server, server.models())
        server.delete(name)
    if as_json:
        print_result({"removed": [name, *gone], "host": server.url})
        return
    for removed in (name, *gone):
        echo(f"removed {removed} from {server.url}")
