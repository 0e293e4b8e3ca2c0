"""Every spec in sight, and how it stands with the server."""

from __future__ import annotations

from dataclasses import dataclass

from ollama_kit.builder.build import diff
from ollama_kit.builder.leftovers import leftovers
from ollama_kit.errors import OllamaKitError, ServerError
from ollama_kit.server import flows
from ollama_kit.server.facts import InstalledModel
from ollama_kit.server.server import Server
from ollama_kit.specs import load_spec, spec_names


@dataclass(frozen=True)
class Entry:
    """One spec. `state` is "current", "not built", "differs: …", or what is wrong with the spec."""

    name: str
    base: str = ""
    context: int | None = None
    state: str = ""


@dataclass(frozen=True)
class Inventory:
    """`problem` says why the server could not be asked; then every state is unknown."""

    host: str
    entries: tuple[Entry, ...]
    leftovers: tuple[str, ...] = ()
    problem: str = ""


def inventory(server: Server) -> Inventory:
    """All specs, sorted by name. A spec that is wrong, or a server that is away, is said in its place."""
    installed: tuple[InstalledModel, ...] | None = None
    problem = ""
    try:
        installed = server.models()
    except ServerError as error:
        problem = error.message
    entries = tuple(_entry(name, server, installed) for name in spec_names())
    return Inventory(server.url, entries, leftovers(installed or ()), problem)


def _entry(name: str, server: Server, installed: tuple[InstalledModel, ...] | None) -> Entry:
    try:
        spec = load_spec(name)
    except OllamaKitError as error:
        return Entry(name, state=f"wrong: {error.message}")
    if installed is None:
        state = "unknown"
    elif not flows.digest_of(name, installed):
        state = "not built"
    else:
        try:
            differences = diff(spec, server, installed=installed)
        except OllamaKitError as error:
            return Entry(name, spec.base, spec.context, f"unknown: {error.message}")
        state = f"differs: {', '.join(item.key for item in differences)}" if differences else "current"
    return Entry(name, spec.base, spec.context, state)
