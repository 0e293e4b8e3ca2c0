"""Documents as people have them, read into text of which every character knows its page and paragraph.

document    what a document is once read; Limits
reading     read_document: size, kind by content, the reader of that kind (those that ship, and those of plug-ins)
plain       TXT and Markdown: the text as it stands
html/       HTML: what a reader would see
pdf/        PDF: words with their ink, what can be seen of them, columns, rows, paragraphs
docx/       DOCX: the package, bounded; styles, numbering, paragraphs, notes

Nothing is loaded before it is used: pypdfium2 and lxml are of the extra `contract`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.documents.document import (
        Draft as Draft,
        HiddenText as HiddenText,
        Limits as Limits,
        Note as Note,
        Page as Page,
        Paragraph as Paragraph,
        Piece as Piece,
        Place as Place,
        ReadDocument as ReadDocument,
    )
    from ollama_kit.documents.reading import (
        DocumentFile as DocumentFile,
        DocumentReader as DocumentReader,
        Sure as Sure,
        read_document as read_document,
    )
else:
    __getattr__, __dir__ = exports(__name__)
