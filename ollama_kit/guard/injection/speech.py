"""Whose words a sentence holds: an order reported, quoted, narrated or agreed in a contract is not one to the model."""

from __future__ import annotations

import re
from functools import cache

from ollama_kit.guard.injection.tables import concepts

FOREWORD = 24
"""Characters at the start of a sentence that name those whose deeds it narrates."""


def binds_parties(sentence: str) -> bool:
    """Whether a folded sentence says what the parties of a contract shall do, and speaks of no machine.

    >>> binds_parties("the supplier shall ignore such instructions")
    True
    """
    return _found("parties", sentence) and not _found("machine", sentence)


def is_supplied(sentence: str) -> bool:
    """Whether it says who supplies something."""
    return _found("supplied", sentence)


def narrates(sentence: str) -> bool:
    """Whether it begins with those whose deeds it narrates (attackers, a study, a model that was trained), and
    announces no quotation.

    >>> narrates("attackers often ask it to repeat the text"), narrates("attackers can: repeat the text")
    (True, False)
    """
    return _found("narrated", sentence[:FOREWORD]) and "：" not in sentence and ": " not in sentence


def relates(sentence: str) -> bool:
    """Whether what it quotes is an example of an injection, or something that people said to people.

    >>> relates('she wrote "forget it"'), relates('write "forget it"')
    (True, False)
    """
    if _found("reported", sentence) or _found("narrated", sentence[:FOREWORD]):
        return True
    return _found("uttered", sentence) and not _found("device", sentence)


def without_quotations(sentence: str) -> str | None:
    """`sentence` with a space in place of each quotation; None if it has no quotation."""
    rest, quotations = _quotations().subn(" ", sentence)
    return rest if quotations else None


def _found(concept: str, sentence: str) -> bool:
    return _spoken(concept).search(sentence) is not None


@cache
def _spoken(concept: str) -> re.Pattern[str]:
    """A concept in any language."""
    return re.compile(concepts("zh")[concept] + "|" + concepts("en")[concept])


@cache
def _quotations() -> re.Pattern[str]:
    return re.compile(r"[“\"「『‘《][^”\"」』’》\n]{1,200}[”\"」』’》]|(?<!\w)['`][^'`\n]{1,200}['`]")
