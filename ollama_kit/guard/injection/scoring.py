"""How much a sentence looks like an order to the model: weights of the rules it matches, by family."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, reduce
from itertools import accumulate, islice
from operator import or_

from ollama_kit.guard.injection.speech import binds_parties, is_supplied, narrates, relates, without_quotations
from ollama_kit.guard.injection.tables import LANGUAGES, START, InjectionRule, concepts, outline, rules, stands_for
from ollama_kit.text.pattern_search import SHORTEST, Literals, expected, required

REPORTED = 0.45
"""What is left of a score where the text only speaks about an injection: the suspicious part is a quotation."""


_SPOKEN_TO = {"address", "order", "spoken", "bidden"}
"""Families that also fit a sentence about a machine, and not to it."""

LED = "{start}"
LEAD = 24
"""Characters before an order in which the word that leads it in is looked for."""

LANES = 3
"""How many sets of literals of a rule are looked for."""

RARE = 0.06
"""How often, roughly, the literals of a set may be seen for it to be worth looking for beside a rarer one: two single
Chinese characters are."""


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


@dataclass(frozen=True, eq=False)
class Compiled:
    """A rule with the words of its concepts in it, compiled when it is first tried. All parts must be found. Of one
    that needs the start of an order, `led` is true and its part is the rest: to look for the start last is quicker."""

    family: str
    weight: float
    parts: tuple[str, ...]
    led: bool

    @cached_property
    def patterns(self) -> tuple[re.Pattern[str], ...]:
        return tuple(map(re.compile, self.parts))

    def matches(self, sentence: str) -> bool:
        if len(self.parts) > 1:
            return all(pattern.search(sentence) for pattern in self.patterns)
        (pattern,) = self.patterns
        if self.parts[0][0] == "^":
            return pattern.match(sentence) is not None
        found = pattern.search(sentence)
        if not self.led:
            return found is not None
        while found and not _led().search(sentence, max(0, found.start() - LEAD), found.start()):
            found = pattern.search(sentence, found.start() + 1)
        return found is not None


@dataclass(frozen=True, eq=False)
class Triggers:
    """Literals, and for each the flags of the rules that need it (see RuleSet)."""

    literals: Literals
    flags: dict[str, int]

    @staticmethod
    def of(needed: Mapping[str, int], shortest: int = 0) -> Triggers:
        """Prepared for the search. A literal counts as all that it contains, since only the longest one at a place is
        seen; of those shorter than `shortest` only where it begins with them."""
        flags = dict(needed)
        for literal in needed:
            for start in range(len(literal)):
                for end in range(start + 1, len(literal) + 1):
                    if not start or end - start >= shortest:
                        flags[literal] |= needed.get(literal[start:end], 0)
        return Triggers(Literals.of(needed), flags)


@lru_cache(maxsize=1 << 16)
def _flags(word: str, triggers: Triggers) -> int:
    """The flags that a word sets. Short literals count at its start only: "ai" is in every other word."""
    found = 0
    for at, literal in triggers.literals.places(word):
        if not at or len(literal) >= SHORTEST:
            found |= triggers.flags[literal]
    return found


@dataclass(frozen=True, eq=False)
class Hope:
    """That a sentence comes to a score of `enough`, or shows a family of `always`."""

    enough: float
    always: frozenset[str]


@dataclass(frozen=True, eq=False)
class RuleSet:
    """All rules, and the literals that tell which of them can match at all.

    Of each rule up to LANES sets of literals are known of which a match holds one each. Flags are whole numbers with a
    bit for each rule in each of LANES lanes: bit `lane * len(rules) + number` is set once a literal of that set was
    seen. A rule is tried where all of its bits are set; `given` are the bits of lanes that a rule does not need."""

    rules: tuple[Compiled, ...]
    in_words: Triggers
    elsewhere: Triggers
    given: int

    def telling(self, words: Iterable[str]) -> dict[str, int]:
        """Those of different Latin `words` that hold a literal, with the flags it sets. Most were seen before, and
        are known to hold none."""
        return {word: flags for word in words if (flags := _flags(word, self.in_words))}

    def hits(self, text: str) -> tuple[list[tuple[int, int]], set[str]]:
        """Places in folded `text` where a literal occurs, each with the flags it sets; and the different Latin words
        of the text."""
        flags = self.elsewhere.flags
        found = [(at, flags[literal]) for at, literal in self.elsewhere.literals.places(text)]
        parts = _parted().split(text)  # the text between words, and words, in turns
        words = set(parts[1::2])
        if telling := self.telling(words):
            places = islice(accumulate(map(len, parts)), 0, None, 2)
            found += [(at, telling[word]) for at, word in zip(places, parts[1::2], strict=False) if word in telling]
        return found, words

    def ready(self, flags: int) -> Sequence[int]:
        """The numbers of the rules to try, once `flags` are set; heavier rules first."""
        if not flags:
            return ()
        flags |= self.given
        return _numbers(flags & (flags >> len(self.rules)) & (flags >> 2 * len(self.rules)))

    def score(self, sentence: str, candidates: Iterable[int] | None = None, hope: Hope | None = None) -> Score:
        """The score of a folded sentence by the rules numbered in `candidates` (all that its literals allow), heavier
        ones first. With `hope`, no more rules are tried than show that there is no hope."""
        if candidates is None:
            flags = (found for _, found in self.hits(sentence)[0])
            candidates = self.ready(reduce(or_, flags, 0))
        numbers = tuple(candidates)
        if hope and not any(rule.matches(sentence) for rule in _worthwhile(self, numbers, hope)):
            return Score()
        families: dict[str, float] = {}
        lost = 1.0
        for rule, ahead in _steps(self, numbers):
            if hope and 1.0 - lost * ahead < hope.enough and rule.family not in hope.always:
                continue
            known = families.get(rule.family, 0.0)
            if rule.weight > known and rule.matches(sentence):
                families[rule.family] = rule.weight
                lost *= (1.0 - rule.weight) / (1.0 - known)
        return self._discounted(sentence, Score(families)) if families else Score()

    def _discounted(self, sentence: str, score: Score) -> Score:
        """Less for what others said or did, for the terms of a contract, and for what a machine is to do."""
        if score.total < REPORTED or "turn" in score.families:
            return score
        if binds_parties(sentence) or (score.families.keys() <= _SPOKEN_TO and is_supplied(sentence)):
            return Score(score.families, REPORTED)
        rest = without_quotations(sentence)
        if rest is None:
            return Score(score.families, REPORTED) if narrates(sentence) else score
        if relates(sentence) and self.score(rest).total < REPORTED:
            return Score(score.families, REPORTED)
        return score


@lru_cache(maxsize=1 << 12)
def _numbers(bits: int) -> tuple[int, ...]:
    """The places of the bits that are set, lowest first. Most sentences are ready for the same few rules."""
    numbers = []
    while bits:
        lowest = bits & -bits
        numbers.append(lowest.bit_length() - 1)
        bits ^= lowest
    return tuple(numbers)


@lru_cache(maxsize=1 << 12)
def _steps(among: RuleSet, numbers: tuple[int, ...]) -> tuple[tuple[Compiled, float], ...]:
    """The rules to try, each with what would be left of a score's remainder if it and all after it matched."""
    steps, ahead = [], 1.0
    heaviest: dict[str, float] = {}
    for number in reversed(numbers):
        rule = among.rules[number]
        ahead *= (1.0 - rule.weight) / (1.0 - heaviest.get(rule.family, 0.0))
        heaviest[rule.family] = rule.weight
        steps.append((rule, ahead))
    return tuple(reversed(steps))


