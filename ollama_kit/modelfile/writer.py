"""Writes a Modelfile so that Ollama's parser, and ours, read back exactly what it says.

Prose is always between three quotes. Measured on 0.9.3: that form keeps blanks, quotes and line ends at both ends
of a text, and CR inside it. It cannot express three quotes followed by the end of a line, because there the value would
end, nor the characters that the parser drops (see `syntax`).
"""

from __future__ import annotations

import re

from ollama_kit.errors import Hint, ModelfileError
from ollama_kit.modelfile.syntax import (
    COMMANDS,
    RESERVED_NAMES,
    ROLES,
    TEXT_COMMANDS,
    Command,
    Modelfile,
    lost_characters,
)

_ENDS_EARLY = re.compile(r'"""[ \t]*[\r\n]')
_PARAMETER_NAME = re.compile(r"[A-Za-z0-9_]+")
_LINE_ENDS = ("\n", "\r")
_QUOTES = '"""'
_API_HINT = (
    "`ollama-kit build` sends such text through the API, which carries everything; only a Modelfile cannot.",
    "`ollama-kit build` 通过 API 发送这类文本，可以完整保留；只有 Modelfile 无法表示。",
)


def write_modelfile(modelfile: Modelfile) -> str:
    """The text of a Modelfile, with its comments and a last newline; `read_modelfile` gives an equal value back.

    ModelfileError for what the grammar cannot carry; it names the command, and its line if it was read from a file.

    >>> write_modelfile(Modelfile((Command("from", "qwen3:4b"), Command("parameter", "0.7", "temperature"))))
    'FROM qwen3:4b\\nPARAMETER temperature 0.7\\n'
    """
    if not any(modelfile.named("from")):
        raise ModelfileError("no FROM line", path=modelfile.path)
    lines: list[str] = []
    for command in modelfile.commands:
        lines += (_comment(line, modelfile) for line in command.before)
        try:
            lines.append(command_text(command))
        except ModelfileError as error:
            raise ModelfileError(error.problem, path=modelfile.path, line=command.line, hint=error.hint) from error
    lines += (_comment(line, modelfile) for line in modelfile.after)
    return "\n".join(lines) + "\n"


def command_text(command: Command) -> str:
    """One command as it is written in a Modelfile, without a line end. ModelfileError if that is not possible."""
    name = command.name
    if name not in COMMANDS:
        raise ModelfileError(f"{name!r} is not a command of a Modelfile")
    if (name == "parameter") != (command.parameter is not None) or (name == "message") != (command.role is not None):
        raise ModelfileError("a name belongs to PARAMETER and a role to MESSAGE, and to nothing else")
    parts = [name.upper()]
    if command.parameter is not None:
        check_parameter_name(command.parameter)
        parts.append(command.parameter)
    if command.role is not None:
        if command.role not in ROLES:
            raise ModelfileError(f"the role of a MESSAGE must be one of {', '.join(ROLES)}, not {command.role!r}")
        parts.append(command.role)
    is_prose = name in TEXT_COMMANDS or command.parameter == "stop"
    parts.append((quoted if is_prose else plain)(command.args, " ".join(parts)))
    return " ".join(parts)


def quoted(text: str, what: str = "the text") -> str:
    """The text between three quotes. ModelfileError where Ollama would read something else back; `what` names the text.

    >>> quoted("a 'b'") == 3 * '"' + "a 'b'" + 3 * '"'
    True
    """
    lost = next(iter(lost_characters(text)), None)
    if lost is not None or text.startswith("\ufeff"):
        where = f" (line {lost.line}, column {lost.column} of the text)" if lost else " (its first character)"
        name = lost.name if lost else "U+FEFF ZERO WIDTH NO-BREAK SPACE"
        raise _uncarriable(f"{what} contains {name}{where}, which Ollama drops from a Modelfile", _API_HINT)
    early = _ENDS_EARLY.search(text)
    if early is not None:
        line = text.count("\n", 0, early.start()) + 1
        raise _uncarriable(
            f"{what} has three double quotes at the end of its line {line}, where a value would end", _API_HINT
        )
    return f"{_QUOTES}{text}{_QUOTES}"


def plain(text: str, what: str = "the value") -> str:
    """A name, path or number without quotes where that is safe, else between three quotes. Errors as for `quoted`.

    >>> plain("qwen3:4b"), plain(" x") == quoted(" x")
    ('qwen3:4b', True)
    """
    carried = quoted(text, what)
    is_bare = text and text == text.strip(" \t") and text[0] != '"' and not any(end in text for end in _LINE_ENDS)
    return text if is_bare else carried


def check_parameter_name(name: str) -> None:
    """ModelfileError for a name that Ollama's parser would cut or take for a command."""
    if not _PARAMETER_NAME.fullmatch(name):
        raise ModelfileError(f"{name!r} cannot name a PARAMETER: only letters, digits and _ are read")
    if name in RESERVED_NAMES:
        command = "FROM" if name == "model" else name.upper()
        raise ModelfileError(f"PARAMETER {name} would be read as the command {command}")


def _comment(line: str, modelfile: Modelfile) -> str:
    if (line and not line.startswith("#")) or any(end in line for end in _LINE_ENDS):
        raise ModelfileError(f"not one comment line: {line[:60]!r}", path=modelfile.path)
    return line


def _uncarriable(message: str, hint: Hint) -> ModelfileError:
    return ModelfileError(message, hint=hint)
