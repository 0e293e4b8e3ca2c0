"""Documents as people have them, read into text of which every character knows its page and paragraph.

reading     read_document: size, kind by content, the reader of that kind (shipped, or of a plug-in)
document    what a document is once read; DocumentLimits
draft       what a reader gathers, and how it becomes a document
plain_text  TXT and Markdown: the text as it is in the file
html_text   HTML: what a reader would see
docx/       DOCX: the package, bounded; styles, numbering, paragraphs, notes
pdf/        PDF: words with their ink, which of them are visible, columns, rows, paragraphs
pages/      what the jobs write: escaped text, templates, style sheets, file names

Nothing is loaded before it is used: pypdfium2 and lxml are of the extra `contract`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ollama_kit.lazy import exports

if TYPE_CHECKING:
    from ollama_kit.documents.document import (
        DocumentLimits as DocumentLimits,
        DocumentPlace as DocumentPlace,
        HiddenText as HiddenText,
        Note as Note,
        Page as Page,
        Paragraph as Paragraph,
        ReadDocument as ReadDocument,
    )
    from ollama_kit.documents.draft import Draft as Draft, DraftParagraph as DraftParagraph
    from ollama_kit.documents.reading import (
        DocumentFile as DocumentFile,
        DocumentReader as DocumentReader,
        Sure as Sure,
        read_document as read_document,
    )
else:
    __getattr__, __dir__ = exports(__name__)
