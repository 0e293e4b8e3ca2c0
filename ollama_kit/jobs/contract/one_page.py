"""One page in plain words: the sentences of all parts of a contract, as many as fit on it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ollama_kit.jobs.contract.answers import Answered, PlainSummary, Sentence
from ollama_kit.jobs.contract.passages import Evidence
from ollama_kit.jobs.contract.proof.figures import figures_of
from ollama_kit.jobs.contract.proof.own_words import sides_in
from ollama_kit.text.locate import ALIKE, alike, letters_of

PAGE_CHARACTERS = {"zh": 1_000, "en": 2_800}
"""What a page holds beside its headings, in one column of 11 points."""


def one_page(
    parts: Sequence[Answered], language: str, sides: Sequence[frozenset[str]], model: str, host: str
) -> PlainSummary:
    """The sentences in the order of the parts, each once, the better proven of two that say the same. `sides` are what
    each party is called. Where the page is too short, what is not proven is left out first, and then the last sentences
    of the longest parts."""
    named = {word: f"party {number}" for number, words in enumerate(sides) for word in words}
    said: list[_Said] = []
    for sentence in (one for part in parts for one in _sentences(part)):
        new = _Said.of(sentence, named)
        at = next((at for at, known in enumerate(said) if known.says_the_same_as(new)), -1)
        if at < 0:
            said.append(new)
        elif sentence.is_proven and not said[at].sentence.is_proven:
            said[at] = new
    kept = [one.sentence for one in said]
    while sum(len(sentence.text) for sentence in kept) > PAGE_CHARACTERS[language]:
        del kept[_least(kept)]
    failures = tuple(dict.fromkeys(f"{part.label}: {part.failure}" for part in parts if part.failure))
    unread = tuple(dict.fromkeys(label for part in parts for label in part.unread))
    return PlainSummary(model, host, tuple(kept), failures, len(said) - len(kept), unread)


def _sentences(part: Answered) -> list[Sentence]:
    return [
        Sentence(part.label, str(one.value), one.evidence, one.invented, one.doubts, one.suspect)
        for one in part.answers
    ]


@dataclass(frozen=True)
class _Said:
    """A sentence with what it must have in common with another one that says the same: its figures, and whom it speaks
    of, in order: who owes and who is owed."""

    sentence: Sentence
    figures: tuple[object, ...]
    sides: tuple[str, ...]

    @staticmethod
    def of(sentence: Sentence, named: Mapping[str, str]) -> _Said:
        figures = sorted(str((one.kind, one.number, one.unit, one.day)) for one in figures_of(sentence.text))
        words = sorted(sides_in(sentence.text) | named.keys(), key=len, reverse=True)
        found = re.findall("|".join(map(re.escape, words)), sentence.text.lower()) if words else []
        return _Said(sentence, tuple(figures), tuple(named.get(word, word) for word in found))

    def says_the_same_as(self, other: _Said) -> bool:
        """Whether both are the same words, or rest on the same words of the contract, are alike, and give the same
        figures and sides."""
        one, two = self.sentence, other.sentence
        if letters_of(one.text) == letters_of(two.text):
            return True
        return (
            _overlap(one.evidence, two.evidence)
            and (self.figures, self.sides) == (other.figures, other.sides)
            and alike(one.text, two.text) >= ALIKE
        )


def _overlap(ones: Sequence[Evidence], others: Sequence[Evidence]) -> bool:
    return any(one.start < other.end and other.start < one.end for one in ones for other in others)


def _least(sentences: Sequence[Sentence]) -> int:
    """Which sentence the page can spare: one that is not proven, else the last of the part with the most."""
    unproven = [at for at, sentence in enumerate(sentences) if not sentence.is_proven]
    if unproven:
        return unproven[-1]
    topics = [sentence.topic for sentence in sentences]
    longest = max(dict.fromkeys(topics), key=topics.count)
    return max(at for at, topic in enumerate(topics) if topic == longest)
