"""Template text → nodes, and the templates it defines (Go's text/template/parse/parse.go)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from ollama_kit.tokens.chat_template.lexer import Token, tokens
from ollama_kit.tokens.chat_template.literals import unquote
from ollama_kit.tokens.chat_template.nodes import Action, Branch, Call, Jump, Node, Text
from ollama_kit.tokens.chat_template.pipelines import MAX_DEPTH, Reader, pipeline, unexpected
from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset, TemplateError


@dataclass(frozen=True)
class Parsed:
    """The nodes of the template itself (`root`) and, by name, those of each `define` and `block`."""

    root: tuple[Node, ...]
    definitions: Mapping[str, tuple[Node, ...]]


def parse(source: str) -> Parsed:
    """The nodes of a template. TemplateError, with its line, where Go's parser would refuse the text;
    TemplateBeyondSubset where it might not, but we do."""
    return _Parser(source).parse()


class _Parser:
    def __init__(self, source: str) -> None:
        self._reader = Reader(tokens(source))
        self._definitions: dict[str, tuple[Node, ...]] = {}
        self._range_depth = 0
        self._depth = 0

    def parse(self) -> Parsed:
        root: list[Node] = []
        while (token := self._reader.next_solid()).kind != "eof":
            if token.kind == "open" and self._keyword_ahead("define"):
                self._reader.next_solid()
                self._definition()
                continue
            self._reader.back(token)
            node, ending = self._item()
            if ending:
                raise unexpected(ending, "input")
            if node:
                root.append(node)
        return Parsed(tuple(root), self._definitions)

    def _keyword_ahead(self, *words: str) -> str:
        token = self._reader.peek_solid()
        return token.value if token.kind == "word" and token.value in words else ""

    def _definition(self) -> None:
        name = self._name("define clause")
        self._reader.expect("close", "define clause")
        self._subtree(name, "define clause")

    def _subtree(self, name: str, context: str) -> None:
        """Parses up to `{{ end }}` as a template of its own, with its own variables and ranges."""
        outer = self._reader.variables, self._range_depth
        self._reader.variables, self._range_depth = ["$"], 0
        body, ending = self._items()
        if ending.value != "end":
            raise unexpected(ending, context)
        self._reader.variables, self._range_depth = outer
        self._add(name, body, ending.line)

    def _add(self, name: str, body: tuple[Node, ...], line: int) -> None:
        if not name:
            raise TemplateBeyondSubset("a template defined without a name", line=line)
        if name not in self._definitions or _is_empty(self._definitions[name]):
            self._definitions[name] = body
        elif not _is_empty(body):
            raise TemplateError(f"multiple definition of template {name!r}", line=line)

    def _items(self) -> tuple[tuple[Node, ...], Token]:
        """The nodes up to an `end` or `else`, and that word's token. `end` is read to its closing delimiter."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TemplateBeyondSubset("branches nested too deeply", line=self._reader.peek().line)
        items: list[Node] = []
        while self._reader.peek_solid().kind != "eof":
            node, ending = self._item()
            if ending:
                self._depth -= 1
                return tuple(items), ending
            if node:
                items.append(node)
        raise TemplateError("unexpected EOF: an {{ end }} is missing", line=self._reader.peek().line)

    def _item(self) -> tuple[Node | None, Token | None]:
        """One node, or the `end` or `else` that stands in its place."""
        token = self._reader.next_solid()
        if token.kind == "text":
            return Text(token.value), None
        if token.kind != "open":
            raise unexpected(token, "input")
        word = self._keyword_ahead("if", "with", "range", "else", "end", "template", "block", "break", "continue")
        if not word:
            return Action(pipeline(self._reader, "command"), token.line), None
        keyword = self._reader.next_solid()
        match word:
            case "end":
                self._reader.expect("close", "end")
                return None, keyword
            case "else":
                if not self._keyword_ahead("if", "with"):
                    self._reader.expect("close", "else")
                return None, keyword
            case "if" | "with" | "range":
                return self._branch(keyword), None
            case "break" | "continue":
                return self._jump(keyword), None
        return self._call(keyword), None

    def _branch(self, keyword: Token) -> Branch:
        kind = cast("Literal['if', 'with', 'range']", keyword.value)
        scope = len(self._reader.variables)
        pipe = pipeline(self._reader, kind)
        self._range_depth += kind == "range"
        body, ending = self._items()
        self._range_depth -= kind == "range"
        orelse: tuple[Node, ...] | None = None
        if ending.value == "else":
            orelse = self._orelse(kind)
        del self._reader.variables[scope:]
        return Branch(kind, pipe, body, orelse, keyword.line)

    def _orelse(self, kind: str) -> tuple[Node, ...]:
        following = self._keyword_ahead("if", "with")
        if following and following == kind:
            # `{{ else if b }}…{{ end }}` is `{{ else }}{{ if b }}…{{ end }}{{ end }}` with one end left out.
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise TemplateBeyondSubset("a chain of else-if that is too long", line=self._reader.peek().line)
            nested = self._branch(self._reader.next_solid())
            self._depth -= 1
            return (nested,)
        orelse, ending = self._items()
        if ending.value != "end":
            raise TemplateError(f"expected end; found {ending.value}", line=ending.line)
        return orelse

    def _jump(self, keyword: Token) -> Jump:
        self._reader.expect("close", f"{{{{{keyword.value}}}}}")
        if not self._range_depth:
            raise TemplateError(f"{{{{{keyword.value}}}}} outside {{{{range}}}}", line=keyword.line)
        return Jump(cast("Literal['break', 'continue']", keyword.value), keyword.line)

    def _call(self, keyword: Token) -> Call:
        context = f"{keyword.value} clause"
        name = self._name(context)
        if keyword.value == "block":
            call = Call(name, pipeline(self._reader, context), keyword.line)
            self._subtree(name, context)
            return call
        if self._reader.peek_solid().kind == "close":
            # Ollama walks the pipe of every call when it loads a template: 0.9.3 crashes here, newer ones refuse it.
            raise TemplateError(f"template {name!r} is called without a value", line=keyword.line)
        return Call(name, pipeline(self._reader, context), keyword.line)

    def _name(self, context: str) -> str:
        token = self._reader.next_solid()
        if token.kind not in ("string", "raw"):
            raise unexpected(token, context)
        return unquote(token.value, token.line)


def _is_empty(nodes: tuple[Node, ...]) -> bool:
    return all(isinstance(node, Text) and not node.text.strip() for node in nodes)
