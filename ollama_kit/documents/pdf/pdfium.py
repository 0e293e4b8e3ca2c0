"""pdfium: opens a PDF whole, unlocked and within the limits, and calls the C interface.

pdfium is not safe in two threads, so one lock is held while a document is open. Its functions that are called for every
object and letter take plain integers for handles here: pypdfium2 declares handles as pointers to structures, of which
each call then makes a Python object, three times as slow. pypdfium2's own declarations are left as they are.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from ollama_kit.documents.document import DocumentLimits
from ollama_kit.errors import DocumentError

_PDFIUM = threading.Lock()
TAIL_BYTES = 8_192
"""A PDF ends with %%EOF; some programs append a few bytes, none so many."""

LOCKED_HINT = (
    "Give the password: --password-file FILE, or type it when asked (from Python: password=).",
    "请提供密码：--password-file 文件，或在提示时输入（Python 中用 password=）。",
)
BROKEN_HINT = (
    "Obtain the file again, or repair it, for instance with `qpdf in.pdf out.pdf`.",
    "请重新获取该文件，或先修复，例如 `qpdf in.pdf out.pdf`。",
)


@contextmanager
def opened(path: Path, password: str | None, limits: DocumentLimits) -> Iterator[Any]:
    """The open document (pypdfium2's PdfDocument), for this thread alone until it is closed. One that opens without a
    password opens with any: a batch has a password for some of its files.

    DocumentError where it is truncated, broken, locked, or has too many pages."""
    pdfium = loaded()
    _check_end(path)
    with _PDFIUM:
        try:
            document = _loaded_document(pdfium, path, password)
        except pdfium.PdfiumError as problem:
            raise _refusal(problem, path, password) from problem
        try:
            count = len(document)
            if count > limits.pages:
                raise DocumentError(f"{count:,} pages; the limit is {limits.pages:,}", path=path, hint=SPLIT_HINT)
            yield document
        finally:
            document.close()


def _loaded_document(pdfium: Any, path: Path, password: str | None) -> Any:
    try:
        return pdfium.PdfDocument(path, password=password)
    except pdfium.PdfiumError:
        if password is None:
            raise
        try:
            return pdfium.PdfDocument(path)
        except pdfium.PdfiumError:
            pass  # the first error says more
        raise


SPLIT_HINT = (
    "Split the document, or raise the limit.",
    "请拆分文档，或提高上限。",
)


def loaded() -> Any:
    """The module pypdfium2. DocumentError where it is not installed."""
    try:
        import pypdfium2
    except ImportError as problem:
        raise DocumentError(
            "reading PDF needs the package pypdfium2",
            hint=(
                "Install it with `pip install 'ollama-kit[contract]'`.",
                "请运行 `pip install 'ollama-kit[contract]'` 安装。",
            ),
        ) from problem
    return pypdfium2


def raw() -> Any:
    """pdfium's C interface."""
    import pypdfium2.raw

    return pypdfium2.raw


def pages_of(document: Any, path: Path, numbers: Sequence[int] = ()) -> Generator[tuple[Any, Any, int], None, None]:
    """Each page with its text page and its number from 1; all of them, or those of the numbers.

    A page stays open until the next one is: pdfium forgets a font with the last page that uses it, and to load a
    Chinese one takes longer than to read a page. DocumentError, with the page, where pdfium cannot read one."""
    api = raw()
    before = None
    try:
        for number in numbers or range(1, len(document) + 1):
            page = api.FPDF_LoadPage(document.raw, number - 1)
            if before:
                api.FPDF_ClosePage(before)
            before = page
            text_page = api.FPDFText_LoadPage(page) if page else None
            if not text_page:
                raise DocumentError("the page is broken", path=path, page=number, hint=BROKEN_HINT)
            try:
                yield page, text_page, number
            finally:
                api.FPDFText_ClosePage(text_page)
    finally:
        if before:
            api.FPDF_ClosePage(before)


def _check_end(path: Path) -> None:
    """Raises DocumentError where the file has no end: pdfium would repair it, and silently lose what is missing."""
    with path.open("rb") as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - TAIL_BYTES))
        if b"%%EOF" not in stream.read():
            raise DocumentError("the PDF is truncated: its end is missing", path=path, hint=BROKEN_HINT)


def _refusal(problem: Any, path: Path, password: str | None) -> DocumentError:
    api = raw()
    code = getattr(problem, "err_code", None)
    if code == api.FPDF_ERR_PASSWORD:
        said = "the PDF is encrypted and needs a password" if password is None else "the password does not open the PDF"
        return DocumentError(said, path=path, locked=True, hint=LOCKED_HINT)
    if code == api.FPDF_ERR_SECURITY:
        return DocumentError("the PDF is encrypted in a way that cannot be opened here", path=path, hint=LOCKED_HINT)
    return DocumentError(f"not a readable PDF ({problem})", path=path, hint=BROKEN_HINT)


_HANDLE, _INT, _REF = ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p


class PdfiumCalls:
    """The functions, named as pdfium's without their prefix, and the buffer that they write into."""

    def __init__(self) -> None:
        api = raw()
        self.page_object = _declared(api.FPDFPage_GetObject, _HANDLE, _HANDLE, _INT)
        self.form_object = _declared(api.FPDFFormObj_GetObject, _HANDLE, _HANDLE, ctypes.c_ulong)
        self.object_type = _declared(api.FPDFPageObj_GetType, _INT, _HANDLE)
        self.render_mode = _declared(api.FPDFTextObj_GetTextRenderMode, _INT, _HANDLE)
        self.text_object = _declared(api.FPDFText_GetTextObject, _HANDLE, _HANDLE, _INT)
        self.loose_box = _declared(api.FPDFText_GetLooseCharBox, _INT, _HANDLE, _INT, _REF)
        self.char_angle = _declared(api.FPDFText_GetCharAngle, ctypes.c_float, _HANDLE, _INT)
        self.unmapped = _declared(api.FPDFText_HasUnicodeMapError, _INT, _HANDLE, _INT)
        self._fill = _declared(api.FPDFPageObj_GetFillColor, _INT, _HANDLE, _REF, _REF, _REF, _REF)
        self._rgba = (ctypes.c_uint * 4)()
        start, size = ctypes.addressof(self._rgba), ctypes.sizeof(ctypes.c_uint)
        self._at = tuple(start + size * index for index in range(4))

    def fill(self, handle: int) -> list[int] | None:
        """Red, green, blue and alpha (0 to 255) of an object's fill; None where it is a pattern."""
        return self._rgba[:] if self._fill(handle, *self._at) else None


def address(handle: Any) -> int:
    """The integer of one of pypdfium2's handles."""
    return ctypes.cast(handle, ctypes.c_void_p).value or 0


@cache
def calls() -> PdfiumCalls:
    """The functions; pdfium is used by one thread at a time (see `opened`), so one buffer for answers is enough."""
    return PdfiumCalls()


def _declared(function: Any, result: Any, *arguments: Any) -> Any:
    ours = type(function)(ctypes.cast(function, ctypes.c_void_p).value)
    ours.restype, ours.argtypes = result, list(arguments)
    return ours
