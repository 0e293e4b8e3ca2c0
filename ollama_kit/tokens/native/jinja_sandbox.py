"""A chat template in Jinja, parsed once and rendered as llama.cpp renders it, within a bounded amount of work.

jinja2's immutable sandbox does the work; the tree of a template is rewritten before it is compiled, so that every loop,
comparison, slice and printed text goes through functions of `engine_values`, which pay for what they do. No value of a
template has other attributes or methods than the engine gives it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, cast

from jinja2 import TemplateSyntaxError, Undefined, nodes
from jinja2.ext import Extension, LoopControlExtension
from jinja2.parser import Parser
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace, pass_context
from jinja2.visitor import NodeTransformer

from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset, TemplateError
from ollama_kit.tokens.native.engine_functions import FILTERS, GLOBALS, METHODS, TESTS, Clock, Function, Method, called
from ollama_kit.tokens.native.engine_values import (
    Budget,
    PaidSequence,
    as_list,
    binary,
    compared,
    decoded,
    joined,
    kind_name,
    needed_text,
    printed,
)

MOST_CHARACTERS = 100_000
"""A larger template is refused unread; real ones have up to 30,000."""
_FILE = "<chat template>"
_LOOP_NAMES = frozenset(("index", "index0", "revindex", "revindex0", "first", "last", "length", "previtem", "nextitem"))
_UNKNOWN_TAGS = (
    *(nodes.Block, nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport, nodes.With),
    *(nodes.ScopedEvalContextModifier, nodes.ExprStmt),
)
"""What jinja2 parses and the engine does not."""


class JinjaTemplate:
    """A parsed template. `source` is its text; safe to share between threads."""

    def __init__(self, source: str) -> None:
        self.source = source
        self._environment = _Environment()
        self._template = self._environment.compiled(source)

    @classmethod
    def parse(cls, text: str) -> JinjaTemplate:
        """The template of a text; TemplateBeyondSubset, with its line, where it is not read here. The same text gives
        the same object."""
        return _parse(text)

    def render(self, values: Mapping[str, Any], now: datetime, budget: Budget) -> str:
        """The text for these values (plain data, which the template may change).

        TemplateRefusal where the template itself raises, TemplateError for any other failure, TemplateBeyondSubset
        where the budget ends or the engine's way is not known; each with the template's line.
        """
        context = self._template.new_context({**values, "strftime_now": Clock(now)})
        assert isinstance(context, _Context)
        context.budget = budget
        try:
            return "".join(self._template.root_render_func(context))
        except RecursionError as error:
            raise TemplateBeyondSubset("the template calls itself too deeply") from error
        except TemplateError as error:
            raise type(error)(error.problem, line=error.line or self._line_of(error)) from error
        except Exception as error:  # a template is a program from outside: it can raise anything
            raise TemplateError(str(error)[:200] or type(error).__name__, line=self._line_of(error)) from error

    def _line_of(self, error: BaseException) -> int:
        """The template's line that was being rendered; 0 where none was."""
        line, step = 0, error.__traceback__
        while step is not None:
            if step.tb_frame.f_code.co_filename == _FILE:
                line = self._template.get_corresponding_lineno(step.tb_lineno)
            step = step.tb_next
        return line


@lru_cache(maxsize=64)
def _parse(text: str) -> JinjaTemplate:
    return JinjaTemplate(text)


class _Context(Context):
    """A context that knows what is left of the budget."""

    budget: Budget


class _Generation(Extension):
    """`{% generation %}`, which marks what a model writes in training, and changes nothing here."""

    tags = {"generation"}  # noqa: RUF012 -- jinja2 declares it so

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return list(parser.parse_statements(("name:endgeneration",), drop_needle=True))


