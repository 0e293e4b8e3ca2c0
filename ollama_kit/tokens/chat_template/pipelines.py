"""Tokens → pipelines: the inside of an action (Go's text/template/parse/parse.go, `pipeline` to `term`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ollama_kit.tokens.chat_template import functions
from ollama_kit.tokens.chat_template.lexer import Kind, Token
from ollama_kit.tokens.chat_template.literals import character, number, unquote
from ollama_kit.tokens.chat_template.nodes import (
    Chain,
    Command,
    Constant,
    Dot,
    Field,
    Function,
    Nil,
    Operand,
    Pipe,
    Variable,
)
from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset, TemplateError

MAX_DEPTH = 60
"""Nesting of parentheses, and of branches, that is parsed; Python's own stack is the reason for a limit."""

FUNCTIONS = frozenset(functions.functions(None)) | {"and", "or"}
KEYWORDS = frozenset(("block", "break", "continue", "define", "else", "end", "if", "range", "template", "with", "nil"))


class Reader:
    """The tokens not read yet, and the names of the variables in scope (as the parser sees them)."""

    def __init__(self, source: Iterable[Token]) -> None:
        self._source: Iterator[Token] = iter(source)
        self._ahead: list[Token] = []
        self.variables: list[str] = ["$"]
        self.depth = 0

    def next(self) -> Token:
        return self._ahead.pop() if self._ahead else next(self._source)

    def next_solid(self) -> Token:
        token = self.next()
        while token.kind == "space":
            token = self.next()
        return token

    def back(self, *read: Token) -> None:
        """Puts tokens back; the one to be read first comes last."""
        self._ahead.extend(read)

    def peek(self) -> Token:
        token = self.next()
        self.back(token)
        return token

    def peek_solid(self) -> Token:
        token = self.next_solid()
        self.back(token)
        return token

    def expect(self, kind: Kind, context: str) -> Token:
        token = self.next_solid()
        if token.kind != kind:
            raise unexpected(token, context)
        return token


def unexpected(token: Token, context: str) -> TemplateError:
    what = "EOF" if token.kind == "eof" else repr(token.value)
    return TemplateError(f"unexpected {what} in {context}", line=token.line)


def pipeline(reader: Reader, context: str, end: Kind = "close") -> Pipe:
    """The pipeline up to and with the token `end`."""
    line = reader.peek_solid().line
    declares, assigns = _declarations(reader, context)
    commands: list[Command] = []
    while (token := reader.next_solid()).kind != end:
        if token.kind in ("close", "eof", ")", "pipe", "assign", "declare", "other", "text"):
            raise unexpected(token, context)
        if token.kind == "word" and token.value in KEYWORDS - {"nil"}:
            raise unexpected(token, context)
        reader.back(token)
        commands.append(_command(reader))
    if not commands:
        raise TemplateError(f"missing value for {context}", line=line)
    for stage, command in enumerate(commands[1:], start=2):
        if isinstance(command.operands[0], Constant | Dot | Nil):
            raise TemplateError(f"non executable command in pipeline stage {stage}", line=line)
    return Pipe(tuple(commands), declares, assigns)


def _declarations(reader: Reader, context: str) -> tuple[tuple[str, ...], bool]:
    """The `$x :=`, `$x =` or, for range, `$i, $x :=` at the start of a pipeline."""
    names: list[str] = []
    while (token := reader.peek_solid()).kind == "variable":
        reader.next_solid()
        after = reader.peek()
        following = reader.peek_solid()
        if following.kind in ("assign", "declare"):
            reader.next_solid()
            reader.variables.append(token.value)
            return (*names, token.value), following.kind == "assign"
        if following.kind == "other" and following.value == ",":
            reader.next_solid()
            reader.variables.append(token.value)
            names.append(token.value)
            if context != "range" or len(names) > 1:
                raise TemplateError(f"too many declarations in {context}", line=token.line)
            if reader.peek_solid().kind not in ("variable", "close", ")"):
                raise TemplateError("range can only initialize variables", line=token.line)
            continue
        # Blanks matter between operands: one that was read past is put back.
        reader.back(*([after, token] if after.kind == "space" else [token]))
        break
    return tuple(names), False


def _command(reader: Reader) -> Command:
    operands: list[Operand] = []
    while True:
        first = reader.peek_solid()
        operand = _operand(reader)
        if operand is not None:
            operands.append(operand)
        token = reader.next()
        if token.kind == "space":
            continue
        if token.kind in ("close", ")"):
            reader.back(token)
        elif token.kind != "pipe":
            raise unexpected(token, "operand")
        if not operands:
            raise TemplateError("empty command", line=first.line)
        return Command(tuple(operands))


def _operand(reader: Reader) -> Operand | None:
    term = _term(reader)
    if term is None or reader.peek().kind != "field":
        return term
    names: list[str] = []
    while reader.peek().kind == "field":
        token = reader.next()
        names.append(token.value[1:])
    if isinstance(term, Field):
        return Field((*term.names, *names))
    if isinstance(term, Variable):
        return Variable(term.name, (*term.names, *names))
    if isinstance(term, Constant | Nil | Dot):
        raise TemplateError("unexpected . after a literal", line=token.line)
    return Chain(term, tuple(names))


def _term(reader: Reader) -> Operand | None:
    token = reader.next_solid()
    match token.kind:
        case "dot":
            return Dot()
        case "field":
            return Field((token.value[1:],))
        case "variable":
            if token.value not in reader.variables:
                raise TemplateError(f"undefined variable {token.value!r}", line=token.line)
            return Variable(token.value)
        case "string" | "raw":
            return Constant(unquote(token.value, token.line))
        case "char":
            return Constant(character(token.value, token.line))
        case "number":
            return Constant(number(token.value, token.line))
        case "word":
            return _word(token, reader)
        case "(":
            return _parenthesis(token, reader)
    reader.back(token)
    return None


def _word(token: Token, reader: Reader) -> Operand | None:
    if token.value in ("true", "false"):
        return Constant(token.value == "true")
    if token.value == "nil":
        return Nil()
    if token.value in KEYWORDS:
        reader.back(token)
        return None
    if token.value in FUNCTIONS:
        return Function(token.value)
    # A newer server may have more functions than are known here.
    raise TemplateBeyondSubset(f"function {token.value!r} is not one of Ollama's", line=token.line)


def _parenthesis(token: Token, reader: Reader) -> Pipe:
    if reader.depth >= MAX_DEPTH:
        raise TemplateBeyondSubset("parentheses nested too deeply", line=token.line)
    reader.depth += 1
    pipe = pipeline(reader, "parenthesized pipeline", ")")
    reader.depth -= 1
    return pipe
