"""Reads the bytes that people really have: UTF-8 with or without BOM, UTF-16, GB18030.

A byte-order mark decides; without one, text that is valid UTF-8 is UTF-8, bytes with a NUL in every second place are
UTF-16, and what remains is tried as GB18030, which holds GBK and GB2312. Latin-1 is never guessed: it accepts
anything and so would turn a wrong guess into wrong text.
"""

from __future__ import annotations

import codecs
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import BinaryIO

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


def write_text(path: Path, text: str) -> None:
    """Writes UTF-8 with LF, whole or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all."""
    with written_whole(path) as file:
        file.write(content)


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` when the block has ended well, and is gone when it has not.

    It has a name that nobody can know beforehand, and is made anew (`mkstemp`); the rename puts it in the place of a
    link, and follows none. Its mode is that of the file it replaces, else the user's default."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.", suffix=".part")
    partial = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
        if os.name == "posix":
            partial.chmod(_mode_for(path))
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _mode_for(path: Path) -> int:
    try:
        status = path.lstat()
    except OSError:
        return 0o666 & ~_umask()
    return stat.S_IMODE(status.st_mode) if stat.S_ISREG(status.st_mode) else 0o666 & ~_umask()


@cache
def _umask() -> int:
    """The user's mask of modes; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
