"""Go's string, character and number literals → Python values (strconv.Unquote, text/template/parse newNumber)."""

from __future__ import annotations

import re

from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset, TemplateError

_ESCAPES = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92}
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_UNDERSCORE = re.compile(r"[+-]?(0[xXoObB]_?)?[0-9a-fA-F]+(_[0-9a-fA-F]+)*")


def unquote(literal: str, line: int) -> str:
    r"""The text of a `"…"` or a `` `…` `` literal.

    >>> unquote(r'"a\tb\u4e2d"', 1)
    'a\tb中'
    """
    if literal.startswith("`"):
        return literal[1:-1].replace("\r", "")
    return _decode(literal[1:-1], '"', line)


def character(literal: str, line: int) -> int:
    """The code point of a `'c'` literal."""
    text = _decode(literal[1:-1], "'", line)
    if len(text) != 1:
        raise TemplateError(f"malformed character constant: {literal}", line=line)
    return ord(text)


def _decode(body: str, quote: str, line: int) -> str:
    if "\\" not in body:
        return body
    raw, position = bytearray(), 0
    while position < len(body):
        if body[position] != "\\":
            raw += body[position].encode("utf-8", "surrogatepass")
            position += 1
            continue
        match = _ESCAPE.match(body, position)
        if match is None:
            raise TemplateError(f"invalid escape in {body!r}", line=line)
        raw += _escaped(match, quote, line)
        position = match.end()
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise TemplateBeyondSubset("a string literal that is not UTF-8", line=line) from error


def _escaped(match: re.Match[str], quote: str, line: int) -> bytes:
    hexadecimal, octal, short, long, single = match.groups()
    if hexadecimal or octal:
        byte = int(hexadecimal, 16) if hexadecimal else int(octal, 8)
        if byte > 255:
            raise TemplateError(f"invalid escape {match.group()}", line=line)
        return bytes([byte])
    if short or long:
        point = int(short or long, 16)
        if point > 0x10FFFF or 0xD800 <= point <= 0xDFFF:
            raise TemplateError(f"invalid escape {match.group()}", line=line)
        return chr(point).encode()
    if single == quote:
        return quote.encode()
    if single not in _ESCAPES:
        raise TemplateError(f"invalid escape {match.group()}", line=line)
    return bytes([_ESCAPES[single]])


def number(literal: str, line: int) -> int | float:
    """The int or float of a number literal; octal with a leading 0, as in Go."""
    if literal.endswith("i") or "p" in literal.lower():
        raise TemplateBeyondSubset(f"a complex or hexadecimal float constant: {literal}", line=line)
    if re.fullmatch(r"[+-]?0[0-7_]+", literal):
        literal = re.sub(r"^([+-]?)0", r"\g<1>0o", literal)
    is_integer = not re.search(r"[.eE]", literal) or "x" in literal.lower()
    try:
        if not is_integer:
            return float(literal)
        if not _UNDERSCORE.fullmatch(literal):
            raise ValueError(literal)
        value = int(literal, 0)
    except ValueError as error:
        raise TemplateError(f"bad number syntax: {literal!r}", line=line) from error
    if not -(2**63) <= value < 2**63:
        raise TemplateError(f"integer overflow: {literal!r}", line=line)
    return value
