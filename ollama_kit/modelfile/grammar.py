"""A Modelfile as a value: commands in order, with the comments and blank lines before each.

Grammar as in ollama parser/parser.go (0.1.39 to 0.33). A command is a word, one blank, and a value: bare to the end of
the line, or between one or three double quotes on each side, which may span lines. PARAMETER and MESSAGE have a name
or a role before the value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
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
"""Words that Ollama takes for the command itself where they stand as the name of a PARAMETER: it keeps commands and
parameters in one name space (`PARAMETER system hi` sets SYSTEM, `PARAMETER model y` sets FROM)."""


@dataclass(frozen=True)
class Command:
    """One command. `name` is lower case; `args` the text inside the quotes, nothing dropped from it.

    `parameter` is the name after PARAMETER, `role` the word after MESSAGE, else None. `before` holds the lines above:
    comments with their `#`, and "" for each blank line. Where it stood and how it was quoted do not count when two
    commands are compared.
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
