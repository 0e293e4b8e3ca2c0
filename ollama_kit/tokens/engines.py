"""What cuts text into token ids: the `tokenizers` library, or slower ways where it would differ from the server."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ollama_kit.tokens import sentencepiece
from ollama_kit.tokens.bounds import SPACE
from ollama_kit.tokens.pretokenizers import SplitRule, pre_tokenizer
from ollama_kit.tokens.vocabulary import Vocabulary


class Engine(Protocol):
    """Text to token ids, without BOS and EOS; texts of special tokens are those tokens."""

    def encode(self, text: str) -> list[int]: ...
    def count(self, text: str) -> int: ...


@dataclass(frozen=True)
class LibraryEngine:
    """One call into the `tokenizers` library."""

    backend: Any

    def encode(self, text: str) -> list[int]:
        ids: list[int] = self.backend.encode(text, add_special_tokens=False).ids
        return ids

    def count(self, text: str) -> int:
        return len(self.backend.encode(text, add_special_tokens=False))


@dataclass(frozen=True)
class PartitionedEngine:
    """Cuts out the special tokens one after the other, the longest first, as the server does; then `encode_text`."""

    special: Sequence[tuple[int, str]]
    encode_text: Callable[[str], list[int]]

    def encode(self, text: str) -> list[int]:
        pieces: list[int | str] = [text]
        for token, literal in self.special:
            if literal in text:
                pieces = list(_cut(pieces, token, literal))
        return [token for piece in pieces for token in ([piece] if isinstance(piece, int) else self.encode_text(piece))]

    def count(self, text: str) -> int:
        return len(self.encode(text))


def _cut(pieces: Iterable[int | str], token: int, literal: str) -> Iterator[int | str]:
    for piece in pieces:
        if isinstance(piece, int):
            yield piece
            continue
        for at, part in enumerate(piece.split(literal)):
            if at:
                yield token
            if part:
                yield part


def byte_level_engine(vocabulary: Vocabulary, rule: SplitRule) -> Engine:
    """Byte-level BPE with its word rule."""
    from tokenizers import Tokenizer, models

    ids = vocabulary.ids
    # The blank between the halves is never the first character (llama.cpp); halves seldom hold one.
    halves = (merge.partition(" ") if merge[0] != " " else _cut_later(merge) for merge in vocabulary.merges if merge)
    merges = [(a, b) for a, _, b in halves if a in ids and b in ids and a + b in ids]
    backend = Tokenizer(models.BPE(vocab=ids, merges=merges, ignore_merges=rule.whole_words))
    backend.pre_tokenizer = pre_tokenizer(rule)
    return _with_special_tokens(backend, vocabulary)


def sentencepiece_engine(vocabulary: Vocabulary) -> Engine:
    """SentencePiece: by the library where ranks can say what the scores say, else merged here."""
    ids = vocabulary.ids
    merges = sentencepiece.ranked_merges(vocabulary)
    prefix = SPACE if vocabulary.add_space_prefix else ""
    if merges is None:
        scores = vocabulary.scores or [0.0] * len(vocabulary.tokens)

        def encode_text(text: str) -> list[int]:
            return sentencepiece.merge(prefix + text.replace(" ", SPACE), ids, scores)

        return PartitionedEngine(vocabulary.special, encode_text)
    from tokenizers import Tokenizer, models, normalizers

    backend = Tokenizer(models.BPE(vocab=ids, merges=merges, byte_fallback=True))
    # Special tokens are cut out before, so each text between them is prefixed, as the server does it.
    prepend = [normalizers.Prepend(prefix)] if prefix else []
    backend.normalizer = normalizers.Sequence([*prepend, normalizers.Replace(" ", SPACE)])
    return _with_special_tokens(backend, vocabulary)


def _with_special_tokens(backend: Any, vocabulary: Vocabulary) -> Engine:
    """The library finds special tokens itself, leftmost first; the server the longest first. They differ only where
    two such tokens can overlap."""
    special = vocabulary.special
    if _can_overlap([text for _, text in special]):
        return PartitionedEngine(special, LibraryEngine(backend).encode)
    from tokenizers import AddedToken

    backend.add_special_tokens(
        [AddedToken(text, normalized=False, rstrip=vocabulary.swallows_blanks(text)) for _, text in special]
    )
    return LibraryEngine(backend)


def _can_overlap(texts: Sequence[str]) -> bool:
    """Whether the end of one text is the beginning of another that is at least as long: there the two orders differ.
    Runs of one character do not count, both ways take the longest first."""
    by_prefix: defaultdict[str, list[str]] = defaultdict(list)
    for text in texts:
        for end in range(1, len(text)):
            by_prefix[text[:end]].append(text)
    return any(
        other != text and len(other.encode()) >= len(text.encode()) and len(set(text + other)) > 1
        for text in texts
        for start in range(1, len(text))
        for other in by_prefix.get(text[start:], ())
    )


def _cut_later(merge: str) -> tuple[str, str, str]:
    left, blank, right = merge[1:].partition(" ")
    return merge[0] + left, blank, right
