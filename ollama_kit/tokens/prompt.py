"""How many tokens a chat will be for the server: rendered whole, tokenized whole, before it is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from ollama_kit.modelfile.versions import ServerVersion
from ollama_kit.tokens.chat_template.markers import turn_markers
from ollama_kit.tokens.chat_template.template import DEFAULT_TEMPLATE, ChatTemplate
from ollama_kit.tokens.chat_template.template_errors import TemplateError, TemplateRefusal
from ollama_kit.tokens.chat_template.turns import RenderInput, Turn, assemble
from ollama_kit.tokens.native.native_prompt import NativeTemplate
from ollama_kit.tokens.template_choice import template_in_force
from ollama_kit.tokens.tokenizer import EndTokens

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
_TURN_TOKENS, _FIXED_TOKENS, _TOOLS_FIXED_TOKENS = 24, 64, 512
"""What a template that is not known here writes around a turn, around all of them, and for tools: the most that any of
the renderers of 0.32.15 was seen to write."""
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

    `template` is the Go TEMPLATE; `native` the Jinja text that the engine runs instead, "" where it does not, and
    `ends` the vocabulary's BOS and EOS for it. `examples` are the model's MESSAGE turns. `family` is its architecture,
    `name` its short name without tag. `version` None: unknown; what differs between versions is then approximate.
    """

    template: str
    system: str = ""
    examples: tuple[Turn, ...] = ()
    family: str = ""
    name: str = ""
    renderer: str = ""
    can_think: bool = False
    version: ServerVersion | None = None
    native: str = ""
    ends: EndTokens = field(default_factory=EndTokens)

    @classmethod
    def of(cls, facts: ModelFacts, version: ServerVersion | None = None, ends: EndTokens | None = None) -> PromptFacts:
        """The facts of a model as `/api/show` describes it, on a server of that version."""
        choice = template_in_force(facts, version)
        return cls(
            template="" if choice.is_native else facts.template,
            native=choice.template if choice.is_native else "",
            ends=ends or EndTokens(),
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

    `today` is the date on the server, for the few Go templates that print it; `now` its date and time, for Jinja
    templates (None: this machine's).
    """

    turns: tuple[Turn, ...]
    tools: tuple[Mapping[str, Any], ...] = ()
    think: bool | str | None = None
    today: date | None = None
    now: datetime | None = None


@dataclass(frozen=True)
class PromptCount:
    """The tokens of a prompt, and how they are known.

    `exact`: the server's own figure. `bound`: at least that, proven from the prompt's size. `approximate`: an
    estimate on the high side, with `because` saying why there is no better one. `rendered` is the prompt's text
    where it is known. `refusal` is what the template says where it does not take the conversation.
    """

    tokens: int
    kind: Kind
    rendered: str | None = None
    because: str = ""
    refusal: TemplateRefusal | None = field(default=None, compare=False)


def count_prompt(
    tokenizer: Counter, facts: PromptFacts, request: PromptRequest, *, limit_tokens: int | None = None
) -> PromptCount:
    """The tokens of a chat's prompt: what `prompt_eval_count` will say, where the server does not cut it.

    With `limit_tokens`, a prompt whose proven bound is within the limit is not tokenized. Never raises on a
    template: one that cannot be rendered here gives an approximate figure.
    """
    conversation = conversation_of(facts, request)
    try:
        rendered = render_prompt(facts, conversation, request.now)
    except TemplateError as error:
        refusal = error if isinstance(error, TemplateRefusal) else None
        return PromptCount(_estimate(tokenizer, facts, conversation), "approximate", None, error.problem, refusal)
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


def render_prompt(facts: PromptFacts, conversation: RenderInput, now: datetime | None = None) -> str:
    """The prompt as it is rendered here. TemplateRefusal where the template does not take the conversation,
    TemplateError for other failures, TemplateBeyondSubset where what the server writes is not known."""
    if facts.native:
        return NativeTemplate(facts.native, facts.ends).render(conversation, now or datetime.now())
    if facts.renderer:
        raise TemplateError(f"the prompt is written by the server's own renderer {facts.renderer!r}")
    if facts.template in ("", DEFAULT_TEMPLATE) and _reaches(facts.version, OWN_TEMPLATES):
        raise TemplateError("without a TEMPLATE the prompt may be ChatML, by the engine's own Jinja, or the bare text")
    rendered = ChatTemplate.parse(facts.template).render(conversation)
    if facts.ends.adds_bos and _reaches(facts.version, OWN_TEMPLATES):  # it is not put there twice
        return rendered.removeprefix("<bos>")
    return rendered


def refused_turn(facts: PromptFacts, request: PromptRequest) -> int | None:
    """The first of the caller's turns at which the template refuses the conversation, by rendering it turn by turn;
    None where that cannot be told here."""
    for end in range(1, len(request.turns) + 1):
        turns = request.turns[:end]
        if turns[-1].role == "assistant" and end < len(request.turns):
            turns = (*turns, Turn("user", "x"))  # else it would be a beginning that is to be continued
        part = replace(request, turns=turns)
        try:
            render_prompt(facts, conversation_of(facts, part), request.now)
        except TemplateRefusal:
            return end - 1
        except TemplateError:
            return None
    return None


def _doubt(tokenizer: Counter, facts: PromptFacts, conversation: RenderInput) -> str:
    """Why the rendered prompt may not be the server's; empty where it is."""
    turns = conversation.turns
    if not tokenizer.exact:
        return "the model's tokenizer cannot be run here"
    if any(turn.images for turn in turns):
        return "what an image costs depends on the model"
    tooled = bool(conversation.tools) or any(turn.tool_calls for turn in turns)
    since, until = TOOLS_KNOWN
    if facts.native:
        return ""
    if tooled and (not _reaches(facts.version, since) or _reaches(facts.version, until)):
        return "how tools are written differs between versions of the server"
    if facts.version is None and sum(turn.role == "tool" for turn in turns) > 1:
        return "whether tool turns are joined depends on the version of the server"
    if facts.version is None and conversation.think is None and facts.can_think:
        return "whether the model thinks unasked depends on the version of the server"
    return ""


def _estimate(tokenizer: Counter, facts: PromptFacts, conversation: RenderInput) -> int:
    """The tokens of what is said, and of what a template writes around it: its markers for each turn, its other text
    once."""
    turns = conversation.turns
    said = said_tokens(tokenizer, turns)
    if conversation.tools:
        said += tokenizer.count(json.dumps(list(conversation.tools), ensure_ascii=False, default=str), add_bos=False)
        said += _TOOLS_FIXED_TOKENS
    said += IMAGE_TOKENS * sum(turn.images for turn in turns)
    if facts.renderer or facts.native or facts.template in ("", DEFAULT_TEMPLATE):
        return said + _FIXED_TOKENS + _TURN_TOKENS * len(turns)
    fixed = tokenizer.count("".join(_ACTION.split(facts.template)))
    turn = tokenizer.count("".join(turn_markers(facts.template)), add_bos=False)
    return said + fixed + max(_TURN_TOKENS, turn) * len(turns)


def said_tokens(tokenizer: Counter, turns: Sequence[Turn]) -> int:
    """The tokens of what turns say, without anything that is around them."""
    said = sum(tokenizer.count(text, add_bos=False) for turn in turns for text in (turn.content, turn.thinking) if text)
    called = [{"name": call.name, "arguments": dict(call.arguments)} for turn in turns for call in turn.tool_calls]
    if called:
        said += tokenizer.count(json.dumps(called, ensure_ascii=False, default=str), add_bos=False)
    return said


def _reaches(version: ServerVersion | None, since: ServerVersion) -> bool:
    return version is not None and version.reaches(since)
