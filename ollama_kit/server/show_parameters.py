"""The text in which /api/show prints a model's parameters, read back into values (Ollama server/routes.go, to 0.33)."""

from __future__ import annotations

import re

from ollama_kit.modelfile.parameters import PARAMETERS
from ollama_kit.specs.model import ParameterValue


def read_parameters(text: str) -> dict[str, ParameterValue]:
    """The parameters in /api/show's text form: one `name  value` a line, values printed by Go's %#v.

    A name that is repeated (`stop`) becomes a tuple; `stop` always is one.

    >>> read_parameters('num_ctx    8192\\nstop    "<|im_end|>"')
    {'num_ctx': 8192, 'stop': ('<|im_end|>',)}
    """
    found: dict[str, list[int | float | bool | str]] = {}
    for line in text.split("\n"):
        name, _, value = line.strip().partition(" ")
        if name:
            found.setdefault(name, []).append(_parameter(name, value.strip()))
    return {
        name: tuple(str(value) for value in values) if name == "stop" or len(values) > 1 else values[0]
        for name, values in sorted(found.items())
    }


def go_unquote(text: str) -> str:
    """The string that Go's strconv.Quote printed as `text`; `text` itself if it is not quoted.

    >>> go_unquote(r'"a\\t\\u4e2d\\xff\\""')
    'a\\t中\ufffd"'
    """
    if len(text) < 2 or text[0] != text[-1] or text[0] not in '"`':
        return text
    if text[0] == "`":
        return text[1:-1]
    return _GO_ESCAPES.sub(_unescape, text[1:-1])


# Runs of \xHH are one piece: they are the bytes of a text that is not UTF-8.
_GO_ESCAPES = re.compile(r"(?:\\x[0-9a-fA-F]{2})+|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\[0-7]{3}|\\.")
_GO_SIMPLE = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _unescape(match: re.Match[str]) -> str:
    piece = match[0]
    kind = piece[1]
    if kind == "x":
        return bytes.fromhex(piece.replace("\\x", "")).decode("utf-8", "replace")
    if kind in "uU":
        code = int(piece[2:], 16)
        return chr(code) if code < 0x110000 else "\ufffd"
    if kind.isdigit():
        return chr(int(piece[1:], 8))
    return _GO_SIMPLE.get(kind, kind)


def _parameter(name: str, text: str) -> int | float | bool | str:
    if text[:1] in ('"', "`"):
        return go_unquote(text)
    if text in ("true", "false"):
        return text == "true"
    try:
        value = float(text)
    except ValueError:
        return text
    known = PARAMETERS.get(name)
    if known is not None and known.kind == "float":
        return value
    # Ollama keeps a model's numbers as JSON floats and prints them so: 1.048576e+06 is an integer.
    if re.fullmatch(r"[+-]?\d+", text):
        return int(text)
    return int(value) if known is not None and value.is_integer() else value
