"""The three ways WeChat packs a body in its databases: LZ4 blocks, Zstandard frames, protobuf fields.

Every size in a body is checked before it is believed: a body is data of whoever sent the message.
"""

from __future__ import annotations

from collections.abc import Iterator

from ollama_kit.errors import ChatError

LARGEST_BODY = 1 << 24
"""Bytes that a body may unpack to."""
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

_MATCH_AT_LEAST = 4


def unpack_lz4(block: bytes) -> bytes:
    """The content of one LZ4 block (the raw format, without frame). ValueError if it is none or becomes too large.

    Source: LZ4 block format description, lz4/lz4 doc/lz4_Block_format.md.

    >>> unpack_lz4(b"\\x12a\\x01\\x00\\x50abcde")
    b'aaaaaaaabcde'
    """
    out = bytearray()
    at, size = 0, len(block)
    while at < size:
        token = block[at]
        literals, at = _length(block, at + 1, token >> 4)
        if at + literals > size or len(out) + literals > LARGEST_BODY:
            raise ValueError("LZ4: literals beyond the end")
        out += block[at : at + literals]
        at += literals
        if at == size:
            return bytes(out)
        if at + 2 > size:
            raise ValueError("LZ4: cut in an offset")
        distance = block[at] | block[at + 1] << 8
        length, at = _length(block, at + 2, token & 15)
        length += _MATCH_AT_LEAST
        if not 0 < distance <= len(out) or len(out) + length > LARGEST_BODY:
            raise ValueError("LZ4: a match outside of the text")
        piece = out[-distance:]  # a match may overlap what it writes: the piece then repeats
        out += (piece * (length // len(piece) + 1))[:length]
    return bytes(out)


def _length(block: bytes, at: int, short: int) -> tuple[int, int]:
    """A length that began with four bits, and the place behind it."""
    if short < 15:
        return short, at
    while True:
        if at >= len(block):
            raise ValueError("LZ4: cut in a length")
        more = block[at]
        short, at = short + more, at + 1
        if more < 255:
            return short, at


def unpack_zstd(frame: bytes) -> bytes:
    """The content of a Zstandard frame. ChatError where the package for it is not installed; ValueError if broken."""
    try:
        import zstandard
    except ImportError as problem:
        raise ChatError(
            "the texts of a WeChat 4 database are packed with Zstandard, and the package `zstandard` is not installed",
            hint=(
                'Install it with `pip install "ollama-kit[wechat]"`, or export the chat to JSON or CSV first.',
                '请运行 `pip install "ollama-kit[wechat]"`，或先把聊天导出为 JSON 或 CSV。',
            ),
        ) from problem
    try:
        if zstandard.frame_content_size(frame) > LARGEST_BODY:
            raise ValueError("Zstandard: larger than a message can be")
        return zstandard.ZstdDecompressor().decompress(frame, max_output_size=LARGEST_BODY)
    except zstandard.ZstdError as problem:
        raise ValueError(f"Zstandard: {problem}") from problem


def fields_of(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(field number, value) of a protobuf message: numbers of varints, bytes of the rest. ValueError if it is none.

    >>> list(fields_of(b"\\x08\\x10\\x12\\x02hi"))
    [(1, 16), (2, b'hi')]
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if wire == 2:
            size, at = _varint(message, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError(f"protobuf: wire type {wire}")
        if at + size > len(message):
            raise ValueError("protobuf: cut short")
        yield key >> 3, message[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 64:
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
        shift += 7
    raise ValueError("protobuf: a number without end")


def sender_in_extra(extra: bytes) -> str:
    """Who wrote a group message of WeChat 3: in BytesExtra the field 3 with {1: 1, 2: wxid}. Empty if not there."""
    for number, value in fields_of(extra):
        if number == 3 and isinstance(value, bytes):
            inner = dict(fields_of(value))
            wxid = inner.get(2)
            if inner.get(1) == 1 and isinstance(wxid, bytes):
                return wxid.decode("utf-8", "replace")
    return ""
