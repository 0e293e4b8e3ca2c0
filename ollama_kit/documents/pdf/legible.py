"""Which pages can be read: a page of pictures without text, or of shapes that stand for no known character, cannot."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ollama_kit.documents.pdf.words import Word
from ollama_kit.errors import DocumentError

LEAST_CHARS = 8
"""A page with pictures and fewer characters than this has no text to speak of."""
GARBLED_SHARE = 0.3
REFUSED_SHARE = 0.5
"""Of the pages that are not blank."""

State = Literal["read", "blank", "picture", "garbled"]
OCR_HINT = (
    "Have the text recognized first, for instance with `ocrmypdf --force-ocr -l chi_sim+eng in.pdf out.pdf`.",
    "请先做文字识别(OCR)，例如 `ocrmypdf --force-ocr -l chi_sim+eng in.pdf out.pdf`，再读取 out.pdf。",
)


class PageState(NamedTuple):
    """What can be read of page `number` (from 1); `recognized`: its text is what a program saw in a picture."""

    number: int
    state: State
    recognized: bool = False


def page_state(number: int, words: Sequence[Word], *, painted: bool, recognized: bool) -> PageState:
    """The state of a page by the words in sight. `painted`: it has something that is not text."""
    total = sum(len(word.text) for word in words)
    if total < LEAST_CHARS and painted:
        return PageState(number, "picture")
    if total == 0:
        return PageState(number, "blank")
    bad = sum(len(word.text) if not word.legible else _strange(word.text) for word in words)
    return PageState(number, "garbled" if bad > GARBLED_SHARE * total else "read", recognized)


def _strange(text: str) -> int:
    """Characters that no document has: private use, controls, not assigned, the replacement character.

    Symbol fonts put a few (bullets, boxes) into the private use area; a page full of them is another matter."""
    if text.isascii() and text.isprintable():
        return 0
    return sum(one == "\ufffd" or unicodedata.category(one) in ("Co", "Cc", "Cn", "Cs") for one in text)


def check(states: Sequence[PageState], path: Path) -> list[str]:
    """Warnings about single pages. DocumentError where half of the pages cannot be read, or none has text."""
    written = [page for page in states if page.state != "blank"]
    pictures = [page.number for page in written if page.state == "picture"]
    garbled = [page.number for page in written if page.state == "garbled"]
    if not written:
        raise DocumentError("there is no text in it: every page is blank", path=path, hint=OCR_HINT)
    if len(pictures) + len(garbled) >= REFUSED_SHARE * len(written):
        what = "is a scan: no text" if len(pictures) >= len(garbled) else "is garbled: no known characters"
        unread = sorted(pictures + garbled)
        raise DocumentError(
            f"the PDF {what} on {len(unread)} of {len(written)} pages ({numbers(unread)})", path=path, hint=OCR_HINT
        )
    warnings = []
    if pictures:
        warnings.append(f"no text on page {numbers(pictures)}: pictures only, what stands in them was not read")
    if garbled:
        warnings.append(f"garbled text on page {numbers(garbled)}: the file does not say which characters it shows")
    if seen := [page.number for page in states if page.recognized]:
        warnings.append(f"a scan: the text of page {numbers(seen)} was recognized by a program and may be wrong")
    return warnings


def numbers(pages: Sequence[int]) -> str:
    """Page numbers for a person, runs drawn together.

    >>> numbers([1, 2, 3, 7])
    '1-3, 7'
    """
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][-1] + 1:
            runs[-1][1:] = [page]
        else:
            runs.append([page])
    return ", ".join("-".join(map(str, run)) for run in runs)
