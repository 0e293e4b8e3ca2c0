"""What goes between a guarded call's flow and whoever drives it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ollama_kit.errors import OutputInvalid
from ollama_kit.guard.events import Hook
from ollama_kit.guard.fence import Fence
from ollama_kit.guard.verdict import Restorer
from ollama_kit.guard.watch import Heard
from ollama_kit.records.report import Evidence, Report
from ollama_kit.server.wire import Call


@dataclass(frozen=True)
class Listen:
    """A call to send, and the ear that its lines go to, until `heard.feed` says that it has heard enough. `restore`
    gives a finished part of the answer the caller's own words back. What is heard `aside` is no part of the answer: a
    judge was asked."""

    call: Call
    heard: Heard
    attempt: int
    restore: Restorer
    aside: bool = False


@dataclass(frozen=True)
class Result:
    """A valid answer. `value` is the checked data (or an instance of the class that was the schema); without a
    schema it is the text. `evidence` tells where each quote stands in the caller's documents. `complete` is False
    for text that the caller's own bound cut, and for the empty result of `on_failure: empty`; `failure` is then the
    error that would have been raised."""

    value: Any
    text: str
    thinking: str
    report: Report
    complete: bool = True
    tool_calls: tuple[Any, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    failure: OutputInvalid | None = None


Reduce = Callable[[Sequence[Result]], Any]
"""Makes one value of the results of all parts, first part first."""


@dataclass(frozen=True)
class Surroundings:
    """What the flow takes from outside: the client's fence, a clock in seconds, a source of seeds, who wants to be
    told, whether to count exactly even where a bound proves that the prompt fits, and what makes one value of the
    results of a text that was read in parts (the context rule `map_reduce`)."""

    fence: Fence
    clock: Callable[[], float]
    draw_seed: Callable[[], int]
    hooks: tuple[Hook, ...] = ()
    count_exactly: bool = False
    reduce: Reduce | None = None
