"""Reads the bytes that people really have: UTF-8 with or without BOM, UTF-16, GB18030.

A byte-order mark decides; without one, text that is valid UTF-8 is UTF-8, bytes with a NUL in every second place are
UTF-16, and what remains is tried as GB18030, which holds GBK and GB2312. Latin-1 is never guessed: it accepts
anything and so would turn a wrong guess into wrong text.
"""

from __future__ import annotations

import codecs
from pathlib import Path

from ollama_kit.text.private_files import replacing

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def decode(data: bytes) -> tuple[str, str]:
    """The text of `data` and the encoding it was read as. UnicodeDecodeError where none of ours fits.

    >>> decode("合同".encode("gb18030"))
    ('合同', 'gb18030')
    >>> decode(b"\\xff\\xfeA\\x00")
    ('A', 'utf-16')
    """
    marked = _by_mark(data)
    guesses = (marked,) if marked else (_by_zeros(data), "utf-8", "gb18030")
    problems = []
    for encoding in filter(None, guesses):
        try:
            return data.decode(encoding), encoding
        except UnicodeDecodeError as problem:
            problems.append(problem)
    raise problems[0]


def _by_mark(data: bytes) -> str | None:
    return next((encoding for mark, encoding in _MARKS if data.startswith(mark)), None)


def _by_zeros(data: bytes) -> str | None:
    """UTF-16 without a mark: Latin letters, digits and line ends leave zeros on one side only, and leave many."""
    sample = data[:4096]
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    many = max(4, len(sample) // 20)
    if len(data) % 2 or min(even, odd) > 0 or max(even, odd) < many:
        return None
    return "utf-16-le" if odd else "utf-16-be"


def write_text(path: Path, text: str, *, private: bool = True) -> None:
    """Writes UTF-8 with LF, whole or not at all; for its owner alone, unless it is not `private`."""
    write_bytes(path, text.encode("utf-8"), private=private)


def write_bytes(path: Path, content: bytes, *, private: bool = True) -> None:
    """Writes a file whole or not at all: to a temporary name next to it first, then renamed."""
    with replacing(path, private=private) as file:
        file.write(content)
