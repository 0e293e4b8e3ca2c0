"""Windows of a contract that fit a model, counted in its own tokens, and the way back from each into the contract."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.windows.segments import Count, Segment, pieces_of

MOST_WINDOWS = 6
"""Windows that one group of questions may take. What is left unread is the least relevant, and is named."""
SHORT_HEADING = 200
"""Characters of a heading that is shown above a subclause although nothing else of its clause is."""
GAP = "\n[…]\n"
Span = tuple[int, int]
"""(start, end) in a contract's plain text."""


@dataclass(frozen=True, slots=True)
class Piece:
    """`length` characters at `at` in a window stand at `start` in the contract's plain text."""

    at: int
    start: int
    length: int


@dataclass(frozen=True)
class Window:
    """Some of a contract, in its order. `labels` are the clauses in it, `tokens` the exact count of `text`.

    `whole`: it is all of the contract."""

    text: str
    pieces: tuple[Piece, ...]
    labels: tuple[str, ...]
    tokens: int
    whole: bool = False

    def plain_span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the contract's plain text a span of the window stands; of one across a gap, the first part."""
        piece = self.pieces[max(0, bisect_right(self.pieces, start, key=lambda one: one.at) - 1)]
        first = piece.start + min(start - piece.at, piece.length)
        return first, max(first, min(piece.start + end - piece.at, piece.start + piece.length))


@dataclass
class Packer:
    """Makes windows of at most `limit_tokens`, as `count` counts them. What was counted is remembered."""

    text: ContractText
    segments: tuple[Segment, ...]
    count: Count
    limit_tokens: int
    _sizes: dict[Span, int] = field(default_factory=dict)
    _whole: Window | None = None

    def windows(self, scores: Sequence[int]) -> tuple[tuple[Window, ...], tuple[str, ...]]:
        """Windows with every segment that is worth something, and the labels of those left out for want of room.

        Where the whole contract fits in one window that is it, whatever the segments are worth: what is next to a
        clause may change its meaning, and no list of words is complete."""
        whole = self._all()
        if whole is not None:
            return (whole,), ()
        chosen, left = self._chosen(scores)
        spans = [span for at in chosen for span in self._spans(at)]
        return tuple(self._packed(spans)), left

    def passage(self, segments: Sequence[int], limit_tokens: int) -> Window:
        """One window of at most `limit_tokens` with the first of `segments`, the most wanted first."""
        spans: list[Span] = []
        room = min(limit_tokens, self.limit_tokens)
        for at in segments:
            size = self._size(at)
            if size > room and spans:
                break
            segment = self.segments[at]
            spans += list(pieces_of(self.text.plain, (segment.start, segment.end), self.count, room))[:1]
            room -= size
        return self._window(sorted(spans))

    def _all(self) -> Window | None:
        if self._whole is None:
            tokens = self.count(self.text.plain)
            labels = tuple(segment.label for segment in self.segments)
            piece = Piece(0, 0, len(self.text.plain))
            self._whole = Window(self.text.plain, (piece,), labels, tokens, whole=True)
        return self._whole if self._whole.tokens <= self.limit_tokens else None

    def _chosen(self, scores: Sequence[int]) -> tuple[list[int], tuple[str, ...]]:
        """The segments worth most, with the headings above them, and the labels of the rest that is worth something."""
        room = self.limit_tokens * MOST_WINDOWS
        chosen: set[int] = set()
        left = []
        for at in sorted((at for at, score in enumerate(scores) if score), key=lambda at: (-scores[at], at)):
            segment = self.segments[at]
            headings = [one for one in segment.above if self._is_heading(one)]
            wanted = {at, *headings} - chosen
            size = sum(map(self._size, wanted))
            if size > room:
                left.append(at)
                continue
            room -= size
            chosen |= wanted
        unread = (at for at in left if at not in chosen)
        return sorted(chosen), tuple(self.segments[at].label for at in sorted(unread))

    def _is_heading(self, at: int) -> bool:
        return self.segments[at].end - self.segments[at].start <= SHORT_HEADING

    def _size(self, at: int) -> int:
        return self._tokens(self.segments[at].start, self.segments[at].end)

    def _spans(self, at: int) -> Iterator[Span]:
        segment = self.segments[at]
        if self._size(at) <= self.limit_tokens:
            yield segment.start, segment.end
        else:
            yield from pieces_of(self.text.plain, (segment.start, segment.end), self.count, self.limit_tokens)

    def _packed(self, spans: Sequence[Span]) -> Iterator[Window]:
        """The spans in as few windows as they fill in their order. Tokens of parts do not quite add up to those of the
        whole, so each window is counted again, and what is too much goes into the next."""
        waiting = list(spans)
        gap = self.count(GAP) + 1
        while waiting:
            taken, total = 0, 0
            while taken < len(waiting):
                total += self._tokens(*waiting[taken]) + gap
                if total > self.limit_tokens and taken:
                    break
                taken += 1
            window = self._window(waiting[:taken])
            while window.tokens > self.limit_tokens and taken > 1:
                taken -= 1
                window = self._window(waiting[:taken])
            del waiting[:taken]
            yield window

    def _tokens(self, start: int, end: int) -> int:
        if (start, end) not in self._sizes:
            self._sizes[start, end] = self.count(self.text.plain[start:end])
        return self._sizes[start, end]

    def _window(self, spans: Sequence[Span]) -> Window:
        """The window of spans in the order of the text; a gap between two that are not next to each other is shown."""
        parts: list[str] = []
        pieces: list[Piece] = []
        length, before = 0, -1
        for start, end in spans:
            if before >= 0 and start != before:
                parts.append(GAP)
                length += len(GAP)
            pieces.append(Piece(length, start, end - start))
            parts.append(self.text.plain[start:end])
            length, before = length + end - start, end
        text = "".join(parts)
        return Window(text, tuple(pieces), self._labels(spans), self.count(text))

    def _labels(self, spans: Sequence[Span]) -> tuple[str, ...]:
        starts = [segment.start for segment in self.segments]
        shown = (self.segments[bisect_right(starts, start) - 1].label for start, _ in spans)
        return tuple(dict.fromkeys(shown))
