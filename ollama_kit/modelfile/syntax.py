"""A Modelfile as a value: commands with the comments and blank lines before each; and which characters survive.

Grammar as in ollama parser/parser.go (0.1.39 to 0.33). A command is a word, one blank, and a value: bare to the end of
the line, or between one or three double quotes on each side, which may span lines. PARAMETER and MESSAGE have a name
or a role before the value.

The parser keeps a character only if Go's `strconv.IsPrint` says so: letters, marks, numbers, punctuation, symbols and
the ASCII space; inside a value also tab, LF and CR. The others it drops without a word, and they are common in Chinese
and in chats: U+3000, the no-break space, the joiners inside emoji. The HTTP API drops nothing.

Python's `str.isprintable` is the same rule over the Unicode version of the running Python. Go 1.21 to 1.25, with which
Ollama was built for years, have Unicode 15.0, so that is what this module answers for on every Python: what 15.0 added
to the 13.0 of Python 3.10 is listed here. A character that no table knows is reported as uncertain: a later Ollama may
keep it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Literal

from ollama_kit.modelfile.versions import ServerVersion

Quoting = Literal["bare", "double", "triple"]

COMMANDS = MappingProxyType(
    {
        "from": None,
        "parameter": None,
        "template": None,
        "system": None,
        "adapter": None,
        "license": None,
        "message": None,
        "renderer": ServerVersion(0, 12, 0),
        "parser": ServerVersion(0, 12, 0),
        "requires": ServerVersion(0, 14, 0),
        "draft": ServerVersion(0, 23, 1),
    }
)
"""Each command, and the first Ollama that knows it (None: any that matters)."""

TEXT_COMMANDS = frozenset({"system", "template", "license", "message"})
"""Commands whose value is prose: every character of it counts."""

ROLES = ("system", "user", "assistant")

DOCKER_COMMANDS = frozenset(
    {"run", "copy", "add", "env", "cmd", "entrypoint", "expose", "workdir"}
    | {"arg", "label", "user", "volume", "healthcheck", "onbuild", "shell", "stopsignal"}
)
"""What people who know Dockerfiles try in a Modelfile."""

RESERVED_NAMES = frozenset({"model", *COMMANDS} - {"from", "parameter"})
"""Words that Ollama takes for the command itself where they are the name of a PARAMETER: it keeps commands and
parameters in one name space (`PARAMETER system hi` sets SYSTEM, `PARAMETER model y` sets FROM)."""


@dataclass(frozen=True)
class Command:
    """One command. `name` is lower case; `args` the text inside the quotes, nothing dropped from it.

    `parameter` is the name after PARAMETER, `role` the word after MESSAGE, else None. `before` holds the lines above:
    comments with their `#`, and "" for each blank line. Line and quoting do not count when two commands are compared.
    """

    name: str
    args: str
    parameter: str | None = None
    role: str | None = None
    before: tuple[str, ...] = ()
    line: int = field(default=0, compare=False)
    quoting: Quoting = field(default="triple", compare=False)


@dataclass(frozen=True)
class Modelfile:
    """The commands of one file in order, and the comment and blank lines after the last of them.

    `encoding` ("utf-8", "utf-8-sig", "utf-16-le", "utf-16-be") and `has_crlf` say how the file was stored; like `path`
    they do not count for equality.
    """

    commands: tuple[Command, ...]
    after: tuple[str, ...] = ()
    path: str = field(default="", compare=False)
    encoding: str = field(default="utf-8", compare=False)
    has_crlf: bool = field(default=False, compare=False)

    def named(self, name: str) -> Iterator[Command]:
        """The commands of that name ("from", "system", …), in order."""
        return (command for command in self.commands if command.name == name)


# Printable in Unicode 15.0 and unassigned in 13.0 (from unicodedata of Python 3.12 and 3.10).
_ADDED_BY_15 = """
    61D 870-88E 898-89F 8B5 8C8-8D2 C3C C5D CDD CF3 ECE 170D 1715 171F 180F 1AC1-1ACE 1B4C 1B7D-1B7E
    1DFA 20C0 2C2F 2C5F 2E53-2E5D 9FFD-9FFF A7C0-A7C1 A7D0-A7D1 A7D3 A7D5-A7D9 A7F2-A7F4 FBC2
    FD40-FD4F FDCF FDFE-FDFF 10570-1057A 1057C-1058A 1058C-10592 10594-10595 10597-105A1 105A3-105B1
    105B3-105B9 105BB-105BC 10780-10785 10787-107B0 107B2-107BA 10EFD-10EFF 10F70-10F89 11070-11075
    110C2 1123F-11241 116B9 11740-11746 11AB0-11ABF 11B00-11B09 11F00-11F10 11F12-11F3A 11F3E-11F59
    12F90-12FF2 1342F 13440-13455 16A70-16ABE 16AC0-16AC9 1AFF0-1AFF3 1AFF5-1AFFB 1AFFD-1AFFE
    1B11F-1B122 1B132 1B155 1CF00-1CF2D 1CF30-1CF46 1CF50-1CFC3 1D1E9-1D1EA 1D2C0-1D2D3 1DF00-1DF1E
    1DF25-1DF2A 1E030-1E06D 1E08F 1E290-1E2AE 1E4D0-1E4F9 1E7E0-1E7E6 1E7E8-1E7EB 1E7ED-1E7EE
    1E7F0-1E7FE 1F6DC-1F6DF 1F774-1F776 1F77B-1F77F 1F7D9 1F7F0 1F979 1F9CC 1FA75-1FA77 1FA7B-1FA7C
    1FA87-1FA88 1FAA9-1FAAF 1FAB7-1FABD 1FABF 1FAC3-1FAC5 1FACE-1FACF 1FAD7-1FADB 1FAE0-1FAE8
    1FAF0-1FAF8 2A6DE-2A6DF 2B735-2B739 31350-323AF
