"""Byte-level BPE from tiktoken's form (byte sequences with ranks) to GGUF's (characters and merges)."""

from __future__ import annotations

from collections.abc import Mapping


def byte_characters() -> dict[int, str]:
    """The character that stands for each byte in a byte-level vocabulary (GPT-2's table).

    Printable bytes stand for themselves, the other 68 for the characters from U+0100 on.

    >>> byte_characters()[ord("A")], byte_characters()[ord(" ")]
    ('A', 'Ġ')
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {byte: chr(0x100 + index) for index, byte in enumerate(others)}


def as_characters(token: bytes, table: Mapping[int, str]) -> str:
    """A token's bytes as GGUF writes them."""
    return "".join(table[byte] for byte in token)


def recovered_merges(ranks: Mapping[bytes, int]) -> list[str]:
    """The merges, best first, that give these ranks: "left right" in GGUF's characters.

    A token of rank r came from the two parts that BPE leaves of its bytes when only ranks below r may be used.
    Where more than two are left (232 tokens of Qwen3.5, none of Qwen2 or Tekken), the token was not made in the
    order of ranks: it gets a merge for each split into two tokens, since tiktoken joins any pair that is one.
    """
    table = byte_characters()
    merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        if len(token) < 2:
            continue
        parts = _parts_below(token, rank, ranks)
        splits = [parts] if len(parts) == 2 else _splits(token, ranks)
        merges += [" ".join(as_characters(part, table) for part in split) for split in splits]
    return merges


def _splits(token: bytes, ranks: Mapping[bytes, int]) -> list[list[bytes]]:
    """Each way to cut a token into two tokens, the best ranked first."""
    cuts = [[token[:at], token[at:]] for at in range(1, len(token))]
    known = [cut for cut in cuts if all(part in ranks for part in cut)]
    return sorted(known, key=lambda cut: [ranks[part] for part in cut])


def _parts_below(token: bytes, limit: int, ranks: Mapping[bytes, int]) -> list[bytes]:
    parts = [token[index : index + 1] for index in range(len(token))]
    while len(parts) > 2:
        best, at = limit, -1
        for index in range(len(parts) - 1):
            rank = ranks.get(parts[index] + parts[index + 1], limit)
            if rank < best:
                best, at = rank, index
        if at < 0:
            break
        parts[at : at + 2] = [parts[at] + parts[at + 1]]
    return parts
