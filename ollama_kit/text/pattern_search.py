"""Searches long texts for patterns in little time.

A pattern cannot match without certain literal strings (the idea of RE2's prefilter, read off the tree that `re` itself
parses), so one search for those dismisses most of a text; a pattern with an anchor is tried only near its anchors. Of
finds that overlap, the longest is kept.
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, TypeVar

_PARSER = "re._parser" if sys.version_info >= (3, 11) else "sre_parse"
_FEW = 12

_EVERYWHERE = """
the all any as shall you your and to in of is are do set go not at it this that for with be by on or an from we i my
http https www 我 你 不 是 的 为 成 只 一 给 在 到 个 了 有 都 就 要 可 能 上 下 写 说 不是
"""
_COMMON = frozenset(_EVERYWHERE.split())
"""Words and characters of almost every text: looking for one dismisses little."""

SHORTEST = 4
"""Letters of a literal that is looked for inside a word, and not only at its start."""


def required(pattern: str, named: Mapping[str, Sequence[frozenset[str]]] | None = None) -> list[frozenset[str]]:
    """Sets of literals, the rarest first by a rough guess: every match of `pattern` holds at least one literal of each
    set. A character of `named` represents a part whose sets are known.

    >>> [sorted(each) for each in required("(?:ab|cd)+[0-9]xyz?")]
    [['xy'], ['ab', 'cd']]
    """
    tree = importlib.import_module(_PARSER).parse(pattern)
    return by_rarity(_sets(tree, named or {}))


def by_rarity(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """The different `sets`, that whose literals are seen least often first, by a rough guess."""
    return sorted(set(sets), key=lambda found: (expected(found), sorted(found)))


def _sets(tree: Any, named: Mapping[str, Sequence[frozenset[str]]]) -> Iterator[frozenset[str]]:
    """Each set of literals that a sequence needs one of. Those that may continue a word are left out where they are so
    short that they count only at its start."""
    run, inside = "", False
    for kind, value in tree:
        name = str(kind)
        if name == "LITERAL" and chr(value) not in named:
            run += chr(value)
            continue
        if run:
            yield frozenset({run})
            inside, run = run[-1].isascii() and run[-1].isalpha(), ""
        if name == "AT":
            inside = False
        elif name != "ASSERT_NOT" and not (name == "ASSERT" and value[0] < 0):
            found = _sets_of(name, value, named)
            yield from (each for each in found if not inside or min(map(len, each)) >= SHORTEST)
            inside = inside and name == "MAX_REPEAT" and value[0] == 0
    if run:
        yield frozenset({run})


def _sets_of(name: str, value: Any, named: Mapping[str, Sequence[frozenset[str]]]) -> Iterator[frozenset[str]]:
    """The same for one node of the tree that is not a plain character."""
    if name == "LITERAL":
        yield from named[chr(value)]
    elif name in {"SUBPATTERN", "ASSERT"}:
        yield from _sets(value[-1], named)
    elif name == "BRANCH":
        each = [_best(_sets(branch, named)) for branch in value[1]]
        if all(each):
            yield frozenset().union(*(found for found in each if found))
    elif name in {"MAX_REPEAT", "MIN_REPEAT"} and value[0] >= 1:
        yield from _sets(value[2], named)
    elif name == "IN" and len(value) <= _FEW and all(str(item[0]) == "LITERAL" for item in value):
        yield frozenset(chr(item[1]) for item in value)


def _best(sets: Iterable[frozenset[str]]) -> frozenset[str] | None:
    return min(sets, key=expected, default=None)


def expected(literals: Iterable[str]) -> float:
    """How often one of `literals` will be seen, roughly: a Chinese character says more than a letter."""
    return sum(map(_frequency, literals))


@cache
def _frequency(literal: str) -> float:
    if not literal.strip():
        return 1.0
    if literal.strip() in _COMMON or (len(literal) == 1 and not literal.isalnum()):
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

    def places(self, text: str) -> list[tuple[int, str]]:
        """Each place where a literal starts, with the longest one there; they may overlap. Single characters come
        last.

        >>> Literals.of(["ab", "bc", "abc", "x"]).places("xabc")
        [(1, 'abc'), (2, 'bc'), (0, 'x')]
        """
        pairs, whole = self.pairs, self.whole.match
        starts = [near.start() for near in self.near.finditer(text)]
        longer = [(at, found[0]) for at in starts if text[at : at + 2] in pairs and (found := whole(text, at))]
        return longer + [(single.start(), single[0]) for single in self.single.finditer(text)]


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


def any_of(words: Iterable[str]) -> re.Pattern[str]:
    """A pattern that finds the longest of `words` at each place, quickly."""
    return search_for(sorted(set(words)))


def windows(text: str, anchor: re.Pattern[str], before: int, behind: int) -> Iterator[tuple[int, int]]:
    """The parts of `text` that reach so far before and behind each anchor; those that touch are one.

    >>> list(windows("....x....x..........x", re.compile("x"), 2, 2))
    [(2, 12), (18, 21)]
    """
    start = end = -1
    for match in anchor.finditer(text):
        first = match.start() - before
        if end < 0 or first > end:
            if end >= 0:
                yield start, min(end, len(text))
            start = max(0, first)
        end = match.end() + behind
    if end >= 0:
        yield start, min(end, len(text))


def matches_near(
    pattern: re.Pattern[str], text: str, anchor: re.Pattern[str], before: int, behind: int
) -> Iterator[re.Match[str]]:
    """Every match of `pattern` that lies within those parts: all there are, where each match has an anchor, begins no
    further than `before` ahead of it and ends, with what it looks at, no further than `behind` after it."""
    for start, end in windows(text, anchor, before, behind):
        yield from pattern.finditer(text, start, end)


class Placed(Protocol):
    """Something found at `[start:end]` of a text."""

    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


P = TypeVar("P", bound=Placed)


def longest_first(found: Iterable[P]) -> list[P]:
    """`found` in order of place, without overlap: the one that starts first is kept, of two there the longer."""
    kept: list[P] = []
    for one in sorted(found, key=lambda placed: (placed.start, -placed.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return kept
