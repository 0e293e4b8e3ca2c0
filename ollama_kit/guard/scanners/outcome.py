"""What a scanner is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from ollama_kit.text.spans import Changed, Edit

Span = tuple[int, int]


class OutOfTime(Exception):
    """A scanner's time on one text was up."""


@dataclass(frozen=True)
class ScanDeadline:
    """When a scanner's time on one text ends; `clock` gives seconds."""

    clock: Callable[[], float]
    end: float

    def left(self) -> float:
        """The seconds left; raises OutOfTime if there are none."""
        left = self.end - self.clock()
        if left <= 0:
            raise OutOfTime
        return left


@dataclass(frozen=True)
class ScanRequest:
    """One text for one scanner. `prompt` is what an answer was given to, empty for input; `vault` holds the pairs of
    (placeholder, value) of this call."""

    text: str
    prompt: str
    deadline: ScanDeadline
    vault: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class ScanOutcome:
    """A scanner's answer. `spans` are the places that failed, in characters of the text asked about; `edits` is what
    redacting them comes to; `risk` is llm-guard's own figure, from -1 to 1. `unread` says why there was no answer,
    where a text has nothing that could be judged."""

    failed: bool
    detail: str = ""
    spans: tuple[Span, ...] = ()
    edits: tuple[Edit, ...] = ()
    risk: float | None = None
    unread: str = ""


Check = Callable[[ScanRequest], ScanOutcome]

PASSED = ScanOutcome(failed=False)


def joined(spans: Iterable[Span]) -> tuple[Span, ...]:
    """The spans in order, those that touch as one.

    >>> joined([(5, 9), (0, 3), (2, 5)])
    ((0, 9),)
    """
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return tuple(found)


def merged(edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits in order, those that overlap as one that removes all they do and inserts what the first does."""
    found: list[Edit] = []
    for edit in sorted(edits, key=lambda edit: (edit.start, -edit.end)):
        if found and (edit.start < found[-1].end or (edit.start, edit.end) == (found[-1].start, found[-1].end)):
            before = found[-1]
            found[-1] = Edit(before.start, max(before.end, edit.end), before.new or edit.new)
        else:
            found.append(edit)
    return tuple(found)


def edits_of(changed: Changed) -> tuple[Edit, ...]:
    """The edits that made a changed text, read back from its map.

    >>> from ollama_kit.text.spans import apply
    >>> edits_of(apply("abc", [Edit(1, 2, "xy")]))
    (Edit(start=1, end=2, new='xy'),)
    """
    found = changed.map
    parts = list(zip(found.ends, found.shifts, found.ceilings, strict=True))
    return tuple(
        Edit(begin + shift, ceiling, changed.text[begin:end])
        for at, ((begin, shift, ceiling), (end, _, _)) in enumerate(pairwise(parts))
        if at % 2 == 0
    )


def difference(old: str, new: str) -> tuple[Edit, ...]:
    """The one edit that makes `new` of `old`: everything from the first change to the last."""
    if old == new:
        return ()
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    tail = next((at for at in range(shorter - head) if old[-1 - at] != new[-1 - at]), shorter - head)
    return (Edit(head, len(old) - tail, new[head : len(new) - tail]),)
