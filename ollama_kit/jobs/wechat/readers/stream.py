"""The text of a file of any size, a block at a time, in whichever encoding it is in."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ollama_kit.encodings import decode

HEAD_BYTES = 1 << 16
BLOCK_BYTES = 1 << 18
LONGEST_LINE = 1 << 24
"""Characters of a line beyond which it is given out in pieces: memory stays bounded whatever a file holds."""


@dataclass(frozen=True)
class Source:
    """A file that is text. `head` is its first 64 KB (short of a last piece that may be cut), for recognising it.
    `notes` collects what decoding finds on the way: bytes that are not of the encoding."""

    path: Path
    encoding: str
    head: str
    notes: list[str] = field(default_factory=list)

    def blocks(self) -> Iterator[str]:
        """The text in pieces that are never empty; a byte-order mark is not part of it."""
        decoder = codecs.getincrementaldecoder(self.encoding)()
        ascii_so_far, offset, strict = self.encoding == "utf-8", 0, True
        with self.path.open("rb") as stream:
            while True:
                data = stream.read(BLOCK_BYTES)
                state = decoder.getstate()
                try:
                    text = decoder.decode(data, not data)
                except UnicodeDecodeError as problem:
                    # A head that is pure ASCII says nothing between UTF-8 and GB18030; the first other byte does.
                    switch = ascii_so_far and strict
                    encoding = "gb18030" if switch else self.encoding
                    strict = False
                    decoder = codecs.getincrementaldecoder(encoding)("replace")
                    if switch:
                        data = state[0] + data
                        self.notes.append(f"read as {encoding} from byte {offset - len(state[0])} on")
                    else:
                        decoder.setstate(state)
                        at = offset - len(state[0]) + problem.start
                        self.notes.append(
                            f"bytes that are not {encoding} are shown as U+FFFD, the first near byte {at}"
                        )
                    text = decoder.decode(data, not data)
                if text:
                    yield text
                    ascii_so_far = ascii_so_far and text.isascii()
                if not data:
                    return
                offset += len(data)

    def lines(self) -> Iterator[str]:
        """The lines with their ends (only LF ends one; a CR before it stays). One of more than 16 M characters comes
        in pieces."""
        held: list[str] = []
        held_length = 0
        for block in self.blocks():
            if "\n" not in block and held_length < LONGEST_LINE:
                held.append(block)
                held_length += len(block)
                continue
            parts = ("".join(held) + block).split("\n")
            rest = parts.pop()
            for part in parts:
                yield part + "\n"
            held, held_length = [rest], len(rest)
            if held_length >= LONGEST_LINE:
                yield rest
                held, held_length = [], 0
        if rest := "".join(held):
            yield rest


def open_source(path: Path) -> Source | None:
    """The file as text, or None where its bytes are none of our encodings. OSError where it can not be read."""
    with path.open("rb") as stream:
        data = stream.read(HEAD_BYTES)
    if len(data) == HEAD_BYTES:
        # A last character that is cut must not look like another encoding; these bytes never continue one.
        cut = max(data.rfind(byte) for byte in (b"\n", b'"', b",", b" ")) + 1
        data = data[: cut + (data[cut : cut + 1] == b"\0")] or data
    try:
        text, encoding = decode(data)
    except UnicodeDecodeError:
        return None
    if encoding == "utf-8-sig" or "\0" not in text:
        return Source(path, encoding, text)
    return None
