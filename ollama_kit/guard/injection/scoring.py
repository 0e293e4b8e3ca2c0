"""How much a sentence looks like an order to the model: weights of the rules it matches, by family."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, reduce
from operator import or_

from ollama_kit.guard.injection.literals import SHORTEST, Literals, expected, required
from ollama_kit.guard.injection.tables import LANGUAGES, START, Rule, concepts, outline, rules, stands_for

REPORTED = 0.45
"""What is left of a score where the text only speaks about an injection: the suspicious part is a quotation."""


_SPOKEN_TO = {"address", "order"}
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


@dataclass(frozen=True)
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
        """Ready to search. A literal stands for all that it contains, since only the longest one at a place is seen;
        of those shorter than `shortest` only where it begins with them."""
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


@dataclass(frozen=True)
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

    def hits(self, text: str, telling: Mapping[str, int]) -> list[tuple[int, int]]:
        """Places in folded `text` where a literal stands, each with the flags it sets; `telling` are those of its
        words that hold one."""
        flags = self.elsewhere.flags
        found = [(at, flags[literal]) for at, literal in self.elsewhere.literals.places(text)]
        if telling:
            found += [(word.start(), telling[word[0]]) for word in _word().finditer(text) if word[0] in telling]
        return found

    def ready(self, flags: int) -> list[int]:
        """The numbers of the rules to try, once `flags` are set; heavier rules first."""
        if not flags:
            return []
        flags |= self.given
        count = len(self.rules)
        every = (1 << count) - 1
        left = flags & (flags >> count) & (flags >> 2 * count) & every
        numbers = []
        while left:
            lowest = left & -left
            numbers.append(lowest.bit_length() - 1)
            left ^= lowest
        return numbers

    def score(self, sentence: str, candidates: Iterable[int] | None = None) -> Score:
        """The score of a folded sentence by the rules numbered in `candidates` (all that its literals allow)."""
        if candidates is None:
            flags = (found for _, found in self.hits(sentence, self.telling(latin_words(sentence))))
            candidates = self.ready(reduce(or_, flags, 0))
        families: dict[str, float] = {}
        for number in candidates:
            rule = self.rules[number]
            if rule.weight > families.get(rule.family, 0.0) and rule.matches(sentence):
                families[rule.family] = rule.weight
        return self._discounted(sentence, Score(families)) if families else Score()

    def _discounted(self, sentence: str, score: Score) -> Score:
        """Less where the text reports what somebody else said, and says nothing itself; or where it binds the parties
        of a contract, and speaks of no machine, or of one that a party supplies and of what that is to do."""
        if score.total < REPORTED or "turn" in score.families:
            return score
        if _spoken("parties").search(sentence) and not _spoken("machine").search(sentence):
            return Score(score.families, REPORTED)
        if score.families.keys() <= _SPOKEN_TO and _spoken("supplied").search(sentence):
            return Score(score.families, REPORTED)
        if not _spoken("reported").search(sentence):
            return score
        rest, quotations = _quotations().subn(" ", sentence)
        if quotations and self.score(rest).total < REPORTED:
            return Score(score.families, REPORTED)
        return score


@cache
def rule_set() -> RuleSet:
    """The rules of all languages, ready to try. Heavier rules come first, so that the lighter ones of a family are
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


def _compiled(rule: Rule, language: str) -> Compiled:
    led = rule.pattern.startswith(LED)
    bare = replace(rule, pattern=rule.pattern.removeprefix(LED))
    return Compiled(rule.family, rule.weight, bare.expanded(concepts(language)), led)


def _sets(rule: Rule, language: str) -> list[frozenset[str]]:
    """The sets of literals that a rule needs: the rarest, and others as long as they are rare."""
    known = _known(language)
    parts = outline(rule, tuple(concepts(language)))
    sets = sorted(
        {each for part in parts for each in required(part, known)}, key=lambda each: (expected(each), sorted(each))
    )
    return sets[:1] + [each for each in sets[1:LANES] if expected(each) < RARE]


@cache
def _known(language: str) -> Mapping[str, list[frozenset[str]]]:
    """The sets of literals that each concept needs, by the character that stands for it."""
    return {stands_for(at): required(pattern) for at, pattern in enumerate(concepts(language).values())}


@cache
def _word() -> re.Pattern[str]:
    return re.compile("[a-z][a-z]+")


def latin_words(text: str) -> set[str]:
    """The different words of small Latin letters in folded `text`, but for single letters."""
    return set(_word().findall(text))


@cache
def _led() -> re.Pattern[str]:
    return re.compile(START + r"\Z")


@cache
def _spoken(concept: str) -> re.Pattern[str]:
    """A concept in any language."""
    return re.compile(concepts("zh")[concept] + "|" + concepts("en")[concept])


@cache
def _quotations() -> re.Pattern[str]:
    return re.compile(r"[“\"「『‘《][^”\"」』’》\n]{1,200}[”\"」』’》]|(?<!\w)['`][^'`\n]{1,200}['`]")
