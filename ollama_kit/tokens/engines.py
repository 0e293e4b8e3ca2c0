"""What cuts text into token ids: the `tokenizers` library, or slower ways where it would differ from the server.

SentencePiece is run as llama.cpp runs it: pairs merge by the score of what they make, the best first. The library
merges by the rank of a pair instead. Ranks can be given that say the same for every vocabulary in use
(`ranked_merges`); where they cannot (tokens of equal score that compete), `merge` does it the slow way, exactly.
Source: llama.cpp `src/llama-vocab.cpp`, `llm_tokenizer_spm_session`, as in Ollama 0.9.3.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ollama_kit.tokens.pretokenizers import SplitRule, pre_tokenizer
from ollama_kit.tokens.vocabulary import SPACE, TokenType, Vocabulary


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
    # The space between the halves is never the first character (llama.cpp); halves seldom hold one.
    halves = (merge.partition(" ") if merge[0] != " " else _cut_later(merge) for merge in vocabulary.merges if merge)
    merges = [(a, b) for a, _, b in halves if a in ids and b in ids and a + b in ids]
    backend = Tokenizer(models.BPE(vocab=ids, merges=merges, ignore_merges=rule.whole_words))
    backend.pre_tokenizer = pre_tokenizer(rule)
    return _with_special_tokens(backend, vocabulary)


def sentencepiece_engine(vocabulary: Vocabulary) -> Engine:
    """SentencePiece: by the library where ranks can say what the scores say, else merged here."""
    ids = vocabulary.ids
    merges = ranked_merges(vocabulary)
    prefix = SPACE if vocabulary.add_space_prefix else ""
    if merges is None:
        scores = vocabulary.scores or [0.0] * len(vocabulary.tokens)

        def encode_text(text: str) -> list[int]:
            return merge(prefix + text.replace(" ", SPACE), ids, scores)

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
        [AddedToken(text, normalized=False, rstrip=vocabulary.swallows_whitespace(text)) for _, text in special]
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
    left, space, right = merge[1:].partition(" ")
    return merge[0] + left, space, right


def ranked_merges(vocabulary: Vocabulary) -> list[tuple[str, str]] | None:
    """The pairs (left, right) in an order of ranks that merges as the scores do; None if no order does.

    Score decides, highest first. All pairs that make one token share its score and follow each other; which of them
    comes first makes no difference (none in the random vocabularies of the tests). Tokens of equal score do compete,
    and the server then takes the leftmost, which no order of ranks can say; runs of one character are the exception
    (spaces in Gemma's vocabulary): leftmost always grows the longest run. Special tokens were cut out of the text
    before, and can come back only through the `▁` of a space.
    """
    ids = vocabulary.ids
    cut_out = {text for _, text in vocabulary.special if SPACE not in text}
    # A token that represents a byte is not part of any other, though a text may spell it out.
    parts = {text for i, text in enumerate(vocabulary.tokens) if vocabulary.type_of(i) != TokenType.BYTE}
    by_score: defaultdict[float, list[str]] = defaultdict(list)
    pairs: dict[str, list[tuple[str, str]]] = {}
    for i, text in enumerate(vocabulary.tokens):
        if len(text) < 2 or text in cut_out:
            continue
        if not ids.keys() >= set(text):
            if text not in parts:
                continue
            return None  # the server would merge a character that is not a token; the library cannot
        cuts = ((text[:at], text[at:]) for at in range(1, len(text)))
        if found := [(left, right) for left, right in cuts if left in parts and right in parts]:
            by_score[vocabulary.scores[i] if vocabulary.scores else 0.0].append(text)
            pairs[text] = found
    ranked: list[tuple[str, str]] = []
    for score in sorted(by_score, reverse=True):
        texts = sorted(by_score[score], key=len, reverse=True)
        if len(texts) > 1 and any(len(set(text)) > 1 for text in texts):
            return None
        ranked += (pair for text in texts for pair in pairs[text])
    return ranked


def merge(text: str, ids: Mapping[str, int], scores: Sequence[float]) -> list[int]:
    """The token ids of `text`, spaces written as `▁` already; n log n in its length.

    Characters that no token holds become one token per byte, `<0x0A>` and so on; a byte without a token is left out.
    """
    symbols: list[str] = list(text)
    after = list(range(1, len(symbols) + 1))
    before = list(range(-1, len(symbols) - 1))
    queue: list[tuple[float, int, int, int]] = []

    def offer(left: int, right: int) -> None:
        if left < 0 or right >= len(symbols):
            return
        made = ids.get(symbols[left] + symbols[right])
        if made is not None:
            size = len(symbols[left]) + len(symbols[right])
            heapq.heappush(queue, (-scores[made], left, right, size))

    for left in range(len(symbols) - 1):
        offer(left, left + 1)
    while queue:
        _, left, right, size = heapq.heappop(queue)
        if not symbols[left] or not symbols[right] or len(symbols[left]) + len(symbols[right]) != size:
            continue
        symbols[left] += symbols[right]
        symbols[right] = ""
        after[left] = after[right]
        if after[left] < len(symbols):
            before[after[left]] = left
        offer(before[left], left)
        offer(left, after[left])
    return [token for symbol in symbols if symbol for token in _ids_of(symbol, ids)]


def _ids_of(symbol: str, ids: Mapping[str, int]) -> list[int]:
    if (token := ids.get(symbol)) is not None:
        return [token]
    as_bytes = (ids.get(f"<0x{byte:02X}>") for byte in symbol.encode())
    return [token for token in as_bytes if token is not None]
