"""The two things of an image's EXIF that matter before it is dropped: how the image stands, and whether it tells where
it was taken. Read here and not by Pillow, which warns on stderr where EXIF is damaged."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

MARK = b"Exif\0\0"
ORIENTATION, GPS, LATITUDE = 0x0112, 0x8825, 0x0002  # tags of EXIF 2.3
MOST_BYTES = 2**16  # a JPEG segment is no longer

# Inside compressed pixels FF is followed by 00, so that these are segments wherever they stand.
_SEGMENT = re.compile(rb"\xff\xe1..Exif\0\0", re.DOTALL)
_PARSED = re.compile(rb"(\xff\xe1..)Exif\0\0|(\xff\xe2..)MPF\0", re.DOTALL)


@dataclass(frozen=True)
class Exif:
    """`there`: there is any. `orientation` is 1 to 8, 1 being upright."""

    there: bool = False
    orientation: int = 1
    has_position: bool = False


def exif_of_jpeg(data: bytes) -> Exif:
    """What the first EXIF segment of a JPEG says."""
    found = _SEGMENT.search(data)
    return read_exif(data[found.end() : found.end() + MOST_BYTES]) if found else Exif()


def without_exif(data: bytes) -> bytes:
    """A JPEG, of the same length, in which a decoder finds neither EXIF nor a list of further pictures."""
    return _PARSED.sub(lambda found: (found[1] or found[2]).ljust(len(found[0]), b"\0"), data)


def read_exif(blob: bytes) -> Exif:
    """What a block of EXIF says, with or without its mark; where it is damaged, as far as it can be read.

    >>> read_exif(b"MM\\0*\\0\\0\\0\\x08\\0\\x01\\x01\\x12\\0\\x03\\0\\0\\0\\x01\\0\\x06\\0\\0")
    Exif(there=True, orientation=6, has_position=False)
    """
    blob = blob[:MOST_BYTES].removeprefix(MARK)
    order = {b"II": "<", b"MM": ">"}.get(blob[:2])
    if order is None:
        return Exif(there=bool(blob))
    orientation, has_position = 1, False
    for tag, at in _entries(blob, 4, order):
        if tag == ORIENTATION:
            stands = _number(blob, at, f"{order}H")
            orientation = stands if 1 <= stands <= 8 else 1
        elif tag == GPS:
            has_position = any(tag == LATITUDE for tag, _ in _entries(blob, at, order))
    return Exif(True, orientation, has_position)


def _entries(blob: bytes, pointer: int, order: str) -> Iterator[tuple[int, int]]:
    """(tag, where its value stands) of each entry of the directory that `pointer` points to."""
    begins = _number(blob, pointer, f"{order}I")
    for entry in range(_number(blob, begins, f"{order}H") if begins >= 8 else 0):
        at = begins + 2 + 12 * entry
        if at + 12 > len(blob):
            return
        yield _number(blob, at, f"{order}H"), at + 8


def _number(blob: bytes, at: int, form: str) -> int:
    """The number at a place, 0 beyond the end."""
    if at + struct.calcsize(form) > len(blob):
        return 0
    return int(struct.unpack_from(form, blob, at)[0])
