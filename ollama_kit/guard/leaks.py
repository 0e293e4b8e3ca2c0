"""What must not come back in an answer: the key of a fence, and the words of the system prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ollama_kit.records.report import Finding
from ollama_kit.text.locate import FoldedText

STAGE = "leak"
TELLING = 16  # characters from which on a sentence of the system prompt is no chance match; half that for Chinese
_SENTENCES = re.compile(r"(?:[^\n。！？!?；;.]|\.(?!\s|$))+")  # a full stop within a word or a figure ends nothing


def find_leaks(answer: str, keys: Sequence[str], system: str, given: Sequence[str]) -> tuple[Finding, ...]:
    """A finding for each fence key and each telling sentence of the system prompt in an answer. The key is a canary:
    nobody but the model has read it. A sentence that stands in a text of `given`, what else was sent, is no leak."""
    return (*_keys(answer, keys), *_sentences(answer, system, given))


def _keys(answer: str, keys: Sequence[str]) -> Iterator[Finding]:
    for key in keys:
        at = answer.find(key)
        if at >= 0:
            yield Finding(STAGE, "fence_key", "medium", "flagged", "answer", (at, at + len(key)))


def _sentences(answer: str, system: str, given: Sequence[str]) -> Iterator[Finding]:
    if not system or not answer:
        return
    said = FoldedText.of(answer)
    folded: list[FoldedText] | None = None
    for match in _SENTENCES.finditer(system):
        sentence = match[0].strip()
        if _weight(sentence) < TELLING:
            continue
        span = said.find(sentence)
        if span is None:
            continue
        folded = [FoldedText.of(text) for text in given] if folded is None else folded
        if all(text.find(sentence) is None for text in folded):
            yield Finding(STAGE, "system_prompt", "high", "flagged", "answer", span, sentence[:80])


def _weight(sentence: str) -> int:
    """The length of a sentence, a Chinese character counted as two."""
    return sum(2 if "\u3400" <= character <= "\u9fff" else 1 for character in sentence)
