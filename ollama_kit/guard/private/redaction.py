"""The stage: private values out of the text, placeholders in."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from ollama_kit.errors import UsageError
from ollama_kit.guard.private.detect import detect
from ollama_kit.guard.private.placeholders import LITERAL, Placeholders
from ollama_kit.guard.private.rules import KINDS, OF_KIND, RULES, SECRETS, masked
from ollama_kit.records.report import Finding
from ollama_kit.text.spans import Changed, Edit, apply

STAGE = "private_data"
SOUGHT = SECRETS - {"private_key"}
SHORTEST_REPEAT = 6
"""Characters from which on a hidden value is sought in places that no rule marks."""


class Place(NamedTuple):
    """A part of the text, and what it holds."""

    start: int
    end: int
    rule: str
    kind: str


def redact_private_data(
    text: str,
    source: str,
    placeholders: Placeholders,
    *,
    redact: frozenset[str],
    flag: frozenset[str] = frozenset(),
) -> tuple[Changed, tuple[Finding, ...]]:
    """The text with every value of the kinds `redact` behind a placeholder, and a finding for each of these and of
    the kinds `flag`. A finding names its kind and shows the value masked; the values are kept by `placeholders`
    alone, whose `restore` is the inverse.

    `placeholders` learns what was hidden. Raises UsageError for a kind that there is not.

    A password or key that a label gave away is hidden wherever it stands, in this text and in later ones.

    >>> hidden = Placeholders()
    >>> changed, findings = redact_private_data("密码：Tr0ub4dor&3", "document 0", hidden, redact=SECRETS)
    >>> changed.text, findings[0].span, hidden.restore(changed.text)
    ('密码：[PASSWORD_1]', (3, 14), '密码：Tr0ub4dor&3')
    """
    if unknown := (redact | flag) - KINDS:
        raise UsageError(f"no kind of private data: {', '.join(sorted(unknown))}; there are {', '.join(sorted(KINDS))}")
    already = placeholders.reserve(text)
    places = [Place(*hit, RULES[hit.rule]) for hit in detect(text, redact, flag)]
    hidden = [place for place in places if place.kind in redact]
    hidden = _with(hidden, _repeated(text, _words_of(text, hidden, placeholders)))
    hidden = _with(hidden, [Place(*span, "placeholder_look_alike", LITERAL) for span in already])
    shown = _outside([place for place in places if place.kind not in redact], hidden)
    edits = [Edit(at.start, at.end, placeholders.of(at.kind, text[at.start : at.end])) for at in hidden]
    findings = [_finding(text, source, place, "redacted") for place in hidden]
    findings += [_finding(text, source, place, "flagged") for place in shown]
    return apply(text, edits), tuple(sorted(findings, key=lambda finding: finding.span))


def _finding(text: str, source: str, place: Place, action: str) -> Finding:
    value = text[place.start : place.end]
    literal = place.kind == LITERAL
    return Finding(
        stage=STAGE,
        rule=place.rule,
        severity="info" if literal else OF_KIND[place.kind].severity,
        action="redacted" if action == "redacted" else "flagged",
        source=source,
        span=(place.start, place.end),
        detail=f"{place.kind}: {value if literal else masked(place.kind, value)}",
    )


def _words_of(text: str, hidden: Iterable[Place], placeholders: Placeholders) -> dict[str, str]:
    """The values worth seeking elsewhere, with their kinds: secrets long enough, and more than a word."""
    new = {text[place.start : place.end]: place.kind for place in hidden}
    everything = {**placeholders.kinds_of_values(), **new}
    return {value: kind for value, kind in everything.items() if kind in SOUGHT and _is_telling(value)}


def _is_telling(value: str) -> bool:
    return len(value) >= SHORTEST_REPEAT and not value.isalpha()


def _repeated(text: str, kinds: Mapping[str, str]) -> Iterator[Place]:
    """Every place where one of these values stands, not as a part of a longer word."""
    if not kinds:
        return
    lengths: dict[str, set[int]] = {}
    for value in kinds:
        lengths.setdefault(value[:SHORTEST_REPEAT], set()).add(len(value))
    begins = re.compile("[" + "".join(sorted({re.escape(start[0]) for start in lengths})) + "]")
    done = 0
    for candidate in begins.finditer(text):
        start = candidate.start()
        if start < done:
            continue
        for length in sorted(lengths.get(text[start : start + SHORTEST_REPEAT], ()), reverse=True):
            value = text[start : start + length]
            if value in kinds and not _runs_on(text, start, start + length):
                done = start + length
                yield Place(start, done, "repeated_secret", kinds[value])
                break


def _runs_on(text: str, start: int, end: int) -> bool:
    """Whether a word goes on over one of the ends."""
    left = text[start - 1 : start + 1] if start else ""
    right = text[end - 1 : end + 1]
    return any(len(pair) == 2 and pair.isascii() and pair.isalnum() for pair in (left, right))


def _with(places: list[Place], more: Iterable[Place]) -> list[Place]:
    return sorted([*places, *_outside(more, places)])


def _outside(places: Iterable[Place], taken: list[Place]) -> list[Place]:
    """Those of `places` that touch none of `taken`; both in order."""
    free, at = [], 0
    for place in places:
        while at < len(taken) and taken[at].end <= place.start:
            at += 1
        if at == len(taken) or place.end <= taken[at].start:
            free.append(place)
    return free
