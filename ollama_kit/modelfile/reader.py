"""Reads a Modelfile without losing anything of it: text, comments, and the characters that Ollama drops.

`scan` is behind both the reader and the linter: commands and what is wrong, without stopping at the first fault. It
follows the state machine of ollama parser/parser.go (0.1.39 to 0.33) with three differences. Characters that Ollama
drops stay in the text; only around a bare value they are trimmed like blanks, and no quote hides behind them. Lines are
counted as an editor does, CRLF once. After a fault the scan continues at the next line, so that a linter can show more
than one.
"""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from ollama_kit.errors import ModelfileError
from ollama_kit.modelfile.lint_rules import RULES
from ollama_kit.modelfile.syntax import (
    COMMANDS,
    DOCKER_COMMANDS,
    ROLES,
    Command,
    Modelfile,
    Quoting,
    dropped_set,
    kept,
)

LIMIT_BYTES = 4 * 1024 * 1024
"""Larger files are refused unread: the longest prompt a model can hold is far below."""

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LINE_END = re.compile(r"\r\n|\r|\n")
_BLANKS = " \t"
_LEAD = re.compile(r"[ \t]*")
_COMMENT = re.compile(r"#[^\r\n]*")
_WORD = re.compile(r"[^\r\n][A-Za-z]*")
_PARAMETER_NAME = re.compile(r"[A-Za-z0-9_]*")
_ROLE = re.compile(r"[A-Za-z]*")
_MOST_FAULTS = 100  # a file with more is not a Modelfile at all


def read_modelfile(data: bytes | str, path: str = "") -> Modelfile:
    """The Modelfile that the bytes or the text hold. ModelfileError, with the line, for what Ollama refuses to parse.

    Refused here although Ollama takes them: files over 4 MiB, NUL bytes, and bytes that are not text in their encoding
    (Ollama would put U+FFFD, which is how a GBK file becomes garbage). Encodings: UTF-8, and UTF-16 with a BOM.

    >>> [(c.name, c.args) for c in read_modelfile("FROM qwen3:4b\\nSYSTEM hello\\n").commands]
    [('from', 'qwen3:4b'), ('system', 'hello')]
    """
    text, encoding = decode(data, path)
    found = scan(text)
    for fault in found.faults:
        raise ModelfileError(fault.message, path=path, line=fault.line, hint=RULES[fault.rule].fix)
    modelfile = Modelfile(found.commands, found.after, path, encoding, "\r\n" in text)
    if not any(modelfile.named("from")):
        raise ModelfileError("no FROM line", path=path, hint=RULES["no-from"].fix)
    return modelfile


def load_modelfile(path: Path) -> Modelfile:
    """The Modelfile in a file. ModelfileError if it is too large to be one, before it is read."""
    return read_modelfile(load_bytes(path), str(path))


def load_bytes(path: Path) -> bytes:
    """The bytes of a file of at most LIMIT_BYTES, else ModelfileError."""
    try:
        with path.open("rb") as file:
            data = file.read(LIMIT_BYTES + 1)
    except OSError as error:
        raise ModelfileError(f"cannot be read: {error.strerror or error}", path=path) from error
    _check_size(data, str(path))
    return data


def decode(data: bytes | str, path: str = "") -> tuple[str, str]:
    """(text without its BOM, name of the encoding). ModelfileError if it is not text or too large.

    >>> decode("FROM x".encode("utf-16"))[1] in ("utf-16-le", "utf-16-be")
    True
    """
    _check_size(data, path)
    if isinstance(data, str):
        text, encoding = data.removeprefix("\ufeff"), "utf-8-sig" if data.startswith("\ufeff") else "utf-8"
    else:
        text, encoding = _decode_bytes(data, path)
    _check_nul(text, path)
    return text, encoding