class _Environment(ImmutableSandboxedEnvironment):
    context_class = _Context
    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "**", "%"))
    intercepted_unops = frozenset(("+", "-"))

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            optimized=False,
            finalize=pass_context(printed),
            extensions=[LoopControlExtension, _Generation],
        )
        self.globals = dict(GLOBALS)
        self.filters = {name: pass_context(_paid(function)) for name, function in FILTERS.items()} | dict(_INNER)
        self.tests = {name: pass_context(_paid(function)) for name, function in TESTS.items()}

    def compiled(self, source: str) -> Any:
        """The template of a text, its tree rewritten."""
        if len(source) > MOST_CHARACTERS:
            raise TemplateBeyondSubset(f"a template of {len(source):,} characters")
        try:
            # The engine drops a line end before a block that begins the file.
            tree = self.parse(re.sub(r"\A\n(?=[ \t]*\{%)", "{#\n#}", source))
            for node in tree.find_all(_UNKNOWN_TAGS):
                raise TemplateBeyondSubset(f"the engine has no {type(node).__name__.lower()}", line=node.lineno)
            for loop in tree.find_all(nodes.For):
                _check_loop(loop)
            code = self.compile(_Rewriter().visit(tree), filename=_FILE)
            return self.template_class.from_code(self, code, dict(self.globals))
        except TemplateSyntaxError as error:
            raise TemplateBeyondSubset(f"not read as Jinja: {error.message}", line=error.lineno) from error
        except (RecursionError, MemoryError, OverflowError, SyntaxError, ValueError) as error:
            raise TemplateBeyondSubset("the template is nested too deeply") from error

    def getattr(self, obj: Any, attribute: str) -> Any:
        kind = dict if isinstance(obj, dict) else type(obj)
        method = METHODS.get(kind, {}).get(attribute)
        if method is not None:
            return Method(obj, method)
        if isinstance(obj, Namespace):
            values = object.__getattribute__(obj, "_Namespace__attrs")
            return values[attribute] if attribute in values else _nothing(attribute)
        if isinstance(obj, LoopContext):
            return getattr(obj, attribute) if attribute in _LOOP_NAMES else _nothing(attribute)
        if isinstance(obj, list) and attribute == "pop":
            raise TemplateBeyondSubset("the template takes elements out of a list")
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        if isinstance(obj, dict):
            if isinstance(argument, str | int | float) and argument in obj:
                return obj[argument]
            method = METHODS[dict].get(argument) if isinstance(argument, str) else None
            return Method(obj, method) if method is not None else _nothing(argument)
        whole = isinstance(argument, int) and not isinstance(argument, bool)
        if isinstance(obj, list | tuple | PaidSequence) and whole:
            return obj[argument] if -len(obj) <= argument < len(obj) else _nothing(argument)
        if isinstance(obj, str) and whole:
            data = obj.encode("utf-8", "surrogatepass")
            return decoded(data[argument : argument + 1]) if 0 <= argument < len(data) else _nothing(argument)
        return _nothing(argument)

    def call(self, context: Any, obj: Any, /, *args: Any, **named: Any) -> Any:
        context.budget.spend()
        if isinstance(obj, Macro | LoopContext):
            return context.call(obj, *args, **named)
        for inner in ("_loop_vars", "_block_vars"):
            named.pop(inner, None)
        return called(obj)(context, *args, **named)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        context.budget.spend()
        return binary(context.budget, operator, left, right)

    def call_unop(self, context: Any, operator: str, arg: Any) -> Any:
        if isinstance(arg, bool) or not isinstance(arg, int | float) or operator == "+":
            raise TypeError("unary - needs a number")
        return -arg


def _nothing(name: Any) -> Undefined:
    return Undefined(name=str(name)[:60])


def _paid(function: Function) -> Function:
    def paid(context: Any, *args: Any, **named: Any) -> Any:
        context.budget.spend()
        return function(context, *args, **named)

    return paid


# -- what the rewritten tree calls


@pass_context
def _joined(context: _Context, left: Any, right: Any) -> str:
    """`left ~ right`."""
    return joined(context.budget, left, right)


@pass_context
def _compared(context: _Context, left: Any, operator: str, right: Any) -> bool:
    return compared(context, left, operator, right)


@pass_context
def _looped(context: _Context, value: Any, names: int) -> PaidSequence:
    """What a loop goes through; `names` is into how many names each element is taken apart."""
    if isinstance(value, dict):
        items = list(value.items()) if names > 1 else list(value)
    elif isinstance(value, str) or value is None:
        raise TypeError(f"a loop needs a list or a mapping, not {kind_name(value)}")
    else:
        items = list(as_list(value))
    return PaidSequence(items, context.budget)


@pass_context
def _cut(context: _Context, value: Any, start: Any, stop: Any, step: Any) -> Any:
    """`value[start:stop:step]`, of a text in bytes."""
    if isinstance(value, list | tuple):
        context.budget.spend(16 * len(value))
        return value[start:stop:step]
    if step not in (None, 1):
        raise TemplateBeyondSubset("the template cuts a text in steps")
    return decoded(needed_text(context, value).encode("utf-8", "surrogatepass")[start:stop])


@pass_context
def _said(context: _Context, text: str) -> str:
    """Literal text inside a loop or a macro: it is written each time."""
    context.budget.spend(len(text))
    return text


