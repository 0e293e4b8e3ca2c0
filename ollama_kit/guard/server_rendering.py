"""What only the server can say of a prompt: its own rendering, asked for in the middle of counting.

Counting is plain code: where it needs an answer of the server that is not known yet, it raises a Question, and
`ServerRendering.answered` runs it again once the answer is there. Answers are kept, so nothing is asked twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeVar

from ollama_kit.errors import ServerRefused
from ollama_kit.guard.conversation import Message, sent_message
from ollama_kit.guard.profile import Profile
from ollama_kit.modelfile.versions import supports
from ollama_kit.server import wire
from ollama_kit.server.wire import JSON, Call, Deadline
from ollama_kit.specs.model import Think
from ollama_kit.tokens.chat_template import Turn
from ollama_kit.tokens.chat_template.template_errors import TemplateBeyondSubset, TemplateError, TemplateRefusal
from ollama_kit.tokens.prompt import PromptFacts, PromptRequest, conversation_of, render_prompt
from ollama_kit.tokens.rendering import (
    SAMPLES,
    TOOL,
    KnownRenderings,
    Skeleton,
    features_of,
    known_renderings,
    missing_turns,
    skeleton_of,
)

T = TypeVar("T")
MOST_QUESTIONS = 200
"""For one fit; more would mean that counting never comes to an end."""


class Question(Exception):
    """Counting cannot go on without the server's rendering of `call`; its answer goes under `key`."""

    def __init__(self, call: Call, key: str) -> None:
        super().__init__("the server has to be asked")
        self.call, self.key = call, key


@dataclass(frozen=True)
class Rendered:
    """The server's answer: the prompt, or what its template says against the conversation."""

    text: str = ""
    refusal: str = ""


@dataclass(frozen=True)
class ServerRendering:
    """The server's renderings for the calls of one model. `options` are those of the call, so that the model is not
    loaded with others; `deadline` gives that of the call, since a rendering may have to load the model."""

    profile: Profile
    options: Mapping[str, Any] = field(default_factory=dict)
    deadline: Callable[[], Deadline | None] = lambda: None
    _answers: dict[str, Rendered] = field(default_factory=dict)

    @property
    def is_there(self) -> bool:
        """Whether this server renders on request, as far as is known."""
        return supports(self.profile.version, "debug_render") and self.known.is_served

    @cached_property
    def known(self) -> KnownRenderings:
        """What is kept of this model's renderings."""
        facts, version = self.profile.facts, self.profile.version
        choice = self.profile.template
        return known_renderings(facts.digest, choice.template or choice.renderer, str(version))

    def answered(self, work: Callable[[], T]) -> Generator[Call, JSON, T]:
        """What `work` gives, run until it asks nothing more."""
        for _ in range(MOST_QUESTIONS):
            try:
                return work()
            except Question as question:
                self._answers[question.key] = yield from self._asked(question)
        raise AssertionError("counting asks without end")

    def _asked(self, question: Question) -> Generator[Call, JSON, Rendered]:
        try:
            reply = yield question.call
        except ServerRefused as error:
            if error.reason != "template":
                raise
            return Rendered(refusal=error.message.partition(f"refused with {error.status}: ")[2] or error.message)
        text = wire.rendered(reply)
        if text is None:  # it has answered instead: a proxy, or a server of another make
            self.known.is_served = False
            return Rendered()
        return Rendered(text)

    def of(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], think: Think) -> Rendered:
        """The server's rendering of a conversation, exactly as it will be sent."""
        return self._rendered([sent_message(message) for message in messages], tools, think)

    def agrees(self, turns: Sequence[Turn], tools: bool, think: Think) -> bool:
        """Whether conversations like this one are rendered here as the server does it: found out on a small sample of
        each of their features, once for a model."""
        known = self.known
        for feature in features_of(turns, tools=tools):
            name = f"{feature}/{think}"
            if name not in known.agrees:
                known.learn(name, self._is_alike(feature, think))
            if not known.agrees[name]:
                return False
        return True

    def skeleton(self, turns: Sequence[Turn], think: Think) -> Skeleton | None:
        """What the server's template writes around turns of these roles; None where it does not say."""
        known, name = self.known, f"{'-'.join(turn.role for turn in turns)}/{think}"
        if name not in known.skeletons:
            bare = skeleton_of(turns)
            rendered = self._rendered([_plain(turn) for turn in bare], (), think)
            if rendered.refusal or not self.is_there or len(rendered.text) < len(bare):
                return None
            count = self.profile.tokenizer.count
            said = sum(count(turn.content, add_bos=False) for turn in bare)
            around = Skeleton(len(rendered.text.encode()) - len(bare), count(self.as_counted(rendered.text)) - said)
            known.measure(name, around)
        return known.skeletons[name]

    def as_counted(self, rendered: str) -> str:
        """The text that the engine cuts into tokens: a BOS that it puts there by itself is taken away before."""
        ends, native = self.profile.tokenizer.end_tokens, supports(self.profile.version, "native_templates")
        if not native or not ends.adds_bos:
            return rendered
        start = next((bos for bos in (ends.bos, "<bos>") if bos and rendered.startswith(bos)), "")
        return rendered[len(start) :]

    def dropped(self, rendered: str, messages: Sequence[Message]) -> bool:
        """Whether the server has left turns out before it rendered; newer ones are told not to."""
        turns = [Turn(message.role, message.content) for message in messages]
        return not supports(self.profile.version, "truncate") and any(True for _ in missing_turns(rendered, turns))

    def _is_alike(self, feature: str, think: Think) -> bool:
        turns, tools = SAMPLES[feature], (TOOL,) if feature == "tools" else ()
        facts = PromptFacts.of(self.profile.facts, self.profile.version, self.profile.tokenizer.end_tokens)
        try:
            here = render_prompt(facts, conversation_of(facts, PromptRequest(turns, tools, think)))
        except TemplateBeyondSubset:
            return False
        except TemplateRefusal:
            here = ""
        except TemplateError:
            return False
        theirs = self._rendered([_plain(turn) for turn in turns], tools, think)
        return self.is_there and (theirs.text == here if here else bool(theirs.refusal))

    def _rendered(self, messages: Sequence[JSON], tools: Sequence[Mapping[str, Any]], think: Think) -> Rendered:
        body = self._body(messages, tools, think)
        call = replace(wire.render(body), deadline=self.deadline())
        key = hashlib.sha256(call.sent).hexdigest()
        if key not in self._answers:
            raise Question(call, key)
        return self._answers[key]

    def _body(self, messages: Sequence[JSON], tools: Sequence[Mapping[str, Any]], think: Think) -> dict[str, Any]:
        profile = self.profile
        options = {**self.options, "num_ctx": profile.context_tokens}
        body: dict[str, Any] = {"model": profile.facts.name, "messages": list(messages), "think": think}
        body["options"] = options
        if tools:
            body["tools"] = [dict(tool) for tool in tools]
        if profile.spec is not None and profile.spec.keep_alive is not None:
            body["keep_alive"] = profile.spec.keep_alive
        if supports(profile.version, "truncate"):
            body |= {"truncate": False, "shift": False}
        return body


def _plain(turn: Turn) -> JSON:
    """A sample's turn as it is sent."""
    calls = [{"function": {"name": call.name, "arguments": dict(call.arguments)}} for call in turn.tool_calls]
    tool = {"tool_name": turn.tool_name} if turn.tool_name else {}
    return {"role": turn.role, "content": turn.content, **({"tool_calls": calls} if calls else {}), **tool}
