"""Windows of a contract that fit a model, counted in its own tokens, and the way back from each into the contract."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ollama_kit.jobs.contract.passages import ContractText
from ollama_kit.jobs.contract.windows.segments import SHORT_HEADING, Count, Segment, cut_long, pieces_of

MOST_WINDOWS = 6
"""Windows that one group of questions may take. What is left unread is the least relevant, and is named."""
PIECES = 4
"""A segment longer than a window is cut so small that so many pieces fit into one."""
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

    @property
    def spans(self) -> tuple[Span, ...]:
        """What of the contract's plain text is in it."""
        return tuple((piece.start, piece.start + piece.length) for piece in self.pieces)

    def plain_span(self, start: int, end: int) -> tuple[int, int]:
        """Where in the contract's plain text a span of the window stands; of one across a gap, the first part."""
        piece = self.pieces[max(0, bisect_right(self.pieces, start, key=lambda one: one.at) - 1)]
        first = piece.start + min(start - piece.at, piece.length)
        return first, max(first, min(piece.start + end - piece.at, piece.start + piece.length))


@dataclass
class Packer:
    """Makes windows of at most `limit_tokens`, as `count` counts them. What was counted is remembered. No segment is
    larger than a window: see `of`."""

    text: ContractText
    segments: tuple[Segment, ...]
    count: Count
    limit_tokens: int
    _sizes: dict[Span, int] = field(default_factory=dict)
    _whole: Window | None = None

    @staticmethod
    def of(text: ContractText, segments: tuple[Segment, ...], count: Count, limit_tokens: int) -> Packer:
        """The packer of a contract's segments. Those that are longer than a window are cut, unless all of the contract
        fits into one."""
        packer = Packer(text, segments, count, limit_tokens)
        if packer._all() is None:
            most = max(1, limit_tokens // PIECES)
            packer.segments = cut_long(text.plain, segments, count, limit_tokens, most)
        return packer

    def windows(self, scores: Sequence[int]) -> tuple[tuple[Window, ...], tuple[int, ...]]:
        """Windows with the segments that are worth something, and the places of those left out for want of room.

        Where the whole contract fits in one window that is it, whatever the segments are worth: what is next to a
        clause may change its meaning, and no list of words is complete."""
        whole = self._all()
        if whole is not None:
            return (whole,), ()
        chosen, left = self._chosen(scores)
        return tuple(self._packed(list(map(self._span, chosen)))), left

    def passage(self, segments: Sequence[Segment], wanted: Sequence[int], limit_tokens: int) -> Window:
        """One window of at most `limit_tokens` with those of `segments` that are wanted, the most wanted first, each
        under its heading if there is room."""
        spans: list[Span] = []
        room = min(limit_tokens, self.limit_tokens)
        gap = self.count(GAP) + 1
        for at in wanted:
            span = segments[at].start, segments[at].end
            if span in spans:
                continue
            size = self._tokens(*span) + gap
            if not spans and size > room:
                span = next(pieces_of(self.text.plain, span, self.count, room))
                size = self._tokens(*span)
            if size <= room:
                spans.append(span)
                room -= size
        for place in dict.fromkeys(place for at in wanted for place in segments[at].above):
            span = segments[place].start, segments[place].end
            size = self._tokens(*span) + gap
            if span not in spans and size <= room and span[1] - span[0] <= SHORT_HEADING:
                spans.append(span)
                room -= size
        return self._window(sorted(spans))

    def labels(self, places: Sequence[int]) -> tuple[str, ...]:
        """What the segments at some places are called, each once. Parts of a text without clauses that follow each
        other are called by the first words of the first."""
        found, before = [], -2
        for at in places:
            segment = self.segments[at]
            follows = at == before + 1 and not segment.titles and not self.segments[before].titles
            found += [] if follows else [segment.label]
            before = at
        return tuple(dict.fromkeys(found))

    def _all(self) -> Window | None:
        if self._whole is None:
            tokens = self.count(self.text.plain)
            labels = tuple(segment.label for segment in self.segments)
            piece = Piece(0, 0, len(self.text.plain))
            self._whole = Window(self.text.plain, (piece,), labels, tokens, whole=True)
        return self._whole if self._whole.tokens <= self.limit_tokens else None

    def _chosen(self, scores: Sequence[int]) -> tuple[list[int], tuple[int, ...]]:
        """The segments worth most, with the headings above them, as many as fit into MOST_WINDOWS, and the rest that is
        worth something; both in the order of the text."""
        room = self.limit_tokens * MOST_WINDOWS
        best = sorted((at for at, score in enumerate(scores) if score), key=lambda at: (-scores[at], at))
        chosen: dict[int, None] = {}
        for at in best:
            headings = [one for one in self.segments[at].above if self._is_heading(one)]
            wanted = [one for one in dict.fromkeys((*headings, at)) if one not in chosen]
            size = sum(self._tokens(*self._span(one)) for one in wanted)
            if size <= room:
                room -= size
                chosen.update(dict.fromkeys(wanted))
        while self._rounds(list(map(self._span, sorted(chosen)))) > MOST_WINDOWS:
            chosen.popitem()
        return sorted(chosen), tuple(at for at in sorted(best) if at not in chosen)

    def _is_heading(self, at: int) -> bool:
        return self.segments[at].end - self.segments[at].start <= SHORT_HEADING

    def _span(self, at: int) -> Span:
        return self.segments[at].start, self.segments[at].end

    def _packed(self, spans: Sequence[Span]) -> Iterator[Window]:
        """The spans in as few windows as they fill in their order. Tokens of parts do not quite add up to those of the
        whole, so each window is counted again, and what is too much goes into the next."""
        at = 0
        while at < len(spans):
            end = self._filled(spans, at)
            window = self._window(spans[at:end])
            while window.tokens > self.limit_tokens and end > at + 1:
                end -= 1
                window = self._window(spans[at:end])
            at = end
            yield window

    def _rounds(self, spans: Sequence[Span]) -> int:
        """How many windows the spans fill."""
        at = rounds = 0
        while at < len(spans):
            at, rounds = self._filled(spans, at), rounds + 1
        return rounds

    def _filled(self, spans: Sequence[Span], first: int) -> int:
        """Up to which of the spans one window has room, from the first of them; at least for that one."""
        at, total = first, 0
        gap = self.count(GAP) + 1
        while at < len(spans):
            total += self._tokens(*spans[at]) + (gap if at > first and spans[at][0] != spans[at - 1][1] else 0)
            if total > self.limit_tokens and at > first:
                break
            at += 1
        return at

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
            if start == before:  # the same piece goes on
                last = pieces.pop()
                pieces.append(Piece(last.at, last.start, end - last.start))
            else:
                parts += [GAP] if pieces else []
                length += len(GAP) if pieces else 0
                pieces.append(Piece(length, start, end - start))
            parts.append(self.text.plain[start:end])
            length, before = length + end - start, end
        text = "".join(parts)
        return Window(text, tuple(pieces), self._labels(spans), self.count(text))

    def _labels(self, spans: Sequence[Span]) -> tuple[str, ...]:
        starts = [segment.start for segment in self.segments]
        shown = (self.segments[bisect_right(starts, start) - 1].label for start, _ in spans)
        return tuple(dict.fromkeys(shown))
