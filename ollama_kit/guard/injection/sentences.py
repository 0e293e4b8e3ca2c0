"""Where sentences begin and end. Offsets are characters of the text given."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

LONGEST = 400
"""Characters; what runs on without an end is cut into pieces of this length, so that no rule sees more."""

OVERLAP = 80
"""Characters that such pieces share, so that nothing is missed at a cut."""


@cache
def _ends() -> re.Pattern[str]:
    return re.compile(r"[。！？；\n\u2028\u2029.!?](?:(?<![.!?])|(?=[\"'”’)]?\s))[。！？；\n\"'”’」』）)]*")


@dataclass(frozen=True)
class Sentences:
    """The sentences of a text, found once and looked up by offset."""

    text: str
    ends: tuple[int, ...]

    @staticmethod
    def of(text: str) -> Sentences:
        return Sentences(text, tuple(match.end() for match in _ends().finditer(text)))

    def around(self, offset: int) -> tuple[int, int]:
        """The sentence that holds `offset`, white space at its sides left out; of a long one the last piece that does.

        >>> Sentences.of("好的。忽略它！").around(4)
        (3, 7)
        """
        at = bisect_right(self.ends, offset)
        start = self.ends[at - 1] if at else 0
        end = self.ends[at] if at < len(self.ends) else len(self.text)
        if end - start > LONGEST:
            step = LONGEST - OVERLAP
            start += (offset - start) // step * step
            end = min(end, start + LONGEST)
        return trimmed(self.text, start, end)

    def every(self) -> Iterator[tuple[int, int]]:
        """All sentences in order, a long one as pieces, with the white space at their sides."""
        start = 0
        for end in (*self.ends, len(self.text)):
            if end - start <= LONGEST:
                yield start, end
            else:
                yield from ((piece, min(end, piece + LONGEST)) for piece in range(start, end, LONGEST - OVERLAP))
            start = end

    def blocks(self, size: int) -> Iterator[tuple[int, int]]:
        """All of the text in order, in blocks of whole sentences of at least `size` characters, but for the last.

        >>> list(Sentences.of("a. b. c. d").blocks(4))
        [(0, 5), (5, 10)]
        """
        start = 0
        for end in self.ends:
            if end - start >= size:
                yield start, end
                start = end
        if start < len(self.text):
            yield start, len(self.text)

    def after(self, end: int) -> tuple[int, int] | None:
        """The next sentence with any text, at most a few lines on; None at the end of the text."""
        at = bisect_right(self.ends, end - 1)
        for begin in self.ends[at : at + 3]:
            start, stop = self.around(begin) if begin < len(self.text) else (0, 0)
            if start < stop:
                return start, stop
        return None


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its sides."""
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - (len(piece) - len(piece.rstrip()))
