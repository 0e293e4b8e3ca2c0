"""The values of a chat template as llama.cpp's own Jinja interpreter has them: texts, numbers, lists, mappings.

What differs from jinja2 (common/jinja of llama.cpp, b10488 to b11549): texts are measured and cut in bytes, nothing
but ASCII has case or is white space, numbers have 64 bits, an undefined value is an empty text where a text is joined.
What cannot be done alike is a TemplateBeyondSubset, never a guess. A template comes from outside: every operation is
paid from a Budget before it is done.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from jinja2 import Undefined

from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset

SPACE = " \t\n\v\f\r"
LOWER = {at: at + 32 for at in range(ord("A"), ord("Z") + 1)}
UPPER = {at: at - 32 for at in range(ord("a"), ord("z") + 1)}
SECONDS = 10.0
"""How long one rendering may take, whatever its steps cost."""


@dataclass
class Budget:
    """What is left of the work a template may cost: steps, characters it makes, and seconds until `deadline`
    (of `time.monotonic`)."""

    steps: int
    characters: int
    deadline: float = field(default_factory=lambda: time.monotonic() + SECONDS)

    def spend(self, characters: int = 0, steps: int = 1) -> None:
        """Pays for what is about to be done; TemplateBeyondSubset, naming what ran out, where that is too much."""
        self.steps -= steps
        self.characters -= characters
        if self.steps < 0:
            raise TemplateBeyondSubset("the template takes too many steps: an endless loop?")
        if self.characters < 0:
            raise TemplateBeyondSubset("the template makes too much text")
        if self.steps % 16 == 0 and time.monotonic() > self.deadline:
            raise TemplateBeyondSubset("the template takes too long")


class Paying(Protocol):
    """A context of rendering: it knows what is left."""

    budget: Budget


def kind_name(value: Any) -> str:
    return repr(value._undefined_name or "an undefined value") if isinstance(value, Undefined) else type(value).__name__


def is_number(value: Any) -> bool:
    return isinstance(value, int | float)


def decoded(data: bytes) -> str:
    """A piece of a text; TemplateBeyondSubset where it was cut inside a character."""
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise TemplateBeyondSubset("the template cuts a text inside a character") from error


def as_text(value: Any) -> str:
    """A value as the engine writes it in an error or a text operation; TypeError where it cannot."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "True" if value else "False"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return number_text(value)
    if value is None:
        return "None"
    raise TypeError(f"{kind_name(value)} is not a text")


def number_text(value: float) -> str:
    if not math.isfinite(value):
        raise TypeError("a number without bounds")
    digits = f"{value:f}".rstrip("0")
    return digits + "0" if digits.endswith(".") else digits


def spelled(budget: Budget, value: Any) -> str:
    """A value inside a text operation (`~`, `|string`): a list in brackets, its texts in quotes."""
    if isinstance(value, list | tuple):
        inner = ", ".join(quoted(budget, item) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quoted(budget, key)}: {quoted(budget, item)}" for key, item in value.items()) + "}"
    text = as_text(value)
    budget.spend(len(text))
    return text


def quoted(budget: Budget, value: Any) -> str:
    budget.spend(8)
    if not isinstance(value, str):
        return spelled(budget, value)
    return to_json(budget, value, JSONForm()) if "'" in value else f"'{value}'"


def printed(context: Paying, value: Any) -> str:
    """What `{{ value }}` writes."""
    if isinstance(value, str):
        context.budget.spend(len(value))
        return value
    context.budget.spend(8)
    if isinstance(value, bool | int | float):
        return as_text(value)
    if isinstance(value, list | tuple):
        return "".join(printed(context, item) for item in value)
    return ""


def binary(budget: Budget, operator: str, left: Any, right: Any) -> Any:
    plain = not isinstance(left, bool) and not isinstance(right, bool)
    if plain and is_number(left) and is_number(right):
        return _arithmetic(operator, left, right)
    if operator == "+":
        if isinstance(left, list | tuple) and isinstance(right, list | tuple):
            budget.spend(16 * (len(left) + len(right)))
            return [*left, *right]
        return joined(budget, left, right)
    if operator == "*" and isinstance(left, str) and isinstance(right, int):
        budget.spend(len(left) * max(0, right))
        return left * right
    raise TypeError(f"{operator} between {kind_name(left)} and {kind_name(right)}")


def _arithmetic(operator: str, left: Any, right: Any) -> Any:
    if operator in ("//", "**"):
        raise TemplateBeyondSubset(f"the engine has no operator {operator}")
    if operator == "/":
        return left / right
    value = math.fmod(left, right) if operator == "%" else None
    if value is None:
        value = left + right if operator == "+" else left - right if operator == "-" else left * right
    elif isinstance(left, int) and isinstance(right, int):
        value = int(value)
    if abs(value) >= 2**53 and isinstance(value, int):  # it computes in floats
        raise TemplateBeyondSubset("a number is too large for the engine")
    return value


