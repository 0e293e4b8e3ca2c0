"""One page in plain words: the sentences of all parts of a contract, as many as fit on it."""

from __future__ import annotations

from collections.abc import Sequence

from ollama_kit.jobs.contract.answers import Answered, PlainSummary, Sentence
from ollama_kit.jobs.likeness import ALIKE, alike

PAGE_CHARACTERS = {"zh": 1_000, "en": 2_800}
"""What a page holds beside its headings, in one column of 11 points."""


def one_page(parts: Sequence[Answered], language: str, model: str, host: str) -> PlainSummary:
    """The sentences in the order of the parts, each once. Where the page is too short, what is not proven is left out
    first, and then the last sentences of the longest parts."""
    sentences: list[Sentence] = []
    for part in parts:
        for answer in part.answers:
            said = Sentence(part.label, str(answer.value), answer.evidence, answer.invented, answer.doubts,
                            answer.suspect)  # fmt: skip
            if not any(
                alike(said.text, known.text) >= ALIKE and _digits(said) == _digits(known) for known in sentences
            ):
                sentences.append(said)
    kept = list(sentences)
    while sum(len(sentence.text) for sentence in kept) > PAGE_CHARACTERS[language]:
        del kept[_least(kept)]
    failures = tuple(dict.fromkeys(f"{part.label}: {part.failure}" for part in parts if part.failure))
    unread = tuple(dict.fromkeys(label for part in parts for label in part.unread))
    return PlainSummary(model, host, tuple(kept), failures, len(sentences) - len(kept), unread)


def _least(sentences: Sequence[Sentence]) -> int:
    """Which sentence the page can spare: one that is not proven, else the last of the part with the most."""
    unproven = [at for at, sentence in enumerate(sentences) if not sentence.is_proven]
    if unproven:
        return unproven[-1]
    topics = [sentence.topic for sentence in sentences]
    longest = max(dict.fromkeys(topics), key=topics.count)
    return max(at for at, topic in enumerate(topics) if topic == longest)


def _digits(sentence: Sentence) -> str:
    return "".join(filter(str.isdigit, sentence.text))
