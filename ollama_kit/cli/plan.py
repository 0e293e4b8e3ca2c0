"""`plan`: how much memory a model needs, and what fits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ollama_kit.cli.output import echo, styled
from ollama_kit.cli.shared_options import json_option, open_server, server_options, settings_from

if TYPE_CHECKING:
    from ollama_kit.memory.available import Memory
    from ollama_kit.memory.fitting import Answer, Fit
    from ollama_kit.memory.plan import Extras
    from ollama_kit.memory.setup import Setup
    from ollama_kit.memory.sources import Subject

_ENGINES = {"ollama": "b10488", "llama.cpp": "b11434", "ollama-0.9": "0.9"}
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command("plan")
@click.argument("model")
@click.option(
    "--memory", metavar="SIZE", help="Available memory, e.g. 8GiB (default: the settings, the card, the RAM)."
)
@click.option(
    "--context", type=click.IntRange(1), help="num_ctx, in tokens (default: the spec's or the model's, else 8192)."
)
@click.option(
    "--kv-cache",
    type=click.Choice(["f16", "q8_0", "q4_0"]),
    default="f16",
    show_default=True,
    help="OLLAMA_KV_CACHE_TYPE.",
)
@click.option("--parallel", type=click.IntRange(1, 64), default=1, show_default=True, help="OLLAMA_NUM_PARALLEL.")
@click.option("--gpu-layers", type=click.IntRange(0), help="num_gpu: layers on the card (default: all).")
@click.option("--batch", type=click.IntRange(1), help="num_batch (default: Ollama's choice).")
@click.option("--flash/--no-flash", default=None, help="Flash attention.")
@click.option("--cpu", is_flag=True, help="Plan for RAM, without a card.")
@click.option("--engine", type=click.Choice([*_ENGINES]), help="Engine to model (default: the server's, else ollama).")
@click.option("--projector", type=_FILE, help="A vision projector loaded with the model.")
@click.option("--draft", type=_FILE, help="A draft model loaded with the model.")
@click.option(
    "--draft-tokens",
    type=click.IntRange(0, 64),
    default=0,
    help="Tokens drafted by the model's own draft block.",
)
@click.option("--explain", is_flag=True, help="Show each part's formula with its numbers.")
@click.option("--svg", type=_FILE, help="Draw the plan into this file.")
@click.option("--write", is_flag=True, help="Set `context` in the spec's file to the longest that fits.")
@server_options
@json_option
@click.pass_context
def plan_command(
    ctx: click.Context,
    /,
    model: str,
    memory: str | None,
    projector: Path | None,
    draft: Path | None,
    explain: bool,
    svg: Path | None,
    write: bool,
    cpu: bool,
    host: str | None,
    allow_remote: bool | None,
    as_json: bool,
    **asked: Any,
) -> None:
    """Show how much memory MODEL needs, what fits, and which change helps most. MODEL is a spec, a GGUF file, a model
    on the server, or a Qwen model by name, which needs no download. Exit code 1 if it does not fit."""
    from ollama_kit.cli.output import print_result
    from ollama_kit.memory.fitting import Fitting, answer
    from ollama_kit.memory.picture import svg as drawn
    from ollama_kit.memory.sources import find_subject
    from ollama_kit.text.encodings import write_text

    with open_server(host, allow_remote) as server:
        subject = find_subject(model, server)
        there = _memory(memory, host, cpu, server.host.is_loopback)
    setup = subject.setup(**{**asked, "engine": _ENGINES.get(asked.pop("engine") or "")}, on_card=not cpu)
    found = answer(Fitting(subject.shape, setup, _extras(projector, draft, setup)), there)
    if svg:
        write_text(svg, drawn(found.plan, there.size_bytes if there else None), private=False)
    if as_json:
        print_result(found.as_dict())
    else:
        _print(found, explain)
    if write:
        _write(subject, found)
    ctx.exit(0 if found.fits or write else 1)


def _memory(flag: str | None, host: str | None, cpu: bool, local: bool) -> Memory | None:
    from dataclasses import replace

    from ollama_kit.memory.available import memory_at_hand

    found = memory_at_hand(flag or settings_from(host).memory, local=local)
    return replace(found, is_card=False) if found and cpu else found


def _extras(projector: Path | None, draft: Path | None, setup: Setup) -> Extras:
    from ollama_kit.memory.gguf_shape import read_gguf, tensor_bytes
    from ollama_kit.memory.plan import Extras, make_plan

    beside = make_plan(read_gguf(draft), setup).reported_bytes if draft else 0
    return Extras(tensor_bytes(projector) if projector else 0, beside)


def _print(found: Answer, explain: bool) -> None:
    from ollama_kit.cli.output import print_table
    from ollama_kit.memory.quantities import shown

    shape, setup = found.plan.shape, found.plan.setup
    echo(f"{shape.name}: {shape.architecture}, {shape.parameters / 1e9:.2f} billion weights, from {shape.origin}")
    slots = f"{setup.parallel} slot{'s' if setup.parallel > 1 else ''}"
    echo(f"{setup.context:,} tokens, {setup.kv_cache} cache, {slots}, batch {found.plan.batch}")
    _print_bar(found)
    for line in _verdict(found):
        echo(line)
    if explain:
        for part in found.plan.parts:
            echo(f"{part.name}: {part.card_bytes:,} on the card, {part.host_bytes:,} on the host\n  {part.formula}")
    headings = ("CARD", "FITS", "LONGEST CONTEXT f16", "q8_0", "q4_0", "LAYERS", "THEN IN RAM")
    print_table(headings, [_row(fit) for fit in found.cards])
    for number, change in enumerate(found.changes):
        if number == 0:
            echo("What helps most:")
        enough = ", enough" if change.fits and not found.fits else ""
        echo(f"  {change.what} saves {shown(change.saves_bytes)}{enough} ({change.how})")
    for note in shape.notes:
        echo(f"note: {note}", err=True)


def _print_bar(found: Answer) -> None:
    from ollama_kit.memory.picture import legend, segments

    echo("[", nl=False)
    for segment in segments(found.plan, found.memory.size_bytes if found.memory else None):
        styled(segment.letter * segment.width, fg=segment.color or None, nl=False)
    echo("]")
    echo("  ".join(f"{letter} {name} {size}" for letter, name, size in legend(found.plan)))


def _verdict(found: Answer) -> Iterator[str]:
    from ollama_kit.memory.quantities import shown

    needed = shown(found.plan.needed_bytes)
    host = shown(found.plan.host_bytes)
    where = f"{needed} on the card, {host} in RAM" if found.plan.setup.on_card else f"{needed} in RAM"
    if found.memory is None or found.fit is None:
        yield f"needs {where}; the available memory is not known (--memory)"
        return
    verdict = "fits" if found.fits else "DOES NOT FIT"
    yield f"needs {where}: {verdict} in {shown(found.memory.size_bytes)} ({found.memory.source})"
    longest = ", ".join(f"{tokens:,} ({kind})" for kind, tokens in found.fit.contexts.items())
    yield f"longest context that fits: {longest}"
    if found.plan.setup.on_card:
        layers = f"{found.fit.layers} of {found.fit.layers_in_all} layers"
        yield f"{layers} fit on the card; {shown(found.fit.host_bytes)} then in RAM"


def _row(fit: Fit) -> tuple[str, ...]:
    from ollama_kit.memory.quantities import GIB, shown

    contexts = tuple(f"{tokens:,}" if tokens else "-" for tokens in fit.contexts.values())
    layers = f"{fit.layers} of {fit.layers_in_all}"
    return (f"{fit.memory_bytes // GIB} GiB", "yes" if fit.fits else "no", *contexts, layers, shown(fit.host_bytes))


def _write(subject: Subject, found: Answer) -> None:
    from ollama_kit.errors import UsageError
    from ollama_kit.memory.spec_file import set_context

    if subject.spec is None or subject.spec.path is None:
        raise UsageError("--write needs a spec: `context` is set in its file")
    if not found.longest_context:
        raise UsageError(
            "no context fits in the available memory" if found.fit else "the available memory is not known",
            hint=(
                "Give a larger --memory, or see above what would help.",
                "请用 --memory 指定更大的内存，或参考上面的建议。",
            ),
        )
    changed = set_context(subject.spec.path, found.longest_context)
    echo(f"{'set' if changed else 'kept'} context: {found.longest_context} in {subject.spec.path}", err=True)
