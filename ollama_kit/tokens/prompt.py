"""How many tokens a chat will be for the server: rendered whole, tokenized whole, before it is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.tokens.chat_template.template import DEFAULT_TEMPLATE, ChatTemplate
from ollama_kit.tokens.chat_template.template_errors import TemplateError
from ollama_kit.tokens.chat_template.turns import RenderInput, Turn, assemble

if TYPE_CHECKING:
    from ollama_kit.server.facts import ModelFacts

TOOL_TURNS_APART = ServerVersion(0, 9, 6)
"""From here on, neighboring turns of the role tool are not joined."""
TOOLS_KNOWN = (ServerVersion(0, 9, 0), ServerVersion(0, 11, 0))
"""From the first to before the second, tools are written as here; later it changed several times."""
THINKS_UNASKED = ServerVersion(0, 12, 4)
"""From here on, a model that can think does so where the request does not say."""
OWN_TEMPLATES = ServerVersion(0, 30, 0)
"""From here on, a model without TEMPLATE is rendered by the Jinja template inside its weights."""

IMAGE_TOKENS = 768
"""What the server itself assumes for an image when it truncates (server/prompt.go)."""
_RENDERER_TURN_TOKENS, _RENDERER_FIXED_TOKENS, _TOOLS_FIXED_TOKENS = 16, 64, 512
_ACTION = re.compile(r"\{\{.*?\}\}", re.DOTALL)

Kind = Literal["exact", "bound", "approximate"]


class Counter(Protocol):
    """What counting needs of a Tokenizer."""

    @property
    def exact(self) -> bool: ...

    def count(self, text: str, *, add_bos: bool = True) -> int: ...

    def upper_bound(self, text: str) -> int: ...


@dataclass(frozen=True)
class PromptFacts:
    """What decides, on the server's side, how a conversation becomes a prompt.

    `examples` are the model's MESSAGE turns. `family` is its architecture, `name` its short name without tag.
    `version` None: unknown; what differs between versions is then approximate.
    """

    template: str
    system: str = ""
    examples: tuple[Turn, ...] = ()
    family: str = ""
    name: str = ""
    renderer: str = ""
    can_think: bool = False
    version: ServerVersion | None = None

    @classmethod
    def of(cls, facts: ModelFacts, version: ServerVersion | None = None) -> PromptFacts:
        """The facts of a model as `/api/show` describes it, on a server of that version."""
        return cls(
            template=facts.template,
            system=facts.system,
            examples=tuple(Turn(role, content) for role, content in facts.messages),
            family=facts.architecture,
            name=facts.name.rsplit("/", 1)[-1].split(":", 1)[0],
            renderer=facts.renderer,
            can_think="thinking" in facts.capabilities,
            version=version,
        )

    @property
    def strips_thinking(self) -> bool:
        """Whether the server takes `<think>…</think>` out of earlier answers (filterThinkTags)."""
        return self.family == "qwen3" or self.name == "deepseek-r1"


@dataclass(frozen=True)
class PromptRequest:
    """One call of `/api/chat`, as far as its prompt goes: oldest turn first, `tools` and `think` as in the request.

    `today` is the date on the server, for the few templates that print it.
    """

    turns: tuple[Turn, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    think: bool | str | None = None
    today: date | None = None


@dataclass(frozen=True)
class PromptCount:
    """The tokens of a prompt, and how they are known.

    `exact`: the server's own figure. `bound`: at least that, proven from the prompt's size. `approximate`: an
    estimate on the high side, with `because` saying why there is no better one. `rendered` is the prompt's text
    where it is known.
    """

    tokens: int
    kind: Kind
    rendered: str | None = None
    because: str = ""


def count_prompt(
    tokenizer: Counter, facts: PromptFacts, request: PromptRequest, *, limit_tokens: int | None = None
) -> PromptCount:
    """The tokens of a chat's prompt: what `prompt_eval_count` will say, where the server does not cut it.

    With `limit_tokens`, a prompt whose proven bound is within the limit is not tokenized. Never raises on a
    template: one that cannot be rendered here gives an approximate figure.
    """
    conversation = conversation_of(facts, request)
    try:
        rendered = _render(facts, conversation)
    except TemplateError as error:
        return PromptCount(_estimate(tokenizer, facts, conversation), "approximate", None, error.problem)
    images = IMAGE_TOKENS * sum(turn.images for turn in conversation.turns)
    because = _doubt(tokenizer, facts, conversation)
    if because:
        return PromptCount(tokenizer.count(rendered) + images, "approximate", rendered, because)
    if limit_tokens is not None and (bound := tokenizer.upper_bound(rendered)) <= limit_tokens:
        return PromptCount(bound, "bound", rendered)
    return PromptCount(tokenizer.count(rendered), "exact", rendered)


def conversation_of(facts: PromptFacts, request: PromptRequest) -> RenderInput:
    """What the server hands to the template for a request: its own system text and turns put in."""
    turns = assemble(
        request.turns,
        system=facts.system,
        examples=facts.examples,
        strip_thinking=facts.strips_thinking,
    )
    think = request.think
    if think is None and facts.can_think and _reaches(facts.version, THINKS_UNASKED):
        think = True
    return RenderInput(
        turns,
        tools=request.tools,
        think=think,
        today=request.today,
        merge_tool_turns=facts.version is not None and not _reaches(facts.version, TOOL_TURNS_APART),
    )


def _render(facts: PromptFacts, conversation: RenderInput) -> str:
    if facts.renderer:
        raise TemplateError(f"the prompt is written by the server's own renderer {facts.renderer!r}")
    if facts.template in ("", DEFAULT_TEMPLATE) and _reaches(facts.version, OWN_TEMPLATES):
        raise TemplateError("the prompt may be written by the Jinja template inside the weights")
    return ChatTemplate.parse(facts.template).render(conversation)


def _doubt(tokenizer: Counter, facts: PromptFacts, conversation: RenderInput) -> str:
    """Why the rendered prompt may not be the server's; empty where it is."""
    turns = conversation.turns
    if not tokenizer.exact:
        return "the model's tokenizer cannot be run here"
    if any(turn.images for turn in turns):
        return "what an image costs depends on the model"
    tooled = bool(conversation.tools) or any(turn.tool_calls for turn in turns)
    since, until = TOOLS_KNOWN
    if tooled and (not _reaches(facts.version, since) or _reaches(facts.version, until)):
        return "how tools are written differs between versions of the server"
    if facts.version is None and sum(turn.role == "tool" for turn in turns) > 1:
        return "whether tool turns are joined depends on the version of the server"
    if facts.version is None and conversation.think is None and facts.can_think:
        return "whether the model thinks unasked depends on the version of the server"
    return ""


def _estimate(tokenizer: Counter, facts: PromptFacts, conversation: RenderInput) -> int:
    """The tokens of what is said, plus all literal text of the template once for each turn and once more."""
    turns = conversation.turns
    said = sum(tokenizer.count(text, add_bos=False) for turn in turns for text in (turn.content, turn.thinking) if text)
    called = [{"name": call.name, "arguments": dict(call.arguments)} for turn in turns for call in turn.tool_calls]
    for extra in (called, list(conversation.tools)):
        if extra:
            said += tokenizer.count(json.dumps(extra, ensure_ascii=False, default=str), add_bos=False)
    said += _TOOLS_FIXED_TOKENS if conversation.tools else 0
    said += IMAGE_TOKENS * sum(turn.images for turn in turns)
    if facts.renderer or facts.template in ("", DEFAULT_TEMPLATE):
        return said + _RENDERER_FIXED_TOKENS + _RENDERER_TURN_TOKENS * len(turns)
    around = tokenizer.count("".join(_ACTION.split(facts.template)))
    return said + around * (len(turns) + 1)


def _reaches(version: ServerVersion | None, since: ServerVersion) -> bool:
    return version is not None and version.reaches(since)
