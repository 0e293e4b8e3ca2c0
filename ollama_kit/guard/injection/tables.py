"""Reads the tables of words and rules that ship beside this module: `tables/<language>.words` and `.rules`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

LANGUAGES = ("zh", "en", "marks")
"""`marks` are forms that belong to no language."""

START = (
    r"(?:^|[.!?:;,\"'“‘(\[\]{}<>|*_>#-]\s*|\b(?:please|now|and|then|just|must|should|to|can|will|you|also|instead|kindly|"
    r"first|so|simply|immediately|could|would|shall|next|finally|important|let's|but|ok|okay|hey|hi|stop|never ?mind|"
    r"urgent)\b[\s,:!-]*)"
)
"""Where an English order may begin: at the start, after punctuation, or after a word that leads one in."""

_NAME = re.compile(r"\{([a-z_]+)\}")
_GAP = re.compile(r"~(\d+)")
_WHOLE_WORDS = frozenset({"en"})


@dataclass(frozen=True)
class InjectionRule:
    """`pattern` found in a sentence adds `weight` (0 to 1) for `family`. In it, `{name}` is replaced by the words of a
    concept, `~n` for at most n characters in between, and ` && ` joins parts that must all be found, in any order."""

    family: str
    weight: float
    pattern: str

    def expanded(self, concepts: Mapping[str, str]) -> tuple[str, ...]:
        """The regular expression of each part, with the words of `concepts` in it. Raises KeyError for a name not
        among them.

        >>> InjectionRule("override", 0.5, "{ignore}~4x && y").expanded({"ignore": "(?:忽略)"})
        ('(?:忽略)[^\\\\n]{0,4}?x', 'y')
        """
        named = _NAME.sub(lambda match: concepts[match[1]], self.pattern)
        return tuple(_GAP.sub(r"[^\\n]{0,\1}?", named).split(" && "))


def outline(rule: InjectionRule, names: Sequence[str]) -> tuple[str, ...]:
    """The parts of `rule` with one character in place of each `{name}`: quick to parse, whatever the concepts hold.

    >>> outline(InjectionRule("override", 0.5, "{ignore}x"), ["orders", "ignore"]) == (stands_for(1) + "x",)
    True
    """
    return rule.expanded({name: stands_for(at) for at, name in enumerate(names)})


def stands_for(at: int) -> str:
    """The placeholder character (private use) of the concept numbered `at`."""
    return chr(0xE000 + at)


@cache
def word_lists(language: str) -> Mapping[str, tuple[str, ...]]:
    """The concepts of a language and their alternatives."""
    lists: dict[str, list[str]] = {}
    listed: list[str] = []
    for line in _lines(f"{language}.words"):
        if not line[0].isspace():
            name, _, line = line.partition(":")
            listed = lists.setdefault(name, [])
        listed += line.split()
    return {name: tuple(alternatives) for name, alternatives in lists.items()}


@cache
def concepts(language: str) -> Mapping[str, str]:
    """Each concept as one regular expression; English ones match whole words."""
    ready = {name: either(listed) for name, listed in word_lists(language).items()}
    if language not in _WHOLE_WORDS:
        return ready
    return {name: rf"\b{pattern}\b" for name, pattern in ready.items()} | {"start": START}


def either(alternatives: tuple[str, ...]) -> str:
    """One of the alternatives, longer ones first.

    >>> either(("a", "bc"))
    '(?:bc|a)'
    """
    return "(?:" + "|".join(sorted(alternatives, key=len, reverse=True)) + ")"


@cache
def rules(language: str) -> tuple[InjectionRule, ...]:
    """The rules of a language, in the order of the table."""
    return tuple(
        InjectionRule(family, float(weight), pattern)
        for family, weight, pattern in (line.split(" ", 2) for line in _lines(f"{language}.rules"))
    )


def _lines(name: str) -> Iterator[str]:
    """The lines of a table that are neither empty nor comments."""
    from importlib.resources import files

    text = (files("ollama_kit.guard.injection") / "tables" / name).read_text(encoding="utf-8")
    return (line for line in text.splitlines() if line.strip() and not line.startswith("#"))