@lru_cache(maxsize=1 << 12)
def _worthwhile(among: RuleSet, numbers: tuple[int, ...], hope: Hope) -> tuple[Compiled, ...]:
    """The rules to try as long as none has matched."""
    steps = _steps(among, numbers)
    return tuple(rule for rule, ahead in steps if 1.0 - ahead >= hope.enough or rule.family in hope.always)


@cache
def rule_set() -> RuleSet:
    """The rules of all languages, compiled. Heavier rules come first, so that the lighter ones of a family are
    not tried."""
    listed = sorted(
        ((rule, language) for language in LANGUAGES for rule in rules(language)), key=lambda pair: -pair[0].weight
    )
    compiled = tuple(_compiled(rule, language) for rule, language in listed)
    tables: tuple[dict[str, int], dict[str, int]] = ({}, {})
    given = 0
    for number, (rule, language) in enumerate(listed):
        sets = _sets(rule, language)
        for lane in range(LANES):
            flag = 1 << (lane * len(listed) + number)
            if lane >= len(sets):
                given |= flag
            for literal in sets[lane] if lane < len(sets) else ():
                letters = max(_word().findall(literal), key=len, default="")
                table, key = (tables[0], letters) if letters else (tables[1], literal)
                table[key] = table.get(key, 0) | flag
    return RuleSet(compiled, Triggers.of(tables[0], SHORTEST), Triggers.of(tables[1]), given)


def _compiled(rule: InjectionRule, language: str) -> Compiled:
    led = rule.pattern.startswith(LED)
    bare = replace(rule, pattern=rule.pattern.removeprefix(LED))
    return Compiled(rule.family, rule.weight, bare.expanded(concepts(language)), led)


def _sets(rule: InjectionRule, language: str) -> list[frozenset[str]]:
    """The sets of literals that a rule needs: the rarest, and others as long as they are rare."""
    known = _known(language)
    parts = outline(rule, tuple(concepts(language)))
    sets = sorted(
        {each for part in parts for each in required(part, known)}, key=lambda each: (expected(each), sorted(each))
    )
    return sets[:1] + [each for each in sets[1:LANES] if expected(each) < RARE]


@cache
def _known(language: str) -> Mapping[str, list[frozenset[str]]]:
    """The sets of literals that each concept needs, by its placeholder character."""
    return {stands_for(at): required(pattern) for at, pattern in enumerate(concepts(language).values())}


@cache
def _parted() -> re.Pattern[str]:
    return re.compile("([a-z][a-z]+)")


@cache
def _word() -> re.Pattern[str]:
    return re.compile("[a-z][a-z]+")


@cache
def _led() -> re.Pattern[str]:
    return re.compile(START + r"\Z")
