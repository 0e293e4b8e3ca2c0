"""The text of a file of any size, a block at a time, in whichever encoding it is in."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

HEAD_BYTES = 1 << 16
BLOCK_BYTES = 1 << 18
_STRAY_NULS = 0.02
"""The part of a UTF-8 text that may be NULs; with more of them it is UTF-16, or no text."""
LONGEST_LINE = 1 << 24
"""Characters of a line beyond which it is given out in pieces: memory stays bounded whatever a file holds."""


@dataclass(frozen=True)
class Source:
    """A file that is text. `head` is the text of its first 64 KB, for recognizing it.
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
                    switch = ascii_so_far and strict and not mostly_utf8(data)
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
    """The file as text, or None where its bytes are none of our encodings. OSError where it cannot be read."""
    with path.open("rb") as stream:
        data = stream.read(HEAD_BYTES)
    for encoding in _guesses(data):
        sure = encoding == "utf-8-sig" or (encoding == "utf-8" and mostly_utf8(data))
        try:
            decoder = codecs.getincrementaldecoder(encoding)("replace" if sure else "strict")
            text = decoder.decode(data, len(data) < HEAD_BYTES)
        except UnicodeDecodeError:
            continue
        if text.count("\0") <= (len(text) * _STRAY_NULS if encoding.startswith("utf-8") else 0):
            return Source(path, encoding, text)
    return None


def _guesses(data: bytes) -> tuple[str, ...]:
    """The encodings to try, as in ollama_kit.text.encodings: a mark decides, GB18030 comes after UTF-8. UTF-16
    without a mark comes last: it is what leaves NULs in the others, and a file is read by its first 64 KB only."""
    if data.startswith(codecs.BOM_UTF8):
        return ("utf-8-sig",)
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ("utf-16",)
    little = data[1::2].count(0) >= data[0::2].count(0)
    return ("utf-8", "gb18030", "utf-16-le" if little else "utf-16-be")


def mostly_utf8(data: bytes) -> bool:
    """Whether bytes that are not all UTF-8 still are meant as it: of its longer characters at most one in ten is bad.
    (GB18030 makes some text of almost any bytes, and of text in GB18030 hardly a character is UTF-8.)

    >>> mostly_utf8("这是一条很长很长的消息".encode() + b"\\xff"), mostly_utf8("你好".encode("gb18030"))
    (True, False)
    """
    text = data.decode("utf-8", "replace")
    bad = text.count("\ufffd")
    return sum(character > "\x7f" for character in text) - bad > 10 * bad > 0
