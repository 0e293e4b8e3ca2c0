"""The parsed template: one frozen value a node, named as in Go's text/template/parse."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True)
class Dot:
    """`.`: the value the surrounding `range` or `with` stands on."""


@dataclass(frozen=True)
class Nil:
    """`nil`, allowed as an argument only."""


@dataclass(frozen=True)
class Constant:
    """A constant: bool, int, float or str."""

    value: bool | int | float | str


@dataclass(frozen=True)
class Field:
    """`.A.B`: `names` are A and B."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Variable:
    """`$x.A.B`: `name` includes the `$`, `names` are A and B."""

    name: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Function:
    name: str


@dataclass(frozen=True)
class Chain:
    """`(pipeline).A.B` or `function.A`."""

    operand: Operand
    names: tuple[str, ...]


@dataclass(frozen=True)
class Command:
    """One stage of a pipeline: a value or function, and its arguments."""

    operands: tuple[Operand, ...]


@dataclass(frozen=True)
class Pipe:
    """`commands` joined by `|`; `declares` are the variables on the left of `:=` (or of `=`: then `assigns`)."""

    commands: tuple[Command, ...]
    declares: tuple[str, ...] = ()
    assigns: bool = False


Operand: TypeAlias = "Dot | Nil | Constant | Field | Variable | Function | Chain | Pipe"


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Action:
    """A pipeline whose value is printed, unless it declares variables."""

    pipe: Pipe
    line: int


@dataclass(frozen=True)
class Branch:
    """`if`, `with` or `range`. `orelse` is None where there is no `else`."""

    kind: Literal["if", "with", "range"]
    pipe: Pipe
    body: tuple[Node, ...]
    orelse: tuple[Node, ...] | None
    line: int


@dataclass(frozen=True)
class Call:
    """`{{ template "name" pipe }}`; `block` is parsed into a definition and one of these."""

    name: str
    pipe: Pipe | None
    line: int


@dataclass(frozen=True)
class Jump:
    kind: Literal["break", "continue"]
    line: int


Node: TypeAlias = "Text | Action | Branch | Call | Jump"