"""
# Assigned by 15.1, which Go does not have: Python 3.13 calls them printable.
_ADDED_BY_15_1 = "2FFC-2FFF 31EF 2EBF0-2EE5D"
_KEPT_IN_VALUES = "\n\r\t"


@dataclass(frozen=True)
class LostCharacter:
    """One character that Ollama drops: line and column count from 1, as an editor shows them.

    `certain` is False where only the Unicode version of the server decides.
    """

    line: int
    column: int
    character: str
    certain: bool

    @property
    def name(self) -> str:
        """`U+3000 IDEOGRAPHIC SPACE`; without a name for controls and unassigned ones."""
        return character_name(self.character)


def character_name(character: str) -> str:
    """The code point and its Unicode name.

    >>> character_name("\\u3000")
    'U+3000 IDEOGRAPHIC SPACE'
    """
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()


def is_kept(character: str) -> bool:
    """Whether Ollama's parser keeps this character inside a value.

    >>> [is_kept(c) for c in ("你", " ", "\\t", "\\u3000", "\\u200d")]
    [True, True, True, False, False]
    """
    if character in _KEPT_IN_VALUES:
        return True
    if character.isprintable():
        return ord(character) not in _points(_ADDED_BY_15_1)
    return ord(character) in _points(_ADDED_BY_15)


def dropped_set(text: str) -> frozenset[str]:
    """The distinct characters of the text that Ollama drops."""
    if text.isprintable() and text.isascii():
        return frozenset()
    return frozenset(character for character in set(text) if not is_kept(character))


def kept(text: str) -> str:
    """The text as Ollama reads it from a Modelfile.

    >>> kept("你好\\u3000世界")
    '你好世界'
    """
    dropped = dropped_set(text)
    return text.translate(dict.fromkeys(map(ord, dropped))) if dropped else text


def lost_characters(text: str) -> tuple[LostCharacter, ...]:
    """Every character of the text that Ollama would drop, in order; a BOM at the very start is not one.

    >>> [(lost.line, lost.column, lost.name) for lost in lost_characters("a\\nb\\u200bc")]
    [(2, 2, 'U+200B ZERO WIDTH SPACE')]
    """
    dropped = dropped_set(text.removeprefix("\ufeff"))
    if not dropped:
        return ()
    found: list[LostCharacter] = []
    unified = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(unified.split("\n"), start=1):
        if dropped.isdisjoint(line):
            continue
        found += (
            LostCharacter(number, column, character, _is_certain(character))
            for column, character in enumerate(line, start=1)
            if character in dropped
        )
    return tuple(found)


def _is_certain(character: str) -> bool:
    code = ord(character)
    noncharacter = code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF
    return noncharacter or (unicodedata.category(character) != "Cn" and not character.isprintable())


@cache
def _points(table: str) -> frozenset[int]:
    bounds = (entry.partition("-") for entry in table.split())
    return frozenset(point for first, _, last in bounds for point in range(int(first, 16), int(last or first, 16) + 1))