_NUL_HINT = (
    "A Modelfile is UTF-8 text. Save UTF-16 without a BOM as UTF-8; name a GGUF in a Modelfile: FROM ./file.gguf",
    "Modelfile 是 UTF-8 文本。若它是没有 BOM 的 UTF-16，请另存为 UTF-8；若是 GGUF，请写 FROM ./file.gguf",
)
_ENCODING_HINT = (
    "Save the file as UTF-8. A Chinese Windows editor may have saved it as GBK.",
    "请将文件另存为 UTF-8；它可能是以 GBK 保存的。",
)
_SIZE_HINT = (
    "If it is a weights file, name it in a Modelfile: FROM ./file.gguf",
    "如果它是权重文件，请在 Modelfile 中写 FROM ./file.gguf",
)


def _decode_bytes(data: bytes, path: str) -> tuple[str, str]:
    if data.startswith(b"GGUF"):
        raise ModelfileError("is a GGUF weights file, not a Modelfile", path=path, line=1, hint=_SIZE_HINT)
    bom, encoding = next(((bom, name) for bom, name in _BOMS if data.startswith(bom)), (b"", "utf-8"))
    codec = "utf-8" if encoding == "utf-8-sig" else encoding
    body = data[len(bom) :]
    try:
        return body.decode(codec), encoding
    except UnicodeDecodeError as error:
        _check_nul(body.decode(codec, "replace"), path)
        line = _line_at(body[: error.start].decode(codec, "replace"))
        problem = f"is not {codec.upper()} text (byte {error.start + len(bom)})"
        raise ModelfileError(problem, path=path, line=line, hint=_ENCODING_HINT) from error


def _check_nul(text: str, path: str) -> None:
    before, nul, _ = text.partition("\0")
    if nul:
        problem = "contains a NUL byte: this is not a text file"
        raise ModelfileError(problem, path=path, line=_line_at(before), hint=_NUL_HINT)


def _check_size(data: bytes | str, path: str) -> None:
    if len(data) > LIMIT_BYTES:
        raise ModelfileError(
            f"is larger than {LIMIT_BYTES // 1024 // 1024} MiB, too large for a Modelfile", path=path, hint=_SIZE_HINT
        )


def _line_at(before: str) -> int:
    """The line number of a text, from what comes before it; a lone CR ends a line too."""
    return before.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1


@dataclass(frozen=True)
class Fault:
    """Something that Ollama's parser refuses. `rule` is the linter's code for it."""

    line: int
    rule: str
    message: str


@dataclass(frozen=True)
class Scan:
    commands: tuple[Command, ...]
    after: tuple[str, ...]
    faults: tuple[Fault, ...]


