"""Private values out of the text, placeholders in.

`detect` runs the finders and settles which hit wins where they overlap; `redact_private_data` is the stage.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from ollama_kit.errors import UsageError
from ollama_kit.guard.private.addresses import find_addresses
from ollama_kit.guard.private.broken_lines import find_across_lines
from ollama_kit.guard.private.credentials import find_keys, find_labeled
from ollama_kit.guard.private.digits import find_digits
from ollama_kit.guard.private.labeled_cells import find_in_layout
from ollama_kit.guard.private.names import find_names
from ollama_kit.guard.private.particulars import find_particulars
from ollama_kit.guard.private.placeholders import LITERAL, Placeholders
from ollama_kit.guard.private.postal import find_postal_addresses
from ollama_kit.guard.private.rulebook import KINDS, OF_KIND, RULES, SECRETS, Hit, masked
from ollama_kit.records.report import Finding
from ollama_kit.text.folding import FoldedViews
from ollama_kit.text.spans import Changed, Edit, apply

STAGE = "private_data"
SOUGHT = SECRETS - {"private_key"}
SHORTEST_REPEAT = 6
"""Characters from which on a hidden value is looked for in places that no rule marks."""

FINDERS: tuple[tuple[Callable[[FoldedViews], Iterator[Hit]], frozenset[str]], ...] = (
    (find_keys, SECRETS),
    (find_labeled, SECRETS),
    (find_digits, frozenset({"phone", "id_card", "bank_account", "iban", "credit_code", "passport", "plate"})),
    (find_addresses, frozenset({"email", "ip", "mac"})),
    (find_particulars, frozenset({"birthday", "wechat", "qq"})),
    (find_names, frozenset({"name"})),
    (find_postal_addresses, frozenset({"address"})),
    (find_in_layout, KINDS),
    (find_across_lines, KINDS),
)
"""Each finder and the kinds it can find: one that can find nothing asked for does not run."""

_ORDER = {rule: -at for at, rule in enumerate(RULES)}
_RANK = {"high": 3, "medium": 2, "low": 1, "info": 0}


def detect(text: str, redact: frozenset[str], flag: frozenset[str] = frozenset()) -> tuple[Hit, ...]:
    """What `text` holds of the kinds asked for, in order, no two overlapping.

    Of hits that overlap, one to be redacted wins over one to be flagged, then the more severe, then the longer, then
    the rule named first in RULES. What is to be redacted grows over all that it overlaps and that is to be redacted
    too, so that no rest of a loser stays behind.

    >>> [(hit.rule, hit.start, hit.end) for hit in detect("手机13800138000。", frozenset({"phone"}))]
    [('mobile', 2, 13)]
    """
    return _found(text, rules_of(redact), rules_of(flag))


def rules_of(kinds: frozenset[str]) -> frozenset[str]:
    """Every rule of these kinds."""
    return frozenset(rule for rule, kind in RULES.items() if kind in kinds)


def _found(text: str, redact: frozenset[str], flag: frozenset[str]) -> tuple[Hit, ...]:
    """What `text` holds of what these rules find."""
    views, asked = FoldedViews.of(text), redact | flag
    kinds = {RULES[rule] for rule in asked}
    hits = [hit for find, finds in FINDERS if finds & kinds for hit in find(views) if hit.rule in asked]
    hidden = _joined(hit for hit in hits if hit.rule in redact)
    shown = _settled(hit for hit in hits if hit.rule not in redact)
    return tuple(_merged(hidden, shown))


def _weight(hit: Hit) -> tuple[int, int, int]:
    """Orders hits by what wins where they overlap."""
    return _RANK[OF_KIND[RULES[hit.rule]].severity], hit.end - hit.start, _ORDER[hit.rule]


def _joined(hits: Iterable[Hit]) -> list[Hit]:
    """Overlapping hits as one, under the rule of the heaviest."""
    joined: list[Hit] = []
    heaviest: Hit | None = None
    for hit in sorted(hits):
        if joined and heaviest and hit.start < joined[-1].end:
            heaviest = max(heaviest, hit, key=_weight)
            joined[-1] = Hit(joined[-1].start, max(joined[-1].end, hit.end), heaviest.rule)
        else:
            joined.append(hit)
            heaviest = hit
    return joined


def _settled(hits: Iterable[Hit]) -> list[Hit]:
    """Of each group of overlapping hits the heaviest, and what of the group does not touch it."""
    settled: list[Hit] = []
    for hit in sorted(hits):
        while settled and hit.start < settled[-1].end and _weight(settled[-1]) < _weight(hit):
            settled.pop()
        if not settled or hit.start >= settled[-1].end:
            settled.append(hit)
    return settled


def _merged(hidden: list[Hit], shown: list[Hit]) -> Iterator[Hit]:
    """Both in order, without what is shown inside what is hidden."""
    at = 0
    for hit in shown:
        while at < len(hidden) and hidden[at].end <= hit.start:
            yield hidden[at]
            at += 1
        if at == len(hidden) or hit.end <= hidden[at].start:
            yield hit
    yield from hidden[at:]


class PrivatePlace(NamedTuple):
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

    `placeholders` learns what was hidden. Raises UsageError for an unknown kind.

    A password or key that a label gave away is hidden wherever it occurs, in this text and in later ones.

    >>> hidden = Placeholders()
    >>> changed, findings = redact_private_data("密码：Tr0ub4dor&3", "document 0", hidden, redact=SECRETS)
    >>> changed.text, findings[0].span, hidden.restore(changed.text)
    ('密码：[PASSWORD_1]', (3, 14), '密码：Tr0ub4dor&3')
    """
    if unknown := (redact | flag) - KINDS:
        raise UsageError(
            f"unknown kind of private data: {', '.join(sorted(unknown))}; known kinds: {', '.join(sorted(KINDS))}"
        )
    return redact_by_rules(text, source, placeholders, rules_of(redact), rules_of(flag))


