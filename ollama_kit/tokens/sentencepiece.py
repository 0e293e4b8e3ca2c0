"""SentencePiece as llama.cpp runs it: pairs merge by the score of what they make, the best first.

The `tokenizers` library merges by the rank of a pair instead. Ranks can be given that say the same for every
vocabulary in use (`ranked_merges`); where they cannot (tokens of equal score that compete), `merge` does it the
slow way, exactly. Source: llama.cpp `src/llama-vocab.cpp`, `llm_tokenizer_spm_session`, as in Ollama 0.9.3.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Mapping, Sequence

from ollama_kit.tokens.bounds import SPACE
from ollama_kit.tokens.vocabulary import TokenType, Vocabulary


def ranked_merges(vocabulary: Vocabulary) -> list[tuple[str, str]] | None:
    """The pairs (left, right) in an order of ranks that merges as the scores do; None if no order does.

    Score decides, highest first. All pairs that make one token share its score and follow each other; which of them
    comes first makes no difference (none in the random vocabularies of the tests). Tokens of equal score do compete,
    and the server then takes the leftmost, which no order of ranks can say; runs of one character are the exception
    (blanks in Gemma's vocabulary): leftmost always grows the longest run. Special tokens were cut out of the text
    before, and can come back only through the `▁` of a blank.
    """
    ids = vocabulary.ids
    cut_out = {text for _, text in vocabulary.special if SPACE not in text}
    # What stands for a byte is no part of anything, though a text may spell it out.
    parts = {text for i, text in enumerate(vocabulary.tokens) if vocabulary.type_of(i) != TokenType.BYTE}
    by_score: defaultdict[float, list[str]] = defaultdict(list)
    pairs: dict[str, list[tuple[str, str]]] = {}
    for i, text in enumerate(vocabulary.tokens):
        if len(text) < 2 or text in cut_out:
            continue
        if not ids.keys() >= set(text):
            if text not in parts:
                continue
            return None  # the server would merge a character that is no token; the library cannot
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
    """The token ids of `text`, blanks written as `▁` already; n log n in its length.

    Characters that no token holds become one token a byte, `<0x0A>` and so on; a byte without a token is left out.
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
