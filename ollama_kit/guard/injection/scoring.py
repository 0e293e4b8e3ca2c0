"""How much a sentence looks like an order to the model: weights of the rules it matches, by family."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache

from ollama_kit.guard.injection.literals import Literals, required
from ollama_kit.guard.injection.tables import LANGUAGES, concepts, rules

REPORTED = 0.45
"""What is left of a score where the text only speaks about an injection: the suspicious part is a quotation."""


SHORTEST = 4
"""Letters of a literal that is looked for inside a word, and not only at its start."""


@dataclass(frozen=True)
class Score:
    """`families` are what was found, with the weight of the heaviest rule of each."""

    families: dict[str, float] = field(default_factory=dict)
    factor: float = 1.0

    @property
    def total(self) -> float:
        """0 to 1: the chance that not all of the evidence is wrong, each weight taken as a chance of its own."""
        left = 1.0
        for weight in self.families.values():
            left *= 1.0 - weight
        return (1.0 - left) * self.factor

    def plus(self, family: str, weight: float) -> Score:
        """This score with one more piece of evidence; the heavier one counts within a family."""
        heavier = max(weight, self.families.get(family, 0.0))
        return Score({**self.families, family: heavier}, self.factor)

    @property
    def rule(self) -> str:
        """The family that weighs most: what to call the finding."""
        return max(self.families, key=lambda family: self.families[family], default="")


@dataclass(frozen=True)
class Compiled:
    """A rule with the words of its concepts in it."""

    family: str
    weight: float
    pattern: re.Pattern[str]


@dataclass(frozen=True, eq=False)
class Triggers:
    """Literals, and the rules that can not match without one of them."""

    literals: Literals
    rules: dict[str, tuple[int, ...]]

    @staticmethod
    def of(needed: Mapping[str, set[int]], shortest: int = 0) -> Triggers:
        """Ready to search. A literal stands for all that it contains, since only the longest one at a place is seen;
        of those shorter than `shortest` only where it begins with them."""

        def holds(literal: str, other: str) -> bool:
            return other in literal if len(other) >= shortest else literal.startswith(other)

        rules = {
            literal: tuple(sorted({number for other in needed if holds(literal, other) for number in needed[other]}))
            for literal in needed
        }
        return Triggers(Literals.of(needed), rules)


@lru_cache(maxsize=1 << 16)
def _numbers(word: str, triggers: Triggers) -> tuple[int, ...]:
    """The rules that a word may set off. Short literals count at its start only: "ai" is in every other word."""
    found = {
        number
        for at, literal in triggers.literals.places(word)
        if not at or len(literal) >= SHORTEST
        for number in triggers.rules[literal]
    }
    return tuple(sorted(found))


@dataclass(frozen=True)
class RuleSet:
    """All rules, and the literals that tell which of them can match at all."""

    rules: tuple[Compiled, ...]
    in_words: Triggers
    elsewhere: Triggers

    def hits(self, text: str) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Places in folded `text` where a literal stands, each with the numbers of the rules that need it. Latin
        letters are looked at word by word: most words were seen before, and are known to hold none."""
        for at, literal in self.elsewhere.literals.places(text):
            yield at, self.elsewhere.rules[literal]
        for word in _word().finditer(text):
            if numbers := _numbers(word.group(), self.in_words):
                yield word.start(), numbers

    def score(self, sentence: str, candidates: Iterable[int] | None = None) -> Score:
        """The score of a folded sentence by the rules numbered in `candidates` (all that its literals allow)."""
        if candidates is None:
            candidates = {number for _, numbers in self.hits(sentence) for number in numbers}
        families: dict[str, float] = {}
        for number in candidates:
            rule = self.rules[number]
            if rule.weight > families.get(rule.family, 0.0) and rule.pattern.search(sentence):
                families[rule.family] = rule.weight
        return self._discounted(sentence, Score(families))

    def _discounted(self, sentence: str, score: Score) -> Score:
        """Less where the text reports what somebody else said, and says nothing itself; or where it binds the parties
        of a contract, and speaks of no machine."""
        if score.total < REPORTED or "turn" in score.families:
            return score
        if _spoken("parties").search(sentence) and not _spoken("machine").search(sentence):
            return Score(score.families, REPORTED)
        if not _spoken("reported").search(sentence):
            return score
        rest, quotations = _quotations().subn(" ", sentence)
        if quotations and self.score(rest).total < REPORTED:
            return Score(score.families, REPORTED)
        return score


@cache
def rule_set() -> RuleSet:
    """The rules of all languages, compiled once."""
    return _ready(
        [
            Compiled(rule.family, rule.weight, re.compile(rule.expanded(concepts(language))))
            for language in LANGUAGES
            for rule in rules(language)
        ]
    )


def _ready(compiled: list[Compiled]) -> RuleSet:
    """Heavier rules come first, so that the lighter ones of a family are not tried."""
    ordered = sorted(compiled, key=lambda rule: -rule.weight)
    in_words: dict[str, set[int]] = {}
    elsewhere: dict[str, set[int]] = {}
    for number, rule in enumerate(ordered):
        for literal in required(rule.pattern):
            letters = max(_word().findall(literal), key=len, default="")
            table, key = (in_words, letters) if letters else (elsewhere, literal)
            table.setdefault(key, set()).add(number)
    return RuleSet(tuple(ordered), Triggers.of(in_words, SHORTEST), Triggers.of(elsewhere))


@cache
def _word() -> re.Pattern[str]:
    return re.compile("[a-z][a-z]+")


@cache
def _spoken(concept: str) -> re.Pattern[str]:
    """A concept in any language."""
    return re.compile(concepts("zh")[concept] + "|" + concepts("en")[concept])


@cache
def _quotations() -> re.Pattern[str]:
    return re.compile(r"[“\"「『‘《][^”\"」』’》\n]{1,200}[”\"」』’》]|(?<!\w)['`][^'`\n]{1,200}['`]")
