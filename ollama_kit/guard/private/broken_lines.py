"""Finds keys and numbers that a line end breaks in two, as mail programs and PDFs do.

Each line end with half of one on either side is closed for a look: what is found across it counts where a check digit,
a label or the rest's own randomness shows that both halves belong together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from ollama_kit.guard.private.credentials import NAMES_OF_SECRETS, find_keys, find_labeled, looks_random
from ollama_kit.guard.private.digits import find_digits, needs_word
from ollama_kit.guard.private.rulebook import RULES, SECRETS, Hit
from ollama_kit.text.folding import FoldedViews, places

Finder = Callable[[FoldedViews], Iterator[Hit]]

LABEL = 24
"""Characters before the first half in which a label may stand."""
LONGEST_HALF = 300

CHECKED = frozenset({"id_card_18", "bank_card", "credit_code", "iban", "mobile"})
"""Numbers that are believed across a line end: they have a check digit, or need a label there."""


@cache
def _gap() -> re.Pattern[str]:
    """A line end in what may be one word, with the white space and the quotation marks around it."""
    return re.compile(r"[ \t]{0,2}\\?\r?\n[ \t>]{0,8}(?=[A-Za-z0-9_+/=-]{4})")


@cache
def _first_half() -> re.Pattern[str]:
    """What a word that a line end breaks ends with: a digit, or eight of its signs."""
    return re.compile(r"(?:[0-9]|[A-Za-z0-9_+/=-]{8})\Z")


@cache
def _word() -> re.Pattern[str]:
    return re.compile(rf"[A-Za-z0-9_+/. -]{{1,{LONGEST_HALF}}}={{0,2}}(?![=:A-Za-z0-9])")


def find_across_lines(views: FoldedViews) -> Iterator[Hit]:
    """Every key and every number that a line end breaks in two."""
    for at, _ in places(views.folded, ("\n",)):
        first = at
        while first and at - first < 4 and views.folded[first - 1] in " \t\r\\":
            first -= 1
        gap = _gap().match(views.folded, first)
        if not gap or not _first_half().search(views.folded, max(0, first - 8), first):
            continue
        last = gap.end()
        second = _word().match(views.folded, last)
        start = _start_of_half(views.folded, first)
        if second is None or not _may_be_one(views.folded, start, first, second):
            continue
        window = max(0, start - LABEL)
        joined = FoldedViews.of(views.text[window:first] + views.text[last : second.end()])
        seam, moved = first - window, last - first
        for find in _finders(joined, start - window, second[0].rstrip()):
            for hit in find(joined):
                if hit.start < seam < hit.end and _belong(joined, hit, seam):
                    yield Hit(hit.start + window, hit.end + window + moved, hit.rule)


FEWEST_DIGITS = 12
"""Digits of a number with letters in it, such as an IBAN."""


def _finders(joined: FoldedViews, start: int, second: str) -> Iterator[Finder]:
    """What may find something in two halves that begin at `start`, behind a label perhaps."""
    if second.isdigit():
        yield find_digits
        return
    yield find_keys
    if any(name in joined.lower for name in NAMES_OF_SECRETS):
        yield find_labeled
    if sum(map(str.isdigit, joined.folded[start:])) >= FEWEST_DIGITS:
        yield find_digits


LENGTHS = frozenset({11, *range(15, 20)})
"""Digits of a mobile number, an identity card and a bank card."""


def _may_be_one(text: str, start: int, end: int, second: re.Match[str]) -> bool:
    """Whether two halves are worth a look: where both are numbers, they have as many digits as one, the first divided
    by spaces perhaps; else the second is a word to its end, and one of them holds a digit."""
    numbers, rest = _numbers().search(text, max(0, end - 24), end), second[0].rstrip()
    if numbers and rest.isdigit():
        return sum(map(str.isdigit, numbers[0])) + len(rest) in LENGTHS
    word = rest.partition(" ")[0]
    behind = second.start() + len(word)
    if text[behind : behind + 1].strip():
        return False
    return any(map(str.isdigit, text[max(start, end - 40) : end])) or any(map(str.isdigit, word))


@cache
def _numbers() -> re.Pattern[str]:
    return re.compile(r"(?<![A-Za-z0-9_.-])[0-9][0-9 -]{0,22}\Z")


def _start_of_half(text: str, end: int) -> int:
    start = end
    while start > max(0, end - LONGEST_HALF) and text[start - 1].isascii() and text[start - 1] > " ":
        start -= 1
    return start


def _belong(views: FoldedViews, hit: Hit, seam: int) -> bool:
    """Whether both halves are one: a checked number, or a key whose second half is no word of its own."""
    if RULES[hit.rule] in SECRETS - {"password"}:
        rest = views.folded[seam : hit.end]
        ends = not views.folded[hit.end : hit.end + 1].strip()
        return ends and (looks_random(rest) or _mixed(rest))
    return hit.rule in CHECKED and not needs_word(views, hit)


def _mixed(rest: str) -> bool:
    """Whether a short rest has digits and letters, as no word has."""
    return any(map(str.isdigit, rest)) and any(map(str.isalpha, rest))
