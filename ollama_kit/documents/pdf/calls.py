"""pdfium's functions that are called for every object and letter, with plain integers for handles.

pypdfium2 declares handles as pointers to structures, of which each call then makes a Python object: three times as
slow. The functions here are the same ones under declarations of their own; pypdfium2's are left as they are.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from ollama_kit.documents.pdf.opening import raw

_HANDLE, _INT, _REF = ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p


class Calls:
    """The functions, named as pdfium's without their prefix, and the room that they write into."""

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
def calls() -> Calls:
    """The functions; pdfium is used by one thread at a time (see opening.py), so one room for answers is enough."""
    return Calls()


def _declared(function: Any, result: Any, *arguments: Any) -> Any:
    ours = type(function)(ctypes.cast(function, ctypes.c_void_p).value)
    ours.restype, ours.argtypes = result, list(arguments)
    return ours
