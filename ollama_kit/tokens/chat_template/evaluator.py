"""Nodes and data → text, by the rules of Go's text/template/exec.go, within a bounded amount of work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ollama_kit.tokens.chat_template.functions import Call as FunctionCall, called
from ollama_kit.tokens.chat_template.lookup import field, items
from ollama_kit.tokens.chat_template.nodes import (
    Action,
    Branch,
    Call,
    Chain,
    Command,
    Constant,
    Dot,
    Field,
    Function,
    Jump,
    Nil,
    Node,
    Operand,
    Pipe,
    Text,
    Variable,
)
from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset, TemplateError
from ollama_kit.tokens.chat_template.values import (
    NIL,
    Data,
    Value,
    printed,
    settle,
    truth,
)

MAX_CALLS = 40
"""Templates calling templates; Go allows 100,000, and real ones need two or three."""


@dataclass(frozen=True)
class Program:
    """What is executed: the nodes, the templates they may call, the functions, and how a missing key of a map
    reads: NIL with Ollama's `missingkey=zero`, None (Go's default) in the last turn of the legacy path."""

    root: tuple[Node, ...]
    definitions: Mapping[str, tuple[Node, ...]]
    functions: Mapping[str, FunctionCall]
    missing: Value = NIL


@dataclass
class Budget:
    """What is left of the work a template may cost: steps of evaluation, and characters it makes."""

    steps: int
    characters: int

    def step(self) -> None:
        self.steps -= 1
        if self.steps < 0:
            raise TemplateBeyondSubset("the template takes too many steps")

    def write(self, text: str) -> str:
        self.characters -= len(text)
        if self.characters < 0:
            raise TemplateBeyondSubset("the template writes too much text")
        return text


class _Break(Exception):
    """`{{ break }}`, on its way to the range it ends."""


class _Continue(Exception):
    """`{{ continue }}`."""


def execute(program: Program, data: Mapping[str, Value], budget: Budget) -> str:
    """The text that the program writes for `data`. TemplateError where the server would fail;
    TemplateBeyondSubset where it might not, or where the budget ends."""
    state = _State(program, budget, Data(data), 0)
    state.walk(program.root, state.variables[0][1])
    return "".join(state.output)


class _Missing:
    """No value from an earlier stage of the pipeline."""


_NO_VALUE = _Missing()


class _State:
    def __init__(self, program: Program, budget: Budget, dot: Value, calls: int) -> None:
        self.program, self.budget, self.calls = program, budget, calls
        self.output: list[str] = []
        self.variables: list[list[Any]] = [["$", dot]]

    def walk(self, nodes: tuple[Node, ...], dot: Value) -> None:
        for node in nodes:
            self.budget.step()
            if isinstance(node, Text):
                self.output.append(self.budget.write(node.text))
                continue
            try:
                self._node(node, dot)
            except TemplateError as error:
                if error.line:
                    raise
                raise type(error)(error.problem, line=node.line) from error

    def _node(self, node: Action | Branch | Call | Jump, dot: Value) -> None:
        match node:
            case Action():
                value = self._pipe(node.pipe, dot)
                if not node.pipe.declares:
                    self.output.append(self.budget.write(printed(value)))
            case Branch(kind="range"):
                self._range(node, dot)
            case Branch():
                self._condition(node, dot)
            case Jump():
                raise _Break if node.kind == "break" else _Continue
            case Call():
                self._call(node, dot)

    def _condition(self, node: Branch, dot: Value) -> None:
        mark = len(self.variables)
        try:
            value = self._pipe(node.pipe, dot)
            if truth(value):
                self.walk(node.body, value if node.kind == "with" else dot)
            elif node.orelse is not None:
                self.walk(node.orelse, dot)
        finally:
            del self.variables[mark:]

    def _range(self, node: Branch, dot: Value) -> None:
        outer = len(self.variables)
        try:
            value = self._pipe(node.pipe, dot)
            mark, empty = len(self.variables), True
            for index, item in items(value, len(node.pipe.declares)):
                empty = False
                self.budget.step()
                self._bind(node.pipe, index, item)
                try:
                    self.walk(node.body, item)
                except _Continue:
                    pass
                finally:
                    del self.variables[mark:]
            if empty and node.orelse is not None:
                self.walk(node.orelse, dot)
        except _Break:
            pass
        finally:
            del self.variables[outer:]

    def _bind(self, pipe: Pipe, index: Value, item: Value) -> None:
        names = pipe.declares
        if not names:
            return
        values = [item] if len(names) == 1 else [index, item]
        for offset, value in enumerate(values):
            if pipe.assigns:
                self._set(names[offset], value)
            else:
                self.variables[len(self.variables) - len(names) + offset][1] = value

    def _call(self, node: Call, dot: Value) -> None:
        if node.name not in self.program.definitions:
            raise TemplateError(f"template {node.name!r} not defined", line=node.line)
        if self.calls >= MAX_CALLS:
            raise TemplateBeyondSubset("templates call each other too deeply", line=node.line)
        value = self._pipe(node.pipe, dot) if node.pipe else None
        inner = _State(self.program, self.budget, value, self.calls + 1)
        inner.output = self.output
        inner.walk(self.program.definitions[node.name], value)

    def _pipe(self, pipe: Pipe, dot: Value) -> Value:
        value: Value = _NO_VALUE
        for command in pipe.commands:
            self.budget.step()
            value = settle(self._command(command, dot, value))
        for name in pipe.declares:
            if pipe.assigns:
                self._set(name, value)
            else:
                self.variables.append([name, value])
        return value

    def _set(self, name: str, value: Value) -> None:
        for variable in reversed(self.variables):
            if variable[0] == name:
                variable[1] = value
                return
        raise TemplateError(f"undefined variable: {name}")

    def _command(self, command: Command, dot: Value, final: Value) -> Value:
        first, *arguments = command.operands
        if isinstance(first, Function):
            return self._function(first.name, arguments, dot, final)
        if arguments or final is not _NO_VALUE:
            raise TemplateError("an argument is given to what is not a function")
        if isinstance(first, Nil):
            raise TemplateError("nil is not a command")
        return self._operand(first, dot)

    def _function(self, name: str, operands: list[Operand], dot: Value, final: Value) -> Value:
        if name in ("and", "or"):
            return self._logic(name, operands, dot, final)
        if name not in self.program.functions:
            # Ollama renders the last turn of the legacy path without its own functions.
            raise TemplateError(f"{name!r} is not a defined function")
        arguments = [self._operand(operand, dot) for operand in operands]
        if final is not _NO_VALUE:
            arguments.append(final)
        value = called(self.program.functions[name], arguments)
        if isinstance(value, str):
            self.budget.write(value)
        elif isinstance(value, list):
            self.budget.steps -= len(value) // 16
        return value

    def _logic(self, name: str, operands: list[Operand], dot: Value, final: Value) -> Value:
        if not operands and final is _NO_VALUE:
            raise TemplateError(f"wrong number of arguments for {name}: 0")
        value: Value = None
        for operand in operands:
            value = self._operand(operand, dot)
            if truth(value) == (name == "or"):
                return value
        return value if final is _NO_VALUE else final

    def _operand(self, operand: Operand, dot: Value) -> Value:
        match operand:  # the commonest first
            case Field():
                return self._fields(dot, operand.names)
            case Constant():
                return operand.value
            case Variable():
                return self._fields(self._variable(operand.name), operand.names)
            case Pipe():
                return self._pipe(operand, dot)
            case Dot():
                return dot
            case Nil():
                return None
            case Function():
                return self._function(operand.name, [], dot, _NO_VALUE)
            case Chain():
                if isinstance(operand.operand, Nil):
                    raise TemplateError("indirection through explicit nil")
                return self._fields(self._operand(operand.operand, dot), operand.names)

    def _variable(self, name: str) -> Value:
        for variable in reversed(self.variables):
            if variable[0] == name:
                return variable[1]
        raise TemplateError(f"undefined variable: {name}")

    def _fields(self, value: Value, names: tuple[str, ...]) -> Value:
        for name in names:
            self.budget.step()
            value = field(value, name, self.program.missing)
        return value
