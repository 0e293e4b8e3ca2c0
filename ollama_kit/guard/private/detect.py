"""Everything private in a text, each place once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ollama_kit.guard.private.addresses import find_addresses
from ollama_kit.guard.private.digits import find_digits
from ollama_kit.guard.private.keys import find_keys
from ollama_kit.guard.private.labeled import find_labeled
from ollama_kit.guard.private.names import find_names
from ollama_kit.guard.private.rules import OF_KIND, RULES, SECRETS, Hit
from ollama_kit.text.folding import FoldedViews

FINDERS: tuple[tuple[Callable[[FoldedViews], Iterator[Hit]], frozenset[str]], ...] = (
    (find_keys, SECRETS),
    (find_labeled, SECRETS | {"passport", "bank_account"}),
    (find_digits, frozenset({"phone", "id_card", "bank_account", "credit_code", "plate"})),
    (find_addresses, frozenset({"email", "ip", "mac"})),
    (find_names, frozenset({"name"})),
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
    views, asked = FoldedViews.of(text), redact | flag
    hits = [hit for find, kinds in FINDERS if kinds & asked for hit in find(views) if RULES[hit.rule] in asked]
    hidden = _joined(hit for hit in hits if RULES[hit.rule] in redact)
    shown = _settled(hit for hit in hits if RULES[hit.rule] not in redact)
    return tuple(_merged(hidden, shown))


def weight(hit: Hit) -> tuple[int, int, int]:
    """Orders hits by what wins where they overlap."""
    return _RANK[OF_KIND[RULES[hit.rule]].severity], hit.end - hit.start, _ORDER[hit.rule]


def _joined(hits: Iterable[Hit]) -> list[Hit]:
    """Overlapping hits as one, under the rule of the heaviest."""
    joined: list[Hit] = []
    heaviest: Hit | None = None
    for hit in sorted(hits):
        if joined and heaviest and hit.start < joined[-1].end:
            heaviest = max(heaviest, hit, key=weight)
            joined[-1] = Hit(joined[-1].start, max(joined[-1].end, hit.end), heaviest.rule)
        else:
            joined.append(hit)
            heaviest = hit
    return joined


def _settled(hits: Iterable[Hit]) -> list[Hit]:
    """Of each group of overlapping hits the heaviest, and what of the group does not touch it."""
    settled: list[Hit] = []
    for hit in sorted(hits):
        while settled and hit.start < settled[-1].end and weight(settled[-1]) < weight(hit):
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
