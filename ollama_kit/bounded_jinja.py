"""A Jinja sandbox in which a template ends: its loops, and the texts that it makes, have a bound.

A template may be a stranger's. jinja2's sandbox keeps it from the machine; what it leaves unbounded is work: loops in
loops, a text doubled thirty times, a number padded to a gigabyte. Every loop counts its turns here, and every way in
which a template makes a text larger says how large before it is made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from jinja2 import nodes
from jinja2.exceptions import TemplateRuntimeError
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

MOST_TURNS = 1_000_000
"""Turns of all loops of one rendering. A page of 5,000 pages of contract takes half of that."""
MOST_CHARACTERS = 20_000_000
"""The longest text, list or number (in digits) that an expression makes."""

_turns: ContextVar[list[int] | None] = ContextVar("turns of loops", default=None)
_PADDING = frozenset(("center", "ljust", "rjust", "zfill", "expandtabs"))
_LONG_WIDTH = re.compile(r"\d{7,}")


@contextmanager
def bounded() -> Iterator[None]:
    """Within it the loops of all templates together have MOST_TURNS turns."""
    token = _turns.set([0])
    try:
        yield
    finally:
        _turns.reset(token)


class BoundedSandbox(SandboxedEnvironment):
    """The sandbox. What goes beyond a bound is a TemplateRuntimeError, which has the template's line."""

    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.globals.pop("lipsum", None)
        self.filters |= {"_counted": _counted, "_joined": _joined}
        for name in ("center", "indent", "wordwrap", "format", "batch", "slice", "replace"):
            self.filters[name] = _sized(self.filters[name])

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        tree: nodes.Template = _Counting().visit(super()._parse(source, name, filename))
        return tree

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        sizes = [len(side) for side in (left, right) if isinstance(side, str | list | tuple)]
        numbers = [abs(side) for side in (left, right) if isinstance(side, int) and not isinstance(side, bool)]
        if operator == "%" and isinstance(left, str):
            _check_widths(left)
        elif operator == "*":
            _check(sum(sizes) * max(numbers, default=1) if sizes else sum(map(int.bit_length, numbers)) // 3)
        elif operator == "**" and len(numbers) == 2:
            _check(max(1, numbers[0].bit_length()) * numbers[1] // 3)
        elif operator == "+":
            _check(sum(sizes))
        return super().call_binop(context, operator, left, right)

    def call(self, context: Any, obj: Any, /, *args: Any, **named: Any) -> Any:
        name = getattr(obj, "__name__", "")
        owner = getattr(getattr(obj, "__wrapped__", obj), "__self__", None)
        if name in _PADDING:
            for argument in args:
                _check(argument if isinstance(argument, int) else 0)
        elif name in ("format", "format_map") and isinstance(owner, str):
            _check_widths(owner)
        return super().call(context, obj, *args, **named)


class _Counting(NodeTransformer):
    """Sends what a loop runs over, and what `~` joins, through a function that counts."""

    def visit_For(self, node: nodes.For) -> nodes.For:
        self.generic_visit(node)
        node.iter = nodes.Filter(node.iter, "_counted", [], [], None, None, lineno=node.lineno)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:
        self.generic_visit(node)
        parts = nodes.List(node.nodes, lineno=node.lineno)
        return nodes.Filter(parts, "_joined", [], [], None, None, lineno=node.lineno)


def _counted(items: Iterable[Any]) -> Iterator[Any]:
    turns = _turns.get()
    for item in items:
        if turns is not None:
            turns[0] += 1
            if turns[0] > MOST_TURNS:
                raise TemplateRuntimeError(f"more than {MOST_TURNS:,} turns of loops")
        yield item


def _joined(parts: list[Any]) -> Any:
    """What `~` makes: markup where a part is markup, else text."""
    from markupsafe import Markup

    _check(sum(len(part) if isinstance(part, str) else 20 for part in parts))
    if any(isinstance(part, Markup) for part in parts):
        return Markup("").join(parts)
    return "".join(map(str, parts))


def _sized(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter whose numbers, and the text that it is given to put in, have a bound."""
    from functools import wraps

    @wraps(function)
    def checked(*args: Any, **named: Any) -> Any:
        texts = [value for value in (*args, *named.values()) if isinstance(value, str)]
        for value in (*args, *named.values()):
            _check(value if isinstance(value, int) and not isinstance(value, bool) else 0)
        if len(texts) > 2:  # replace: each character may become the new text
            _check(len(texts[0]) * max(1, len(texts[2])))
        for text in texts:
            if function.__name__ == "do_format":
                _check_widths(text)
        return function(*args, **named)

    return checked


def _check(size: int) -> None:
    if size > MOST_CHARACTERS:
        raise TemplateRuntimeError(f"a value of more than {MOST_CHARACTERS:,} characters")


def _check_widths(pattern: str) -> None:
    if _LONG_WIDTH.search(pattern):
        raise TemplateRuntimeError("a width of more than 999,999")
