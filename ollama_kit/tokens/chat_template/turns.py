"""A conversation as the server prepares it for the template (server/routes.go, template/template.go; 0.9.3 to 0.33)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from types import MappingProxyType
from typing import Any

_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""Go's unicode.IsSpace; Python's strip() takes U+001C to U+001F as well."""


@dataclass(frozen=True)
class ToolCall:
    """One function the assistant asked for. `arguments` is decoded JSON."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    index: int = 0
    id: str = ""


@dataclass(frozen=True)
class Turn:
    """One message of a chat. `images` is how many are attached; the template sees a mark for each."""

    role: str
    content: str = ""
    thinking: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_name: str = ""
    images: int = 0


@dataclass(frozen=True)
class RenderInput:
    """What a template is rendered for.

    `turns`: oldest first, default system text and example turns put in already (see `assemble`).
    `tools`: decoded JSON, as in the request. `think`: as in the request; None where it was not sent.
    `suffix`: for fill-in-the-middle; the last turn's content is then the prompt.
    `today`: the server's date, for templates that print one. `merge_tool_turns`: as servers before 0.9.6 did.
    """

    turns: tuple[Turn, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    think: bool | str | None = None
    suffix: str = ""
    today: date | None = None
    merge_tool_turns: bool = False

    @property
    def size_chars(self) -> int:
        """Characters that the caller put in: what bounds the work of rendering."""
        return sum(len(turn.content) + len(turn.thinking) for turn in self.turns) + len(self.suffix)


def assemble(
    turns: Sequence[Turn], *, system: str = "", examples: Sequence[Turn] = (), strip_thinking: bool = False
) -> tuple[Turn, ...]:
    """The turns that `/api/chat` hands to the template.

    `examples` (the model's MESSAGE lines) come first, and before them `system` (its SYSTEM) unless the first of
    the caller's turns is a system turn: one further down does not count. `strip_thinking`: see `without_thinking`.
    """
    lowered = [replace(turn, role=turn.role.lower()) for turn in (*examples, *turns)]
    if turns and turns[0].role.lower() != "system" and system:
        lowered.insert(0, Turn("system", system))
    return without_thinking(lowered) if strip_thinking else tuple(lowered)


def without_thinking(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns less a leading `<think>…</think>` in each assistant turn before the last user turn.

    The server does it for the family qwen3 and the model deepseek-r1 (filterThinkTags in server/routes.go).
    """
    last_user = max((at for at, turn in enumerate(turns) if turn.role == "user"), default=-1)
    return tuple(
        replace(turn, content=_after_thinking(turn.content)) if turn.role == "assistant" and at < last_user else turn
        for at, turn in enumerate(turns)
    )


def _after_thinking(content: str) -> str:
    trimmed = content.lstrip(_SPACE)
    if not trimmed.startswith("<think>"):
        # What could still become the tag is held back by the server's parser, and so is lost.
        return "" if "<think>".startswith(trimmed) else content
    _, closing, answer = trimmed[len("<think>") :].lstrip(_SPACE).partition("</think>")
    return answer.lstrip(_SPACE) if closing else ""


def collate(conversation: RenderInput) -> tuple[str, tuple[Turn, ...]]:
    r"""All system texts joined, and the turns with neighbors of one role joined, each by a blank line.

    >>> collate(RenderInput((Turn("user", "a"), Turn("user", "b"))))[1]
    (Turn(role='user', content='a\n\nb', thinking='', tool_calls=(), tool_name='', images=0),)
    """
    joined: list[Turn] = []
    system: list[str] = []
    pieces: list[list[str]] = []
    for turn in _with_image_marks(conversation.turns):
        if turn.role == "system":
            system.append(turn.content)
        apart = turn.role == "tool" and not conversation.merge_tool_turns
        if joined and joined[-1].role == turn.role and not apart:
            pieces[-1].append(turn.content)
        else:
            joined.append(turn)
            pieces.append([turn.content])
    merged = tuple(replace(turn, content="\n\n".join(parts)) for turn, parts in zip(joined, pieces, strict=True))
    return "\n\n".join(system), merged


def _with_image_marks(turns: Sequence[Turn]) -> list[Turn]:
    """The turns with `[img-N]` for each image: in place of `[img]` where the text has it, else in front."""
    marked, numbers = [], itertools.count()
    for turn in turns:
        front, content = "", turn.content
        for _ in range(turn.images):
            tag = f"[img-{next(numbers)}]"
            if "[img]" in content:
                content = content.replace("[img]", tag, 1)
            else:
                front += tag
        marked.append(replace(turn, content=front + content) if turn.images else turn)
    return marked
