"""ChatTemplate: a model's TEMPLATE, parsed once, rendered as the Ollama server renders it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ollama_kit.tokens.chat_template.evaluator import Budget, Program, execute
from ollama_kit.tokens.chat_template.functions import BUILTIN, functions
from ollama_kit.tokens.chat_template.legacy import RESPONSE, cut_after_response, executions, identifiers
from ollama_kit.tokens.chat_template.nodes import Branch, Node, Text
from ollama_kit.tokens.chat_template.parser import Parsed, parse
from ollama_kit.tokens.chat_template.records import message_record, tool_list
from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset
from ollama_kit.tokens.chat_template.turns import RenderInput, Turn, collate
from ollama_kit.tokens.chat_template.values import NIL

MAX_TEMPLATE_CHARS = 1_000_000
DEFAULT_TEMPLATE = "{{ .Prompt }}"
"""What the server renders for a model that has no template."""


@dataclass(frozen=True)
class ChatTemplate:
    """A template that can be rendered: its text, its nodes, and the names it mentions (in lower case)."""

    source: str
    parsed: Parsed
    names: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> ChatTemplate:
        """The template of a TEMPLATE text; an empty one is the server's default.

        TemplateError (with its line) where the server refuses the text, TemplateBeyondSubset where it holds
        something that is not rendered here. The same text gives the same object.
        """
        return _parse(text or DEFAULT_TEMPLATE)

    @property
    def reads_messages(self) -> bool:
        """Whether the whole conversation is rendered at once, through `.Messages`."""
        return "messages" in self.names

    @property
    def literal_chars(self) -> int:
        """Characters of literal text, each piece once."""
        return sum(len(text) for nodes in self.trees() for text in literal_texts(nodes))

    def trees(self) -> tuple[tuple[Node, ...], ...]:
        """The nodes of the template itself and of each template it defines."""
        return (self.parsed.root, *self.parsed.definitions.values())

    def render(self, conversation: RenderInput) -> str:
        """The prompt of a conversation, byte for byte the server's (template/template.go, Execute).

        TemplateError where the server would answer with an error; TemplateBeyondSubset where what it writes is not
        known here. Work and output are bounded, whatever the template.
        """
        budget = Budget(
            steps=500_000 + 2_000 * len(conversation.turns),
            characters=1_000_000 + 64 * (conversation.size_chars + len(self.source)),
        )
        system, turns = collate(conversation)
        shared = _shared(conversation)
        if conversation.suffix and turns and turns[-1].content:
            data = {"Prompt": turns[-1].content, "Suffix": conversation.suffix, "Response": "", **shared}
            return execute(self._program(conversation.today), data, budget)
        if self.reads_messages:
            data = {
                "System": system, "Messages": [message_record(turn) for turn in turns],
                "Tools": tool_list(conversation.tools), "Response": "", **shared,
            }  # fmt: skip
            return execute(self._program(conversation.today), data, budget)
        return self._render_turns(turns, shared, conversation.today, budget)

    def _render_turns(
        self, turns: tuple[Turn, ...], shared: Mapping[str, Any], today: date | None, budget: Budget
    ) -> str:
        whole = self._program(today)
        done, last = executions(turns)
        pieces = [execute(whole, {**texts, **shared}, budget) for texts in done]
        # The server renders the last turn from a bare tree: no definitions, no functions of its own, and Go's
        # default for a missing key.
        cut = Program(cut_after_response(self.parsed.root), MappingProxyType({}), BUILTIN, missing=None)
        return "".join([*pieces, execute(cut, {**last, **shared}, budget)])

    def _program(self, today: date | None) -> Program:
        return Program(self.parsed.root, self.parsed.definitions, functions(today), missing=NIL)


def literal_texts(nodes: tuple[Node, ...]) -> Iterator[str]:
    """Every piece of literal text, in the order of the template."""
    for node in nodes:
        if isinstance(node, Text):
            yield node.text
        elif isinstance(node, Branch):
            yield from literal_texts(node.body)
            yield from literal_texts(node.orelse or ())


def _shared(conversation: RenderInput) -> dict[str, Any]:
    think = conversation.think
    # A plain `true` is the level "medium" (ThinkValue.String in api/types.go, 0.33).
    level = think if isinstance(think, str) else "medium" if think else ""
    return {"Think": bool(think), "ThinkLevel": level, "IsThinkSet": think is not None}


@lru_cache(maxsize=64)
def _parse(text: str) -> ChatTemplate:
    if len(text) > MAX_TEMPLATE_CHARS:
        raise TemplateBeyondSubset(f"a template of {len(text)} characters")
    parsed = parse(text)
    names = frozenset[str]().union(*map(identifiers, (parsed.root, *parsed.definitions.values())))
    if not names & {"messages", "response"}:
        parsed = Parsed((*parsed.root, RESPONSE), parsed.definitions)
    return ChatTemplate(text, parsed, names)
