"""How many tokens a text can have at most, from its size alone."""

from __future__ import annotations

from dataclasses import dataclass

from ollama_kit.tokens.vocabulary import Vocabulary

SPACE = "▁"
"""U+2581, which SentencePiece writes for a blank."""


@dataclass(frozen=True)
class Bound:
    """At most `per_byte` tokens for each byte of UTF-8, and `fixed` more."""

    per_byte: int
    fixed: int

    def __call__(self, text: str) -> int:
        """The most tokens that `text` can have, BOS and EOS included.

        >>> Bound(per_byte=1, fixed=1)("你a")
        5
        """
        return self.per_byte * len(text.encode("utf-8", "surrogatepass")) + self.fixed


def bound_of(vocabulary: Vocabulary) -> Bound:
    """The bound that holds for every text with this vocabulary.

    Byte-level BPE starts from one symbol a byte and only ever merges. SentencePiece falls back to bytes too, but
    puts a blank (1 token, or 3 where `▁` is no token) before the text and after each special token; where a special
    token is a single byte, that doubles what a byte can cost. Other models may normalize first: NFKC makes at most
    18 code points of one character of 3 bytes.
    """
    ends = int(vocabulary.add_bos) + int(vocabulary.add_eos)
    if vocabulary.model == "gpt2":
        return Bound(per_byte=1, fixed=ends)
    if vocabulary.model == "llama":
        blank = 1 if SPACE in vocabulary.ids else len(SPACE.encode())
        prefix = blank if vocabulary.add_space_prefix else 0
        shortest = min((len(text.encode()) for _, text in vocabulary.special), default=2)
        return Bound(per_byte=blank * (2 if prefix and shortest < 2 else 1), fixed=ends + prefix)
    return Bound(per_byte=18, fixed=2)