@pass_context
def _key(context: _Context, value: Any) -> Any:
    """A key of a mapping: a plain value, whose hash costs nothing."""
    if not isinstance(value, str | int | float):
        raise TypeError(f"{kind_name(value)} cannot be a key")
    return value


_INNER: Mapping[str, Any] = {
    " join": _joined, " compare": _compared, " loop": _looped, " cut": _cut, " say": _said, " key": _key,
}  # fmt: skip
"""Filters that no template can name."""


class _Rewriter(NodeTransformer):
    """Sends what jinja2 would compile to plain Python through the functions above."""

    def __init__(self) -> None:
        self._repeated = 0

    def visit_For(self, node: nodes.For) -> nodes.Node:
        if node.recursive:
            raise TemplateBeyondSubset("the engine has no recursive loops", line=node.lineno)
        names = len(node.target.items) if isinstance(node.target, nodes.Tuple) else 1
        self._within(node)
        node.iter = _filter(" loop", cast("nodes.Expr", node.iter), nodes.Const(names))
        return node

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:
        return self._within(node)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:
        return self._within(node)

    def visit_TemplateData(self, node: nodes.TemplateData) -> nodes.Node:
        return _filter(" say", nodes.Const(node.data, lineno=node.lineno)) if self._repeated else node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        left, *others = node.nodes
        for right in others:
            left = _filter(" join", left, right)
        return left

    def visit_Compare(self, node: nodes.Compare) -> nodes.Node:
        self.generic_visit(node)
        left = node.expr
        for operand in node.ops:
            left = _filter(" compare", left, nodes.Const(operand.op), operand.expr)
        return left

    def visit_Getitem(self, node: nodes.Getitem) -> nodes.Node:
        self.generic_visit(node)
        if not isinstance(node.arg, nodes.Slice):
            return node
        ends = (node.arg.start, node.arg.stop, node.arg.step)
        given = (nodes.Const(None) if end is None else end for end in ends)
        return _filter(" cut", node.node, *given)

    def visit_Pair(self, node: nodes.Pair) -> nodes.Node:
        self.generic_visit(node)
        node.key = _filter(" key", node.key)
        return node

    def _within(self, node: nodes.Node) -> nodes.Node:
        self._repeated += 1
        self.generic_visit(node)
        self._repeated -= 1
        return node


def _filter(name: str, value: nodes.Expr, *args: nodes.Expr) -> nodes.Filter:
    return nodes.Filter(value, name, list(args), [], None, None, lineno=value.lineno)


def _check_loop(loop: nodes.For) -> None:
    """TemplateBeyondSubset where a loop reads a name that only an earlier round may have set: the engine keeps what a
    round sets for the next one, jinja2 does not."""
    stored = {name.name for node in loop.body for name in _stored(node)}
    _names_read(loop.body, frozenset(), stored - _targets(loop))


def _stored(node: nodes.Node) -> Iterable[nodes.Name]:
    found = [node] if isinstance(node, nodes.Name) else []
    return (name for name in (*found, *node.find_all(nodes.Name)) if name.ctx == "store")


def _targets(loop: nodes.For) -> set[str]:
    return {name.name for name in _stored(loop.target)}


def _names_read(body: Iterable[nodes.Node], known: frozenset[str], watched: set[str]) -> frozenset[str]:
    """The names that are set for certain after these nodes; raises where one of `watched` is read before it is."""
    for node in body:
        if isinstance(node, nodes.Assign | nodes.AssignBlock):
            parts = [node.node] if isinstance(node, nodes.Assign) else list(node.body)
            _names_read(parts, known, watched)
            known |= {name.name for name in _stored(node.target)}
        elif isinstance(node, nodes.If):
            _names_read([node.test], known, watched)
            branches = [_names_read(node.body, known, watched)]
            for other in node.elif_:
                _names_read([other.test], known, watched)
                branches.append(_names_read(other.body, known, watched))
            branches.append(_names_read(node.else_, known, watched))
            known = frozenset.intersection(*branches)
        elif isinstance(node, nodes.For):
            _names_read([node.iter], known, watched)
            _names_read(node.body, known | _targets(node), watched)
            _names_read(node.else_, known, watched)
        elif isinstance(node, nodes.Macro):
            known |= {node.name}
        else:
            loads = ([node] if isinstance(node, nodes.Name) else []) + list(node.find_all(nodes.Name))
            for name in loads:
                if name.ctx == "load" and name.name in watched and name.name not in known:
                    raise TemplateBeyondSubset(
                        f"the loop may read {name.name!r} as an earlier round left it", line=name.lineno
                    )
    return known
