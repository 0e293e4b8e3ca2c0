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

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.documents.document import (
        HiddenText as HiddenText,
        Limits as Limits,
        Note as Note,
        Page as Page,
        Paragraph as Paragraph,
        Place as Place,
        ReadDocument as ReadDocument,
    )
    from ollama_kit.documents.reading import read_document as read_document
else:
    __getattr__, __dir__ = exports(__name__)
