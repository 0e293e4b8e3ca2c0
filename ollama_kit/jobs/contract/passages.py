"""The text of a contract as rules read it, and the way back from every place in it to the document."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property

from ollama_kit.documents.document import ReadDocument
from ollama_kit.jobs.contract.facts.numbers import Numbers
from ollama_kit.text.folding import FoldedViews
from ollama_kit.text.pattern_search import matches_near
from ollama_kit.text.spans import Edit, SpanMap, apply

LONGEST_SENTENCE = 1200
"""Characters after which a sentence is cut: a table without full stops must not be one."""
SHORT_LINE = 28
"""Chinese characters of a line that was not broken for want of room."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """The words that prove something: `quote` is the document's text from `start` to `end` (end not included),
    `page` (0 where the format has none) and `paragraph` are those of its first character."""

    quote: str
    start: int
    end: int
    page: int
    paragraph: int


@dataclass(frozen=True)
class ContractText:
    """A document with one line a paragraph and one blank a gap; running headers and footers are left out.

    Rules match `folded` and `lower` (full width made half, same offsets as `plain`). What they find is a span of
    `plain`; `evidence` leads it back."""

    document: ReadDocument
    seen: FoldedViews
    map: SpanMap

    @staticmethod
    def of(document: ReadDocument) -> ContractText:
        changed = apply(document.text, list(_edits(document)))
        return ContractText(document, FoldedViews.of(changed.text), changed.map)

    @property
    def plain(self) -> str:
        return self.seen.text

    @property
    def folded(self) -> str:
        return self.seen.folded

    @property
    def lower(self) -> str:
        return self.seen.lower

    @cached_property
    def numbers(self) -> Numbers:
        """The figures in `plain`, read when first asked for."""
        return Numbers.of(self.seen)

    @cached_property
    def sentences(self) -> tuple[tuple[int, int], ...]:
        """Start and end of each sentence in `plain`; the parts that a Chinese semicolon ends are sentences too."""
        return tuple(_sentences(self.plain))

    def evidence(self, start: int, end: int) -> Evidence:
        """The words at a span of `plain`, without blanks around them."""
        words = self.plain[start:end]
        start, end = start + len(words) - len(words.lstrip()), end - len(words) + len(words.rstrip())
        first, last = self.map.span(start, end)
        pages, paragraphs = self._starts
        page = self.document.pages[max(0, bisect_right(pages, first) - 1)].number if pages else 0
        paragraph = max(1, bisect_right(paragraphs, first)) if paragraphs else 0
        return Evidence(self.document.text[first:last], first, last, page, paragraph)

    @cached_property
    def _starts(self) -> tuple[list[int], list[int]]:
        """Where the document's pages and paragraphs begin; `ReadDocument.place` looks them up more slowly."""
        document = self.document
        return [page.start for page in document.pages], [paragraph.start for paragraph in document.paragraphs]

    def original(self, offset: int) -> int:
        """The offset in the document of an offset in `plain`."""
        return self.map.original(offset)

    def lines(self) -> Iterator[tuple[int, int]]:
        """Start and end of each paragraph in `plain`."""
        start = 0
        for line in self.plain.split("\n"):
            if line:
                yield start, start + len(line)
            start += len(line) + 1


def sentence_around(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence of `text` that holds the span, looking no further than LONGEST_SENTENCE each way.

    >>> text = "Term. This Agreement ends on May 1, 2027. Notices follow."
    >>> text[slice(*sentence_around(text, 11, 12))]
    'This Agreement ends on May 1, 2027.'
    """
    floor = max(0, start - LONGEST_SENTENCE)
    floor = max(floor, *(text.rfind(mark, floor, start) + 1 for mark in "\n。"))
    ceiling = min(len(text), end + LONGEST_SENTENCE)
    line_end = text.find("\n", end, ceiling)
    ceiling = line_end if line_end >= 0 else ceiling
    full_stop = text.find("。", end, ceiling)
    ceiling = full_stop + 1 if full_stop >= 0 else ceiling
    for match in sentence_boundary().finditer(text, floor, start):
        floor = match.end()
    after = sentence_boundary().search(text, end, ceiling)
    return floor, after.start() + 1 if after else ceiling


def sentences_with(
    text: str, pattern: re.Pattern[str], searched: str = "", words: re.Pattern[str] | None = None
) -> Iterator[tuple[int, int]]:
    """Every sentence of `text` in which `pattern` is found, once each, in order. Each is looked at once.

    `searched` is the same text in lower case, where the pattern is in lower case. `words` are those of which each match
    holds one, within 32 characters, so that only there is looked."""
    end = 0
    inside = searched or text
    for found in matches_near(pattern, inside, words, 32, 48) if words else pattern.finditer(inside):
        if found.start() >= end:
            begin, end = sentence_around(text, *found.span())
            yield begin, end


def _sentences(plain: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _sentence_end().finditer(plain):
        yield from _pieces(start, match.start() + 1)
        start = match.end()
    yield from _pieces(start, len(plain))


def _pieces(start: int, end: int) -> Iterator[tuple[int, int]]:
    for first in range(start, end, LONGEST_SENTENCE):
        yield first, min(end, first + LONGEST_SENTENCE)


@cache
def _sentence_end() -> re.Pattern[str]:
    return re.compile(r"[\n。；]\s*|;(?<=[\u4e00-\u9fff）)];)\s*|" + sentence_boundary().pattern)


@cache
def sentence_boundary() -> re.Pattern[str]:
    """The full stop that ends an English sentence, and the blank behind it."""
    # A full stop behind an abbreviation or a number (Inc., No. 5, 1.1) ends nothing. The stop is matched first, which
    # lets `re` skip to it.
    abbreviated = r"(?<!\b[A-Z]\.)(?<!\bNo\.)(?<!\bCo\.)(?<!Inc\.)(?<!Ltd\.)(?<!Corp\.)(?<!\b\d\.)(?<!\b\d\d\.)"
    return re.compile(rf"\.{abbreviated}\s(?=[A-Z\d(\"“\[])")


def _edits(document: ReadDocument) -> Iterator[Edit]:
    """What makes the text plain, in order."""
    text, end = document.text, 0
    paragraphs = [one for one in document.paragraphs if one.role not in ("header", "footer")]
    for paragraph in paragraphs:
        start = paragraph.start + len(document.of(paragraph)) - len(document.of(paragraph).lstrip())
        gap = "\n" if end else ""
        if text[end:start] != gap:
            yield Edit(end, start, gap)
        for blank in _blanks().finditer(text, start, paragraph.end):
            new = _joint(document, *blank.span())
            if blank.end() < paragraph.end and new != blank[0]:
                yield Edit(*blank.span(), new)
        end = start + len(text[start : paragraph.end].rstrip())
    if text[end:]:
        yield Edit(end, len(text), "")


def _joint(document: ReadDocument, start: int, end: int) -> str:
    """What stands for blanks within a paragraph: nothing where a line was broken between two Chinese characters, a
    line end where the line before ends a sentence or is too short to have been broken, else one blank."""
    text = document.text
    if "\n" not in text[start:end]:
        return " "
    as_typed = document.kind in ("txt", "md")
    if as_typed and text[start - 1] in "。；：.;:":
        return "\n"
    if text[start - 1] < "\u2e80" or text[end : end + 1] < "\u2e80":
        return " "
    short = start - (text.rfind("\n", 0, start) + 1) < SHORT_LINE
    return "\n" if short and as_typed else ""


@cache
def _blanks() -> re.Pattern[str]:
    return re.compile(r"\s{2,}|[^\S ]")