def scan(text: str) -> Scan:
    """Every command of the text, and every fault; a text without faults is one that Ollama's parser takes
    (but for a missing FROM, which is not looked at here)."""
    scanner = _Scanner(text)
    commands, faults, before = [], [], []
    for item in scanner.items():
        if isinstance(item, str):
            before.append(item)
        elif isinstance(item, Fault):
            faults.append(item)
            before = []
            if len(faults) >= _MOST_FAULTS:
                break
        else:
            commands.append(replace(item, before=tuple(before)))
            before = []
    return Scan(tuple(commands), tuple(before), tuple(faults))


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.line_starts = [0, *(match.end() for match in _LINE_END.finditer(text))]

    def items(self) -> Iterator[str | Command | Fault]:
        """Comment lines as they are, "" for blank lines, commands and faults, in order."""
        while True:
            self._take(_LEAD)
            if self.position >= len(self.text):
                return
            if _LINE_END.match(self.text, self.position):
                self._skip_line()
                yield ""
            elif self.text[self.position] == "#":
                yield self._take(_COMMENT)
                self._skip_line()
            else:
                yield self._command()

    def _command(self) -> Command | Fault:
        line = self._line_of(self.position)
        word = kept(self._take(_WORD))
        name = word.lower()
        if name not in COMMANDS or not self._at_blank_or_line_end():
            is_docker = name in DOCKER_COMMANDS and word.isupper() and self._at_blank_or_line_end()
            rule = "docker-command" if is_docker else "unknown-command"
            return Fault(line, rule, f"{_shown(word + self._skip_line())} is not a Modelfile command")
        if not self._take_blank():
            self._skip_line()
            return Fault(line, "no-value", f"{name.upper()} has no value on its line")
        parameter = role = None
        if name == "parameter":
            parameter = self._take(_PARAMETER_NAME)
            if not self._take_blank():
                rest = self._skip_line()
                return Fault(line, "parameter-name", f"{_shown(parameter + rest)} is not a parameter and a value")
        elif name == "message":
            role = self._take(_ROLE)
            if role not in ROLES or not self._take_blank():
                rest = self._skip_line()
                return Fault(line, "message-role", f"MESSAGE {_shown(role + rest)} has no role and a text")
        value = self._value(line)
        if isinstance(value, Fault):
            return value
        args, quoting = value
        return Command(name, args, parameter, role, line=line, quoting=quoting)

    def _value(self, line: int) -> tuple[str, Quoting] | Fault:
        """The value that starts here; the position moves past the end of its last line."""
        start = self.position
        first = self.text[start : self._line_end(start)]
        seen = kept(first).strip(_BLANKS)
        if not seen.startswith('"'):
            self._skip_line()
            return first.strip(_BLANKS + "".join(dropped_set(first))), "bare"
        marks = 3 if seen.startswith('"""') else 1
        opened = begin = self._past_quotes(start, marks)
        while True:
            end = self._line_end(begin)
            if kept(self.text[begin:end]).rstrip(_BLANKS).endswith('"' * marks):
                closed = self._before_quotes(end, marks)
                self.position = end
                self._skip_line()
                return self.text[opened:closed], "triple" if marks == 3 else "double"
            if end >= len(self.text):
                self.position = end
                return self._unclosed(line, opened, marks)
            match = _LINE_END.match(self.text, end)
            begin = match.end() if match else end

    def _unclosed(self, line: int, opened: int, marks: int) -> Fault:
        quotes = '"' * marks
        closing = self.text.find(quotes, opened)
        if closing >= 0:
            after = self.text[closing + marks : self._line_end(closing)].strip(_BLANKS)
            where = self._line_of(closing)
            return Fault(
                where,
                "text-after-quotes",
                f"text after the closing {quotes} ({_shown(after)}): the value continues from there",
            )
        return Fault(line, "unclosed-quotes", f"the {quotes} opened on this line are never closed")

    def _past_quotes(self, position: int, count: int) -> int:
        for _ in range(count):
            position = self.text.index('"', position) + 1
        return position

    def _before_quotes(self, position: int, count: int) -> int:
        for _ in range(count):
            position = self.text.rindex('"', 0, position)
        return position

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.position)
        if match is None:
            return ""
        self.position = match.end()
        return match[0]

    def _take_blank(self) -> bool:
        if self.text[self.position : self.position + 1] in (" ", "\t"):
            self.position += 1
            return True
        return False

    def _at_blank_or_line_end(self) -> bool:
        return self.text[self.position : self.position + 1] in ("", " ", "\t", "\r", "\n")

    def _line_end(self, position: int) -> int:
        match = _LINE_END.search(self.text, position)
        return match.start() if match else len(self.text)

    def _skip_line(self) -> str:
        """What is left of the line; the position moves past its end."""
        end = self._line_end(self.position)
        rest = self.text[self.position : end]
        match = _LINE_END.match(self.text, end)
        self.position = match.end() if match else end
        return rest

    def _line_of(self, position: int) -> int:
        return bisect_right(self.line_starts, position)


def _shown(text: str) -> str:
    """The beginning of a piece of a user's file, fit for a message: one line, nothing invisible."""
    short = text[:40] + ("…" if len(text) > 40 else "")
    return repr(short) if dropped_set(short) or not short else f"“{short}”"