def redact_by_rules(
    text: str, source: str, placeholders: Placeholders, redact: frozenset[str], flag: frozenset[str]
) -> tuple[Changed, tuple[Finding, ...]]:
    """The same with single rules of RULES instead of kinds."""
    already = placeholders.reserve(text)
    places = [PrivatePlace(*hit, RULES[hit.rule]) for hit in _found(text, redact, flag)]
    hidden = [place for place in places if place.rule in redact]
    hidden = _with(hidden, _repeated(text, _words_of(text, hidden, placeholders)))
    hidden = _with(hidden, [PrivatePlace(*span, "placeholder_look_alike", LITERAL) for span in already])
    shown = _outside([place for place in places if place.rule not in redact], hidden)
    edits = [Edit(at.start, at.end, placeholders.of(at.kind, text[at.start : at.end])) for at in hidden]
    findings = [_finding(text, source, place, "redacted") for place in hidden]
    findings += [_finding(text, source, place, "flagged") for place in shown]
    return apply(text, edits), tuple(sorted(findings, key=lambda finding: finding.span))


def _finding(text: str, source: str, place: PrivatePlace, action: str) -> Finding:
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


def _words_of(text: str, hidden: Iterable[PrivatePlace], placeholders: Placeholders) -> dict[str, str]:
    """The values worth looking for elsewhere, with their kinds: secrets long enough, and more than a word."""
    new = {text[place.start : place.end]: place.kind for place in hidden}
    everything = {**placeholders.kinds_of_values(), **new}
    return {value: kind for value, kind in everything.items() if kind in SOUGHT and _is_telling(value)}


def _is_telling(value: str) -> bool:
    return len(value) >= SHORTEST_REPEAT and not value.isalpha()


def _repeated(text: str, kinds: Mapping[str, str]) -> Iterator[PrivatePlace]:
    """Every place where one of these values occurs, but not as part of a longer word."""
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
                yield PrivatePlace(start, done, "repeated_secret", kinds[value])
                break


def _runs_on(text: str, start: int, end: int) -> bool:
    """Whether a word continues across one of the ends."""
    left = text[start - 1 : start + 1] if start else ""
    right = text[end - 1 : end + 1]
    return any(len(pair) == 2 and pair.isascii() and pair.isalnum() for pair in (left, right))


def _with(places: list[PrivatePlace], more: Iterable[PrivatePlace]) -> list[PrivatePlace]:
    return sorted([*places, *_outside(more, places)])


def _outside(places: Iterable[PrivatePlace], taken: list[PrivatePlace]) -> list[PrivatePlace]:
    """Those of `places` that touch none of `taken`; both in order."""
    free, at = [], 0
    for place in places:
        while at < len(taken) and taken[at].end <= place.start:
            at += 1
        if at == len(taken) or place.end <= taken[at].start:
            free.append(place)
    return free
