"""What steers a terminal, written out: escapes, other controls, and marks that turn the direction of writing.

A model, a file or a file name says what it likes. On a terminal `\\x1b]52;c;…` sets the clipboard, U+202E makes
`gpj.exe` of `exe.jpg`, a lone carriage return writes over what stands before it.
"""

from __future__ import annotations

import re

_STEERING = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
_IN_TEXT = re.compile(f"[{_STEERING}]")
_IN_A_LINE = re.compile(f"[{_STEERING}\t\n]")


def visible(text: str) -> str:
    """A text with everything in it that would steer a terminal as an escape; line ends and tabs stay.

    >>> visible("a\\x1b[2Jb\\r\\nc\\u202e")
    'a\\\\x1b[2Jb\\nc\\\\u202e'
    """
    return _IN_TEXT.sub(_escaped, text.replace("\r\n", "\n"))


def visible_line(text: str) -> str:
    """The same for what has to stay on one line, such as a cell of a table: line ends and tabs are escaped too."""
    return _IN_A_LINE.sub(_escaped, text)


def visible_json(text: str) -> str:
    """JSON with what would steer a terminal as JSON's own escapes: it reads as the same value."""
    return _IN_TEXT.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _escaped(found: re.Match[str]) -> str:
    named = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(found[0])
    code = ord(found[0])
    return named or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
