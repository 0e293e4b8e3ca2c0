"""Template text → tokens, by the rules of Go's text/template/parse/lex.go (Go 1.24 to 1.27)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from ollama_kit.tokens.chat_template.template_errors import TemplateError

Kind: TypeAlias = Literal[
    "text", "open", "close", "space", "assign", "declare", "pipe", "(", ")", "string", "raw", "char",
    "number", "variable", "field", "dot", "word", "other", "eof",
]  # fmt: skip

SPACE = " \t\r\n"
_DIGITS = {"x": "0123456789abcdefABCDEF_", "o": "01234567_", "b": "01_"}


@dataclass(frozen=True)
class Token:
    kind: Kind
    value: str
    line: int


def tokens(source: str) -> Iterator[Token]:
    """The tokens of a template, last of them `eof`. White space next to `{{-` and `-}}` is gone already.

    TemplateError with its line where Go's lexer would stop.
    """
    position, line = 0, 1
    while True:
        start = source.find("{{", position)
        if start < 0:
            break
        text, left_trim = source[position:start], _is_trim(source, start + 2, marker_first=True)
        shown = text.rstrip(SPACE) if left_trim else text
        if shown:
            yield Token("text", shown, line)
        line += text.count("\n")
        inside = start + 2 + (2 if left_trim else 0)
        # The comment may start right after the marker's one blank, as in Go: `{{- /* … */ -}}`.
        if source.startswith("/*", inside):
            end = _comment_end(source, inside, line)
        else:
            yield Token("open", "{{", line)
            line += source.count("\n", start, inside)
            lexer = _Action(source, inside, line)
            yield from lexer.tokens()
            end, start, line = lexer.position, lexer.position, lexer.line
        position = _skip_close(source, end)
        line += source.count("\n", start, position)
    if position < len(source):
        yield Token("text", source[position:], line)
    yield Token("eof", "", line)


def _is_trim(source: str, at: int, *, marker_first: bool) -> bool:
    """Whether a `-` and its blank stand at `at`, in this order or the other."""
    marker, blank = (at, at + 1) if marker_first else (at + 1, at)
    return at + 1 < len(source) and source[marker] == "-" and source[blank] in SPACE


def _at_close(source: str, at: int) -> bool:
    return source.startswith("}}", at) or (_is_trim(source, at, marker_first=False) and source.startswith("}}", at + 2))


def _skip_close(source: str, at: int) -> int:
    """The position after a closing delimiter, and after the blanks that a `-}}` takes with it."""
    if source.startswith("}}", at):
        return at + 2
    at += 4
    while at < len(source) and source[at] in SPACE:
        at += 1
    return at


def _comment_end(source: str, at: int, line: int) -> int:
    end = source.find("*/", at + 2)
    if end < 0:
        raise TemplateError("unclosed comment", line=line)
    if not _at_close(source, end + 2):
        raise TemplateError("comment ends before closing delimiter", line=line)
    return end + 2


class _Action:
    """Scans the inside of one `{{ … }}`; `position` and `line` end up at its closing delimiter."""

    def __init__(self, source: str, position: int, line: int) -> None:
        self.source, self.position, self.line, self.depth = source, position, line, 0

    def tokens(self) -> Iterator[Token]:
        while not _at_close(self.source, self.position):
            yield self._next()
        if self.depth:
            raise self._error("unclosed left paren")
        yield Token("close", "}}", self.line)

    def _next(self) -> Token:
        start, char = self.position, self._peek()
        if not char:
            raise self._error("unclosed action")
        if char in SPACE:
            return self._space()
        if char == '"' or char == "'":
            return self._quoted(char)
        if char == "`":
            end = self.source.find("`", start + 1)
            if end < 0:
                raise self._error("unterminated raw quoted string")
            return self._token("raw", end + 1)
        if char == "$":
            return self._name("variable")
        if char == "." and not ("0" <= self._peek(1) <= "9"):
            return self._name("field")
        if char in ".+-" or "0" <= char <= "9":
            return self._number()
        if _is_alphanumeric(char):
            return self._name("word")
        return self._punctuation(char)

    def _punctuation(self, char: str) -> Token:
        start = self.position
        if char == ":":
            if self._peek(1) != "=":
                raise self._error("expected :=")
            return self._token("declare", start + 2)
        if char == "(":
            self.depth += 1
            return self._token("(", start + 1)
        if char == ")":
            self.depth -= 1
            if self.depth < 0:
                raise self._error("unexpected right paren")
            return self._token(")", start + 1)
        if char in "=|":
            return self._token("assign" if char == "=" else "pipe", start + 1)
        if char < "\x7f" and char.isprintable():
            return self._token("other", start + 1)
        raise self._error(f"unrecognized character in action: U+{ord(char):04X}")

    def _space(self) -> Token:
        end = self.position
        while end < len(self.source) and self.source[end] in SPACE:
            end += 1
        if end - 1 > self.position and _at_close(self.source, end - 1):
            end -= 1
        return self._token("space", end)

    def _quoted(self, quote: str) -> Token:
        end = self.position + 1
        while True:
            char = self.source[end : end + 1]
            if char == "\\" and self.source[end + 1 : end + 2] not in ("", "\n"):
                end += 2
            elif char in ("", "\n", "\\"):
                raise self._error("unterminated quoted string" if quote == '"' else "unterminated character constant")
            elif char == quote:
                return self._token("string" if quote == '"' else "char", end + 1)
            else:
                end += 1

    def _name(self, kind: Kind) -> Token:
        end = self.position + (kind != "word")
        while end < len(self.source) and _is_alphanumeric(self.source[end]):
            end += 1
        if not self._at_terminator(end):
            raise self._error(f"bad character U+{ord(self.source[end]):04X}")
        if kind == "field" and end == self.position + 1:
            kind = "dot"
        return self._token(kind, end)

    def _number(self) -> Token:
        end, digits = self.position, "0123456789_"
        end += self.source[end : end + 1] in ("+", "-")
        if self.source[end : end + 1] == "0":
            end += 1
            base = self.source[end : end + 1].lower()
            if base in _DIGITS:
                end, digits = end + 1, _DIGITS[base]
        end = self._run(end, digits)
        if self.source[end : end + 1] == ".":
            end = self._run(end + 1, digits)
        exponent = {11: "eE", 23: "pP"}.get(len(digits), "")
        if exponent and self.source[end : end + 1] and self.source[end : end + 1] in exponent:
            end += 1
            end += self.source[end : end + 1] in ("+", "-")
            end = self._run(end, "0123456789_")
        end += self.source[end : end + 1] == "i"
        following = self.source[end : end + 1]
        if following and (_is_alphanumeric(following) or following in "+-"):
            raise self._error(f"bad number syntax: {self.source[self.position : end + 1]!r}")
        return self._token("number", end)

    def _run(self, at: int, allowed: str) -> int:
        while at < len(self.source) and self.source[at] in allowed:
            at += 1
        return at

    def _at_terminator(self, at: int) -> bool:
        char = self.source[at : at + 1]
        return not char or char in SPACE or char in ".,|:()" or self.source.startswith("}}", at)

    def _peek(self, ahead: int = 0) -> str:
        return self.source[self.position + ahead : self.position + ahead + 1]

    def _token(self, kind: Kind, end: int) -> Token:
        value = self.source[self.position : end]
        token = Token(kind, value, self.line)
        self.position, self.line = end, self.line + value.count("\n")
        return token

    def _error(self, message: str) -> TemplateError:
        return TemplateError(message, line=self.line)


def _is_alphanumeric(char: str) -> bool:
    return char == "_" or char.isalpha() or char.isdecimal()
