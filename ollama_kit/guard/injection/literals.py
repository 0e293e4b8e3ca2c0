"""Which literal strings a pattern can not match without, so that one search over a text dismisses most of it.

The same idea as the prefilter of RE2. It reads the tree that `re` itself parses a pattern into.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from ollama_kit.guard.injection.tables import word_lists

_PARSER = "re._parser" if sys.version_info >= (3, 11) else "sre_parse"
_FEW = 12


def required(pattern: re.Pattern[str]) -> frozenset[str]:
    """Literals of which every match holds at least one: the rarest such set, by a rough guess. Empty if there is
    none.

    >>> sorted(required(re.compile("(?:ab|cd)+[0-9]x?")))
    ['ab', 'cd']
    """
    tree = importlib.import_module(_PARSER).parse(pattern.pattern, pattern.flags)
    return _best(_sets(tree)) or frozenset()


def _sets(tree: Any) -> Iterator[frozenset[str]]:
    """Each set of literals that a sequence needs one of."""
    run = ""
    for kind, value in tree:
        name = str(kind)
        if name == "LITERAL":
            run += chr(value)
            continue
        if name == "AT" or name.startswith("ASSERT"):
            continue
        if run:
            yield frozenset({run})
            run = ""
        if name == "SUBPATTERN":
            yield from _sets(value[-1])
        elif name == "BRANCH":
            each = [_best(_sets(branch)) for branch in value[1]]
            if all(each):
                yield frozenset().union(*(found for found in each if found))
        elif name in {"MAX_REPEAT", "MIN_REPEAT"} and value[0] >= 1:
            yield from _sets(value[2])
        elif name == "IN" and len(value) <= _FEW and all(str(item[0]) == "LITERAL" for item in value):
            yield frozenset(chr(item[1]) for item in value)
    if run:
        yield frozenset({run})


def _best(sets: Iterable[frozenset[str]]) -> frozenset[str] | None:
    return min(sets, key=_expected, default=None)


def _expected(literals: frozenset[str]) -> float:
    """How often one of `literals` will be seen, roughly: a Chinese character says more than a letter."""
    return sum(map(_frequency, literals))


def _frequency(literal: str) -> float:
    if literal.strip() in word_lists("readings")["common"] or (len(literal) == 1 and not literal.isalnum()):
        return 0.1
    return float(10.0 ** -sum(1.0 if ord(character) < 0x2E80 else 1.6 for character in literal))


@dataclass(frozen=True, eq=False)
class Literals:
    """Strings to find all at once. Most places are dismissed by their first two characters: each of them is in one
    of two sets, and both together are in `pairs`. Only what is left is compared with whole literals."""

    near: re.Pattern[str]
    pairs: frozenset[str]
    whole: re.Pattern[str]
    single: re.Pattern[str]

    @staticmethod
    def of(literals: Iterable[str]) -> Literals:
        longer = [literal for literal in literals if len(literal) > 1]
        firsts, seconds = ({literal[at] for literal in longer} for at in (0, 1))
        near = f"{_one_of(firsts)}(?={_one_of(seconds)})"
        pairs = frozenset(literal[:2] for literal in longer)
        single = _one_of(literal for literal in literals if len(literal) == 1)
        return Literals(re.compile(near), pairs, search_for(longer), re.compile(single))

    def places(self, text: str) -> Iterator[tuple[int, str]]:
        """Each place where a literal starts, with the longest one there; they may overlap. Single characters come
        last.

        >>> list(Literals.of(["ab", "bc", "abc", "x"]).places("xabc"))
        [(1, 'abc'), (2, 'bc'), (0, 'x')]
        """
        pairs, whole = self.pairs, self.whole.match
        for near in self.near.finditer(text):
            at = near.start()
            if text[at : at + 2] in pairs and (found := whole(text, at)):
                yield at, found.group()
        for found in self.single.finditer(text):
            yield found.start(), found.group()


def _one_of(characters: Iterable[str]) -> str:
    listed = "".join(map(re.escape, sorted(characters)))
    return f"[{listed}]" if listed else "(?!)"


def search_for(literals: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds the longest of `literals` at each place, branching once a character.

    >>> search_for(["ab", "abc", "x"]).pattern
    '(?:ab(?:c)?|x)'
    """
    tree: dict[str, Any] = {}
    for literal in literals:
        node = tree
        for character in literal:
            node = node.setdefault(character, {})
        node[""] = {}
    return re.compile(_branches(tree) or "(?!)")


def _branches(node: dict[str, Any]) -> str:
    ways = [re.escape(character) + _rest(child) for character, child in sorted(node.items()) if character]
    return "(?:" + "|".join(ways) + ")" if ways else ""


def _rest(node: dict[str, Any]) -> str:
    """What follows a character: nothing, one way, or a group; optional where a literal may end here."""
    branches = _branches(node)
    if "" in node:
        return branches + "?" if branches else ""
    if len(node) == 1:
        return branches[3:-1]
    return branches
