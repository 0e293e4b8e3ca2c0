"""TXT and Markdown: the text as it is, with its paragraphs; in Markdown, comments are hidden text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ollama_kit.documents.document import HiddenText
from ollama_kit.documents.draft import Anchor, Aside, Draft, DraftParagraph

WRAPPED_CHARS = (50, 120)
"""Lines of a hard-wrapped text are about this long; a longer line is a paragraph that nobody wrapped."""
CLOSE_CHARS = 12


def read_plain(text: str, *, markdown: bool = False) -> tuple[Draft, int]:
    """The draft of a text, and how many pages it has: form feeds part them (as pdftotext writes), 0 without any."""
    draft = Draft(verbatim=True)
    shown = text.replace("\r\n", "\n").replace("\r", "\n")
    if markdown:
        shown = _without_comments(shown, draft)
    pages = shown.rstrip("\f\n ").count("\f") + 1
    page, end = 1, 0
    for start, stop in paragraph_ranges(shown):
        gap = shown[end:start]
        page += gap.count("\f")
        draft.add(DraftParagraph(shown[start:stop], page if pages > 1 else 0, gap=gap))
        end = stop
    draft.tail = shown[end:] if draft.pieces else ""
    return draft, pages if pages > 1 else 0


def paragraph_ranges(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each paragraph: a blank line ends one, and so does a line that nobody wrapped.

    >>> text = "甲方：某某公司\\n乙方：某某厂\\n\\n第一条 标的"
    >>> [text[start:end] for start, end in paragraph_ranges(text)]
    ['甲方：某某公司', '乙方：某某厂', '第一条 标的']
    """
    spans = (match.span() for match in re.finditer(r"[^\n\f]+", text))
    lines = [(start, end) for start, end in spans if not text[start:end].isspace()]
    width = _wrap_width([text[start:end].rstrip() for start, end in lines])
    first, before = 0, (0, 0)
    for start, end in lines:
        apart = "\f" in text[before[1] : start] or text.count("\n", before[1], start) != 1
        if before[1] and (apart or not _continues(text[slice(*before)], text[start:end], width)):
            yield first, before[1]
            first = start
        first, before = (first if before[1] else start), (start, end)
    if before[1]:
        yield first, before[1]


def _wrap_width(lines: list[str]) -> int:
    """The width at which the text was wrapped: nine of ten lines are no longer, and every third comes close; 0 where
    it was not."""
    lengths = sorted(map(len, lines))
    if len(lengths) < 8:
        return 0
    most = lengths[len(lengths) * 9 // 10]
    close = sum(most - CLOSE_CHARS <= length <= most for length in lengths)
    return most if WRAPPED_CHARS[0] <= most <= WRAPPED_CHARS[1] and close * 3 >= len(lengths) else 0


def _continues(before: str, line: str, width: int) -> bool:
    """Whether the line is the rest of the one before: its first word would not have fitted there."""
    if not width:
        return False
    word = 1 if line.lstrip()[0] > "\u2e80" else len(line.split(None, 1)[0])
    return len(before.rstrip()) + 1 + word > width - 8 and not begins_clause(line)


def begins_clause(line: str) -> bool:
    """Whether the line begins with a number, a letter or a mark of a list, as clauses do.

    >>> begins_clause("第十二条 违约责任"), begins_clause("(b) the Supplier"), begins_clause("2026 年")
    (True, True, False)
    """
    return _starts().match(line) is not None


@cache
def _starts() -> re.Pattern[str]:
    digits = "一二三四五六七八九十百零〇"
    return re.compile(
        rf"\s*(?:第[{digits}\d]{{1,6}}[条章节款编部]|[{digits}]{{1,4}}[、.．]"
        rf"|[(（](?:[{digits}]{{1,4}}|\d{{1,3}}|[A-Za-z]|[ivxIVX]{{1,5}})[)）]"
        r"|(?:\d{1,3}[.)）]|\d{1,3}(?:\.\d{1,3}){1,4}[.、．)）]?)\s+(?=[^\W\d_]|[\"“(《]|__)|\d{1,3}[、．]|\d{1,3}\.(?=[^\s\d])"
        r"|\d{1,2}\s+(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec))(?=[A-Z])"
        r"|[a-zA-Z][.)]\s|[•●◦▪■◆○·*–—-]\s|#{1,6}\s|\||>\s|(?:ARTICLE|Article|SECTION|Section)\s+[\dIVXLC]+[.:\s])"
    )


def _without_comments(text: str, draft: Draft) -> str:
    """The text without `<!-- … -->` and `[//]: # (…)`, which become hidden text."""
    kept, length, end = [], 0, 0
    for match in _comments().finditer(text):
        kept.append(text[end : match.start()])
        length += match.start() - end
        end = match.end()
        comment = next(filter(None, match.groups()), "").strip()
        if comment:
            draft.asides.append(Aside(HiddenText("comment", comment), Anchor(-1, length)))
    return "".join((*kept, text[end:]))


@cache
def _comments() -> re.Pattern[str]:
    return re.compile(r"<!--(?:(.*?)-->|(.*)\Z)|^\[(?://|comment)\]:[ ]#[ ]?[(\"']?([^\n]*?)[)\"']?$", re.M | re.S)
