"""Documents as people have them, read into text of which every character knows its page and paragraph.

document    what a document is once read; Limits
reading     read_document: size, kind by content, the reader of that kind, what is wrong with all of them
plain       TXT and Markdown: the text as it stands
html/       HTML: what a reader would see
pdf/        PDF: words with their ink, what can be seen of them, columns, rows, paragraphs
docx/       DOCX: the package, bounded; styles, numbering, paragraphs, notes

Nothing is loaded before it is used: pypdfium2 and lxml are of the extra `contract`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ollama_kit.documents.document import (
        HiddenText,
        Limits,
        Note,
        Page,
        Paragraph,
        Place,
        ReadDocument,
    )
    from ollama_kit.documents.reading import read_document

_HOMES = {
    "HiddenText": "document",
    "Limits": "document",
    "Note": "document",
    "Page": "document",
    "Paragraph": "document",
    "Place": "document",
    "ReadDocument": "document",
    "read_document": "reading",
}

__all__ = ["HiddenText", "Limits", "Note", "Page", "Paragraph", "Place", "ReadDocument", "read_document"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