def joined(budget: Budget, left: Any, right: Any) -> str:
    """Two values of which one is a text, put together; nothing counts as an empty text."""
    if not isinstance(left, str) and not isinstance(right, str):
        raise TypeError(f"{kind_name(left)} and {kind_name(right)} cannot be joined to a text")
    empty = (type(None), Undefined)
    return "".join("" if isinstance(value, empty) else spelled(budget, value) for value in (left, right))


def compared(context: Paying, left: Any, operator: str, right: Any) -> bool:
    """`==`, `in` and the others, paid by the size of what is compared."""
    budget = context.budget
    if operator in ("eq", "ne"):
        return equal(budget, left, right) == (operator == "eq")
    if operator in ("in", "notin"):
        return contains(budget, right, left) == (operator == "in")
    if not is_number(left) or not is_number(right) or isinstance(left, bool) or isinstance(right, bool):
        raise TypeError(f"{kind_name(left)} and {kind_name(right)} have no order")
    budget.spend()
    ordered = {"lt": left < right, "lteq": left <= right, "gt": left > right, "gteq": left >= right}
    return bool(ordered[operator])


def equal(budget: Budget, left: Any, right: Any) -> bool:
    if isinstance(left, str) and isinstance(right, str):
        budget.spend(min(len(left), len(right)) // 64)
        return left == right
    budget.spend()
    if is_number(left) and is_number(right):
        return bool(left == right)
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return len(left) == len(right) and all(equal(budget, a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(budget, value, right[key]) for key, value in left.items())
    if isinstance(left, Undefined):
        return isinstance(right, Undefined)
    return left is right


def contains(budget: Budget, whole: Any, part: Any) -> bool:
    if isinstance(whole, Undefined):
        return False
    if isinstance(whole, list | tuple):
        return any(equal(budget, part, item) for item in whole)
    if isinstance(whole, dict):
        budget.spend()
        return isinstance(part, str | int | float) and part in whole
    if isinstance(whole, str) and isinstance(part, str):
        budget.spend(len(whole) // 8)
        return part in whole
    raise TypeError(f"{kind_name(whole)} contains nothing")


class PaidSequence(Sequence[Any]):
    """A sequence whose every step is paid for."""

    def __init__(self, items: Sequence[Any], budget: Budget) -> None:
        self._items, self._budget = items, budget
        budget.spend(16 * len(items))

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, at: Any) -> Any:
        return self._items[at]

    def __iter__(self) -> Iterator[Any]:
        for item in self._items:
            self._budget.spend()
            yield item


def needed_text(context: Paying, value: Any) -> str:
    """A text that a function needs; an undefined value is an empty one."""
    if isinstance(value, Undefined):
        return ""
    if not isinstance(value, str):
        raise TypeError(f"a text is needed, not {kind_name(value)}")
    context.budget.spend(len(value))
    return value


def as_list(value: Any) -> Sequence[Any]:
    if isinstance(value, Undefined) or value is None:
        return []
    if not isinstance(value, list | tuple):
        raise TypeError(f"a list is needed, not {kind_name(value)}")
    return value


def not_possible(value: Any) -> NoReturn:
    raise TypeError(f"not possible with {kind_name(value)}")


@dataclass(frozen=True)
class JSONForm:
    """How JSON is laid out: `indent` below 0 is one line."""

    indent: int = -1
    between: str = ", "
    after_key: str = ": "


def to_json(budget: Budget, value: Any, form: JSONForm, depth: int = 0) -> str:
    """A value as the engine writes JSON: not escaped beyond what JSON asks, numbers of six digits."""
    budget.spend(4 + depth * max(0, form.indent))
    if isinstance(value, str):
        budget.spend(2 * len(value))
        return f'"{_JSON.sub(_escaped, value)}"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return _laid_out("[]", [to_json(budget, item, form, depth + 1) for item in value], form, depth)
    if isinstance(value, dict):
        pairs = (
            (to_json(budget, as_text(key), form), to_json(budget, item, form, depth + 1)) for key, item in value.items()
        )
        return _laid_out("{}", [f"{key}{form.after_key}{item}" for key, item in pairs], form, depth)
    return "null"


def _laid_out(ends: str, items: Sequence[str], form: JSONForm, depth: int) -> str:
    if not items:
        return ends
    if form.indent < 0:
        return ends[0] + form.between.join(items) + ends[1]
    pad, outer = " " * (form.indent * (depth + 1)), " " * (form.indent * depth)
    return f"{ends[0]}\n{pad}" + f"{form.between}\n{pad}".join(items) + f"\n{outer}{ends[1]}"


_JSON = re.compile(r'["\\\x00-\x1f]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escaped(found: re.Match[str]) -> str:
    return _SHORT.get(found[0]) or f"\\u{ord(found[0]):04x}"
