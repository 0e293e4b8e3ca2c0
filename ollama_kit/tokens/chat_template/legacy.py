"""Templates written before `.Messages`: one execution a turn, the last one cut after `.Response` (template.go)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from ollama_kit.tokens.chat_template.nodes import Action, Branch, Call, Command, Field, Node, Operand, Pipe, Variable
from ollama_kit.tokens.chat_template.template_errors import TemplateError
from ollama_kit.tokens.chat_template.turns import Turn

RESPONSE = Action(Pipe((Command((Field(("Response",)),)),)), line=0)
"""What Ollama adds at the end of a template that names neither `.Messages` nor `.Response`."""

Texts = dict[str, str]


def identifiers(nodes: tuple[Node, ...]) -> frozenset[str]:
    """The names a template mentions, in lower case, as Ollama's Identifiers finds them: not those in
    `(…).Name`, nor in a call of another template from inside parentheses."""
    return frozenset(name.lower() for node in nodes for name in _names(node))


def _names(node: Node) -> Iterator[str]:
    match node:
        case Action():
            yield from _pipe_names(node.pipe)
        case Call():
            if node.pipe:
                yield from _pipe_names(node.pipe)
        case Branch():
            yield from _pipe_names(node.pipe)
            for inner in (*node.body, *(node.orelse or ())):
                yield from _names(inner)
        case _:
            return


def _pipe_names(pipe: Pipe) -> Iterator[str]:
    for command in pipe.commands:
        for operand in command.operands:
            match operand:
                case Pipe():
                    yield from _pipe_names(operand)
                case Field():
                    yield from operand.names
                case Variable():
                    yield operand.name
                    yield from operand.names
                case _:
                    continue


def executions(turns: tuple[Turn, ...]) -> tuple[tuple[Texts, ...], Texts]:
    """The data of each execution of the whole template, and that of the last, cut one.

    A turn is over when a system text follows a prompt or an answer, or a prompt follows an answer. Roles other than
    system, user and assistant do not reach the prompt.
    """
    done: list[Texts] = []
    now = {"System": "", "Prompt": "", "Response": ""}
    for turn in turns:
        ends = {"system": ("Prompt", "Response"), "user": ("Response",)}.get(turn.role, ())
        if any(now[name] for name in ends):
            done.append(now)
            now = {"System": "", "Prompt": "", "Response": ""}
        slot = {"system": "System", "user": "Prompt", "assistant": "Response"}.get(turn.role)
        if slot:
            now = {**now, slot: turn.content}
    return tuple(done), now


def cut_after_response(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes up to the first `.Response` printed; those after it are dropped, at every level.

    TemplateError where Ollama's own cut (deleteNode) fails: `.Response` inside an `if` that has an `else`.
    """
    return _Cut().nodes(nodes)


@dataclass
class _Cut:
    done: bool = False

    def nodes(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        return tuple(kept for node in nodes if (kept := self._node(node)) is not None)

    def _node(self, node: Node) -> Node | None:
        if self.done:
            return None
        if isinstance(node, Action):
            pipe = self._pipe(node.pipe)
            return None if pipe is None else replace(node, pipe=pipe)
        if isinstance(node, Branch):
            return self._branch(node)
        return node

    def _branch(self, node: Branch) -> Branch:
        body = self.nodes(node.body)
        if node.orelse is None:
            return replace(node, body=body)
        if self.done:
            raise TemplateError("the server fails on `.Response` before an else", line=node.line)
        return replace(node, body=body, orelse=self.nodes(node.orelse))

    def _pipe(self, pipe: Pipe) -> Pipe | None:
        commands: list[Command] = []
        for command in pipe.commands:
            operands = tuple(kept for operand in command.operands if (kept := self._operand(operand)) is not None)
            if not operands:
                return None
            commands.append(Command(operands))
        return replace(pipe, commands=tuple(commands))

    def _operand(self, operand: Operand) -> Operand | None:
        if isinstance(operand, Field) and "Response" in operand.names:
            self.done = True
            return operand
        if self.done:
            return None
        return self._pipe(operand) if isinstance(operand, Pipe) else operand
