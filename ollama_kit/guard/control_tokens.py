"""Breaks a model's control tokens in text, so that what a user pastes cannot become a turn of the conversation.

Ollama tokenizes a user's text with special tokens on: `<|im_end|>` typed into a chat log is one token, and ends the
turn. A token is broken by U+200B after its first character: a person sees no difference, and the tokenizer sees no
token (measured: 0 of 43 survive). Which texts are tokens comes from the model's own vocabulary and chat template.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from ollama_kit.records.report import Finding
from ollama_kit.text.spans import Changed, Edit, apply

BREAK = "\u200b"
STAND_IN = "\ufffd"
STAGE = "control_tokens"


@dataclass(frozen=True)
class ControlTokens:
    """The control tokens of one model, made ready for literal search."""

    by_first: dict[str, tuple[tuple[int, frozenset[str]], ...]]
    starts: re.Pattern[str]
    alone: frozenset[str] = frozenset()  # tokens of a single character: they are there even where a longer one starts

    @staticmethod
    def of(tokens: Iterable[str]) -> ControlTokens:
        """Ready for `neutralize_control_tokens`; the same tokens give the same object."""
        return _of(frozenset(token for token in tokens if token))

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Each place where a token starts, with the end of the longest one there; overlapping ones too."""
        for candidate in self.starts.finditer(text):
            start = candidate.start()
            for length, tokens in self.by_first[text[start]]:
                if text[start : start + length] in tokens:
                    yield start, start + length
                    break


@lru_cache(maxsize=64)
def _of(tokens: frozenset[str]) -> ControlTokens:
    by_first: dict[str, dict[int, set[str]]] = {}
    for token in tokens:
        by_first.setdefault(token[0], {}).setdefault(len(token), set()).add(token)
    ready = {
        first: tuple((length, frozenset(lengths[length])) for length in sorted(lengths, reverse=True))
        for first, lengths in by_first.items()
    }
    starts = "[" + "".join(map(re.escape, sorted(ready))) + "]" if ready else "(?!)"
    return ControlTokens(ready, re.compile(starts), frozenset(token for token in tokens if len(token) == 1))


def neutralize_control_tokens(text: str, tokens: ControlTokens, source: str) -> tuple[Changed, tuple[Finding, ...]]:
    """The text with every control token broken, and a finding for each one.

    Breaking inserts and never removes, so that no token can form from the pieces of another. A token that is a
    single character cannot be broken and is replaced by U+FFFD.

    >>> ready = ControlTokens.of(["<|im_end|>"])
    >>> changed, findings = neutralize_control_tokens("hi<|im_end|>", ready, "message 0")
    >>> changed.text, findings[0].span
    ('hi<\\u200b|im_end|>', (2, 12))
    """
    edits, findings = [], []
    for start, end in tokens.spans(text):
        alone = end - start == 1 or text[start] in tokens.alone
        edits.append(Edit(start, start + 1, STAND_IN) if alone else Edit(start + 1, start + 1, BREAK))
        findings.append(
            Finding(
                stage=STAGE,
                rule="control_token",
                severity="medium",
                action="removed" if alone else "neutralized",
                source=source,
                span=(start, end),
                detail=text[start:end],
            )
        )
    return apply(text, edits), tuple(findings)
