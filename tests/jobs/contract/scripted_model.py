"""A model that answers what a test tells it to, and remembers what it was shown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ollama_kit.client import Client
from ollama_kit.jobs.contract.job import JOB, ContractJob
from ollama_kit.jobs.ledger import Ledger
from ollama_kit.settings import Settings
from ollama_kit.tokens.store import forget_loaded
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.scripted import Reply, ScriptedServer, SeenRequest, chat, show, tags

Said = tuple[Any, Sequence[str]]
"""(value, quotes)"""


@dataclass
class Told:
    """Gives `answers` by question where one of their quotes' first words is in the window (always, where `blindly`),
    and `again`, in turn, to each statement that it is asked to prove a second time."""

    answers: Mapping[str, Sequence[Said]] = field(default_factory=dict)
    again: Sequence[str] = ()
    blindly: bool = True
    shown: list[str] = field(default_factory=list)
    forms: list[Any] = field(default_factory=list)

    def __call__(self, seen: SeenRequest) -> Reply:
        body = seen.json
        text, form = body["messages"][-1]["content"], body["format"]
        self.shown.append(text)
        self.forms.append(form)
        names = form["properties"]
        if set(names) == {"quotes"}:
            quotes = [{"claim": at, "quote": quote} for at, quote in enumerate(self.again, 1)]
            return chat(json.dumps({"quotes": quotes}, ensure_ascii=False), piece=4000)(seen)
        answer = {
            name: [
                {"quotes": list(quotes), "value": value}
                for value, quotes in self.answers.get(name, ())
                if self.blindly or any(quote[:6] in text for quote in quotes)
            ]
            for name in names
        }
        return chat(json.dumps(answer, ensure_ascii=False), piece=4000)(seen)

    @property
    def asked(self) -> list[str]:
        """What was asked of windows, without what was asked again."""
        pairs = zip(self.shown, self.forms, strict=True)
        return [text for text, form in pairs if set(form["properties"]) != {"quotes"}]


@contextmanager
def contract_job(
    model: Any, *, window: int = 60_000, ledger: Path | str = ":memory:", **more: Any
) -> Iterator[tuple[ContractJob, ScriptedServer]]:
    """The job on a server whose model `m` is `model` and counts in bytes, with `window` tokens of context."""
    forget_loaded()
    with ScriptedServer(models=["m:latest"]) as server:
        described = show(info=byte_vocabulary(), template=CHATML, parameters=f"num_ctx {window}", context_length=10**6)
        server.always("GET", "/api/tags", tags("m:latest"))
        server.always("POST", "/api/show", described)
        server.always("POST", "/api/chat", model)
        with Client(Settings(host=server.url)) as client, Ledger(ledger, JOB) as opened:
            yield ContractJob(client, "m", opened, **more), server
