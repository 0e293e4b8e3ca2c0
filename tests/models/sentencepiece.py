"""Reads the pieces of a SentencePiece model file (sentencepiece_model.proto), without the library."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_NORMAL = 1


@dataclass(frozen=True)
class Piece:
    """One entry of the vocabulary. `kind` counts as GGUF's token_type does: 1 normal … 6 byte."""

    text: str
    score: float
    kind: int


def read_pieces(model: bytes) -> list[Piece]:
    """The pieces in the order of their ids (field 1 of ModelProto)."""
    return [_piece(value) for number, value in _fields(model) if number == 1 and isinstance(value, bytes)]


def _piece(message: bytes) -> Piece:
    text, score, kind = "", 0.0, _NORMAL
    for number, value in _fields(message):
        if number == 1 and isinstance(value, bytes):
            text = value.decode("utf-8")
        elif number == 2 and isinstance(value, bytes):
            score = struct.unpack("<f", value)[0]
        elif number == 3 and isinstance(value, int):
            kind = value
    return Piece(text, score, kind)


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(field number, value) of each field; a varint is an int, everything else its bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        number, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if wire == _BYTES:
            size, at = _varint(message, at)
        elif wire in (_FIXED32, _FIXED64):
            size = 4 if wire == _FIXED32 else 8
        else:
            raise ValueError(f"wire type {wire} at byte {at} is not one of protobuf's")
        yield number, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
