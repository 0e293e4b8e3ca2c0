"""Whether a text sent to a model stays on this machine."""

from __future__ import annotations

from ollama_kit.errors import RemoteHostRefused
from ollama_kit.server.facts import ModelFacts
from ollama_kit.server.host import Host


def require_local(host: Host, facts: ModelFacts | None, *, allow_remote: bool = False) -> None:
    """Returns if the text stays here or the caller has allowed that it leaves; RemoteHostRefused otherwise.

    A server on this machine is not enough: it may forward a cloud model's prompts (`remote_host`).
    """
    if allow_remote:
        return
    if not host.is_loopback:
        raise RemoteHostRefused(f"the text would be sent to another machine, {host.url}")
    if facts is not None and facts.is_remote:
        where = facts.remote_host or "another machine"
        raise RemoteHostRefused(f"the server forwards what {facts.name} is asked to {where}")
