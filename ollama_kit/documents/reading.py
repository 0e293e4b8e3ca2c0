"""Reads a document of any kind that people sign: its kind is found by its content, and only then by its name."""

from __future__ import annotations

from pathlib import Path

from ollama_kit.documents.document import DocumentKind, DocumentLimits, ReadDocument
from ollama_kit.documents.draft import Draft, assemble
from ollama_kit.errors import DocumentError

_HEAD_BYTES = 4_096
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PICTURES = (b"\xff\xd8\xff", b"\x89PNG", b"GIF8", b"II*\0", b"MM\0*", b"BM")
_MARKDOWN = frozenset({".md", ".markdown", ".mdown"})
_PAGES = frozenset({".html", ".htm", ".xhtml"})

_SAVE_HINT = (
    "Open it in Word, WPS or LibreOffice and save it as .docx (without a password) or as PDF.",
    "请用 Word、WPS 或 LibreOffice 打开，另存为 .docx（不设密码）或 PDF。",
)
_PICTURE_HINT = (
    "Have its text recognized first, for instance with `ocrmypdf --image-dpi 300 -l chi_sim+eng in.png out.pdf`.",
    "请先做文字识别（OCR），例如 `ocrmypdf --image-dpi 300 -l chi_sim+eng in.png out.pdf`。",
)
_SIZE_HINT = ("Split the document, or raise the limit.", "请拆分文档，或提高上限。")


def read_document(
    path: Path | str, *, password: str | None = None, limits: DocumentLimits | None = None
) -> ReadDocument:
    """The document at `path`: its text, and page and paragraph of every character (see ReadDocument).

    `password` opens an encrypted PDF. DocumentError, with the file and where it can be the page, for one that is
    missing, broken, truncated, locked, a scan or garbled, of no kind known, or larger than the `limits`."""
    path = Path(path)
    limits = limits or DocumentLimits()
    try:
        size = path.stat().st_size
        if size > limits.file_bytes:
            raise DocumentError(
                f"{size / 1e6:,.0f} MB; the limit is {limits.file_bytes / 1e6:,.0f} MB", path=path, hint=_SIZE_HINT
            )
        kind = kind_of(path)
        draft, pages = _read(path, kind, password, limits)
    except OSError as problem:
        raise DocumentError(f"cannot be read: {problem.strerror or problem}", path=path) from problem
    if not draft.pieces:
        raise DocumentError("the document has no text", path=path)
    return assemble(draft, path.name, kind, range(1, pages + 1))


def kind_of(path: Path) -> DocumentKind:
    """What the file is, by its first bytes; for text, by the name's ending. DocumentError for other kinds."""
    with path.open("rb") as stream:
        head = stream.read(_HEAD_BYTES)
    if not head:
        raise DocumentError("the file is empty", path=path)
    if b"%PDF-" in head[:1024]:
        return "pdf"
    if head.startswith(b"PK\x03\x04"):
        return "docx"
    if head.startswith(_OLE):
        raise DocumentError("an old Word file (.doc), or a Word file with a password", path=path, hint=_SAVE_HINT)
    if head.startswith((b"{\\rtf", b"%!PS")):
        raise DocumentError("RTF and PostScript are not supported", path=path, hint=_SAVE_HINT)
    if head.startswith(_PICTURES):
        raise DocumentError("a picture, not a document", path=path, hint=_PICTURE_HINT)
    suffix = path.suffix.lower()
    if suffix == ".pdf":
        raise DocumentError("not a PDF: its first bytes are not %PDF", path=path, hint=_SAVE_HINT)
    if suffix in _PAGES or head.lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower().startswith((b"<!doctype html", b"<html")):
        return "html"
    return "md" if suffix in _MARKDOWN else "txt"


def _read(path: Path, kind: DocumentKind, password: str | None, limits: DocumentLimits) -> tuple[Draft, int]:
    """The draft and the number of pages. The readers' modules are loaded only for their kind."""
    if kind == "pdf":
        from ollama_kit.documents.pdf.pdf_text import read_pdf

        return read_pdf(path, password, limits)
    if kind == "docx":
        from ollama_kit.documents.docx.docx_text import read_docx

        return read_docx(path, limits)
    text = _decoded(path)
    if kind == "html":
        from ollama_kit.documents.html_text import read_html

        return read_html(text, path, limits), 0
    from ollama_kit.documents.plain_text import read_plain

    return read_plain(text, markdown=kind == "md")


def _decoded(path: Path) -> str:
    from ollama_kit.text.encodings import decode

    try:
        text, _ = decode(path.read_bytes())
    except UnicodeDecodeError as problem:
        raise DocumentError("neither PDF, DOCX nor text in UTF-8, UTF-16 or GB18030", path=path) from problem
    if "\0" in text[:_HEAD_BYTES]:
        raise DocumentError("a binary file of an unsupported kind", path=path, hint=_SAVE_HINT)
    return text
