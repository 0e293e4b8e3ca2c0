"""What a PDF holds apart from its pages' text: comments, filled-in fields, properties, attachments, scripts."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, NamedTuple

from ollama_kit.documents.document import HiddenText, Note
from ollama_kit.documents.pdf.pdfium import raw

PROPERTIES = ("Title", "Author", "Subject", "Keywords", "Creator", "Producer")
MOST_ANNOTATIONS = 5_000
LONGEST_CHARS = 20_000


class Marks(NamedTuple):
    """Comments of a page; `drawn` says that some have their own appearance (fields, typed text, stamps)."""

    comments: tuple[Note, ...]
    drawn: bool


def marks_on(page: Any, number: int) -> Marks:
    """What was put on page `number`."""
    api = raw()
    comments, drawn = [], False
    for index in range(min(api.FPDFPage_GetAnnotCount(page), MOST_ANNOTATIONS)):
        annotation = api.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            kind = api.FPDFAnnot_GetSubtype(annotation)
            drawn |= kind in (api.FPDF_ANNOT_WIDGET, api.FPDF_ANNOT_FREETEXT, api.FPDF_ANNOT_STAMP)
            text = _value(annotation, b"Contents").strip()
            if text and kind not in (api.FPDF_ANNOT_WIDGET, api.FPDF_ANNOT_FREETEXT, api.FPDF_ANNOT_LINK):
                comments.append(Note("comment", text, number, author=_value(annotation, b"T")))
        finally:
            api.FPDFPage_CloseAnnot(annotation)
    return Marks(tuple(comments), drawn)


def document_properties(document: Any) -> Iterator[HiddenText]:
    """The document's properties, each as hidden text: the guard's rules say later which of them give orders."""
    for key in PROPERTIES:
        value = document.get_metadata_value(key).strip()
        if value:
            yield HiddenText("metadata", value[:LONGEST_CHARS], detail=key)


def unread_parts(document: Any) -> Iterator[str]:
    """What is in the file and was not read."""
    api = raw()
    if count := api.FPDFDoc_GetAttachmentCount(document.raw):
        yield f"{count} attached file(s) were not read"
    if api.FPDF_GetFormType(document.raw) in (api.FORMTYPE_XFA_FULL, api.FORMTYPE_XFA_FOREGROUND):
        yield "an XFA form: what is filled in there may be missing; print it to a new PDF to have it read"


def _value(annotation: Any, key: bytes) -> str:
    api = raw()
    size = api.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    if size <= 2:
        return ""
    size = min(size, 2 * LONGEST_CHARS)
    buffer = ctypes.create_string_buffer(size)
    api.FPDFAnnot_GetStringValue(annotation, key, ctypes.cast(buffer, ctypes.POINTER(api.FPDF_WCHAR)), size)
    return buffer.raw.decode("utf-16-le", "replace").split("\0", 1)[0]
