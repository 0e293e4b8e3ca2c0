"""Reads a document of any kind that people sign: its content says what it is, and only then its name.

A kind is a DocumentReader. Those that ship stand below the procedure; `ollama_kit.plugins` gives them their names, and
installed plug-ins add theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path

from ollama_kit import plugins
from ollama_kit.documents.document import DocumentLimits, ReadDocument
from ollama_kit.documents.draft import Draft, assemble
from ollama_kit.errors import DocumentError, PlugInError

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


class Sure(IntEnum):
    """How a reader knows a file for its own, the surest first."""

    CONTENT = 0
    """By bytes that no other kind has."""
    CONTAINER = 1
    """By bytes that it shares with others: a ZIP file can be many things."""
    NAME = 2
    """By the ending of its name, or by words that may be in any text."""
    TEXT = 3
    """It takes any text."""


@dataclass(frozen=True)
class DocumentFile:
    """A file to be read, and how. `head` are its first 4096 bytes."""

    path: Path
    head: bytes
    limits: DocumentLimits
    password: str | None = None

    @property
    def suffix(self) -> str:
        """The ending of its name, in lower case and with the dot."""
        return self.path.suffix.lower()

    def text(self) -> str:
        """All of it, decoded. DocumentError where it is not a text."""
        from ollama_kit.text.encodings import decode

        try:
            text, _ = decode(self.path.read_bytes())
        except UnicodeDecodeError as problem:
            raise DocumentError("neither PDF, DOCX nor text in UTF-8, UTF-16 or GB18030", path=self.path) from problem
        if "\0" in text[:_HEAD_BYTES]:
            raise DocumentError("a binary file of an unsupported kind", path=self.path, hint=_SAVE_HINT)
        return text


@dataclass(frozen=True)
class DocumentReader:
    """One kind of document: what an entry point of `ollama_kit.document_readers` loads to. Its name is that of the kind
    (ReadDocument.kind).

    recognizes  how sure it is that the file is of this kind; None where it is not. The surest of all readers has the
                file; of two alike, what ships
    reads       the draft of its text, and how many pages it has (0: none are known). DocumentError, with the file,
                where it is broken or larger than the limits"""

    recognizes: Callable[[DocumentFile], Sure | None]
    reads: Callable[[DocumentFile], tuple[Draft, int]]


def read_document(
    path: Path | str, *, password: str | None = None, limits: DocumentLimits | None = None
) -> ReadDocument:
    """The document at `path`: its text, and page and paragraph of every character (see ReadDocument).

    `password` opens an encrypted PDF. DocumentError, with the file and where it can be the page, for one that is
    missing, broken, cut short, locked, a scan or garbled, of no known kind, or larger than the `limits`. PlugInError
    where the reader of a plug-in fails."""
    path = Path(path)
    limits = limits or DocumentLimits()
    try:
        size = path.stat().st_size
        if size > limits.file_bytes:
            raise DocumentError(
                f"{size / 1e6:,.0f} MB; the limit is {limits.file_bytes / 1e6:,.0f} MB", path=path, hint=_SIZE_HINT
            )
        with path.open("rb") as stream:
            file = DocumentFile(path, stream.read(_HEAD_BYTES), limits, password)
        plug_in, reader = _reader_of(file)
        with plug_in.blamed():
            draft, pages = reader.reads(file)
    except OSError as problem:
        raise DocumentError(f"cannot be read: {problem.strerror or problem}", path=path) from problem
    if not draft.pieces:
        raise DocumentError("the document has no text", path=path)
    return assemble(draft, path.name, plug_in.name, range(1, pages + 1))


def _reader_of(file: DocumentFile) -> tuple[plugins.PlugIn, DocumentReader]:
    """The surest reader. DocumentError for a file that is of another kind, whatever its name says."""
    if not file.head:
        raise DocumentError("the file is empty", path=file.path)
    sure, plug_in, reader = min(_readers(file), key=lambda one: one[0])
    if sure >= Sure.NAME:
        _refuse_foreign_content(file)
    return plug_in, reader


def _readers(file: DocumentFile) -> Iterator[tuple[Sure, plugins.PlugIn, DocumentReader]]:
    """Those that take the file (TXT takes any). One of a plug-in that fails at the question is named, and is not
    among them."""
    for plug_in, reader in plugins.loaded(plugins.DOCUMENT_READERS, DocumentReader).items():
        try:
            with plug_in.blamed():
                sure = reader.recognizes(file)
        except PlugInError as error:
            plugins.name_on_stderr(error)
            continue
        if sure is not None:
            yield sure, plug_in, reader


def _refuse_foreign_content(file: DocumentFile) -> None:
    """DocumentError, with what to do instead, for what no name makes a text."""
    path, head = file.path, file.head
    if head.startswith(_OLE):
        raise DocumentError("an old Word file (.doc), or a Word file with a password", path=path, hint=_SAVE_HINT)
    if head.startswith((b"{\\rtf", b"%!PS")):
        raise DocumentError("RTF and PostScript are not supported", path=path, hint=_SAVE_HINT)
    if head.startswith(_PICTURES):
        raise DocumentError("a picture, not a document", path=path, hint=_PICTURE_HINT)
    if file.suffix == ".pdf":
        raise DocumentError("not a PDF: its first bytes are not %PDF", path=path, hint=_SAVE_HINT)


# -- the kinds that ship. The module that reads one, and what it needs, is loaded with the first file of that kind.


def _read_pdf(file: DocumentFile) -> tuple[Draft, int]:
    from ollama_kit.documents.pdf.pdf_text import read_pdf

    return read_pdf(file.path, file.password, file.limits)


def _read_docx(file: DocumentFile) -> tuple[Draft, int]:
    from ollama_kit.documents.docx.docx_text import read_docx

    return read_docx(file.path, file.limits)


def _read_html(file: DocumentFile) -> tuple[Draft, int]:
    from ollama_kit.documents.html_text import read_html

    return read_html(file.text(), file.path, file.limits), 0


def _read_markdown(file: DocumentFile) -> tuple[Draft, int]:
    from ollama_kit.documents.plain_text import read_plain

    return read_plain(file.text(), markdown=True)


def _read_text(file: DocumentFile) -> tuple[Draft, int]:
    from ollama_kit.documents.plain_text import read_plain

    return read_plain(file.text())


def _begins_as_page(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower().startswith((b"<!doctype html", b"<html"))


PDF = DocumentReader(lambda file: Sure.CONTENT if b"%PDF-" in file.head[:1024] else None, _read_pdf)
DOCX = DocumentReader(lambda file: Sure.CONTAINER if file.head.startswith(b"PK\x03\x04") else None, _read_docx)
HTML = DocumentReader(
    lambda file: Sure.NAME if file.suffix in _PAGES or _begins_as_page(file.head) else None, _read_html
)
MARKDOWN = DocumentReader(lambda file: Sure.NAME if file.suffix in _MARKDOWN else None, _read_markdown)
TXT = DocumentReader(lambda file: Sure.TEXT, _read_text)
