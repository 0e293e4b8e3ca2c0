"""Does the prompt fit? Counted in the model's own tokens before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ollama_kit.errors import ContextOverflow
from ollama_kit.guard.conversation import Message
from ollama_kit.guard.profile import Profile
from ollama_kit.guard.report import CountKind
from ollama_kit.tokens.chat_template import ToolCall, Turn
from ollama_kit.tokens.prompt import PromptFacts, PromptRequest, count_prompt

ANSWER_RESERVE_TOKENS = 512
"""Room kept for an answer whose length the caller did not bound; a quarter of the window where that is less."""


@dataclass(frozen=True)
class Fitted:
    """A prompt that fits. `predicted_tokens` is what the server will count (`exact`), or no less than that (`bound`,
    `approximate`). `answer_tokens` is the room there is for the answer."""

    predicted_tokens: int
    predicted_as: CountKind
    answer_tokens: int


def fit_context(
    messages: Sequence[Message], profile: Profile, *, answer_tokens: int | None, think: bool, exact: bool = False
) -> Fitted:
    """The room that the messages leave in the window. ContextOverflow, with both numbers, where they leave less than
    the answer needs: `answer_tokens` if given, else a reserve.

    A bound from the bytes of the prompt is enough to know that it fits; it is counted where that is not enough, or
    `exact` asks for it.
    """
    window = profile.context_tokens
    reserve = min(answer_tokens or ANSWER_RESERVE_TOKENS, max(1, window // 4) if answer_tokens is None else window)
    available = window - reserve
    count = count_prompt(
        profile.tokenizer,
        PromptFacts.of(profile.facts, profile.version),
        PromptRequest(tuple(map(_turn, messages)), think=think),
        limit_tokens=None if exact else available,
    )
    if count.tokens > available:
        raise _overflow(count.tokens, available, profile, reserve, approximate=count.kind == "approximate")
    room = window - count.tokens
    return Fitted(count.tokens, count.kind, min(answer_tokens, room) if answer_tokens else room)


def _turn(message: Message) -> Turn:
    calls = (call.get("function", {}) for call in message.tool_calls)
    named = tuple(ToolCall(str(call.get("name", "")), call.get("arguments", {})) for call in calls)
    return Turn(message.role, message.content, tool_calls=named)


def _overflow(needed: int, available: int, profile: Profile, reserve: int, *, approximate: bool) -> ContextOverflow:
    about = "at most " if approximate else ""
    return ContextOverflow(
        f"the prompt is {about}{needed:,} tokens, and {available:,} fit: {profile.context_tokens:,} of context "
        f"({profile.context_from}) less {reserve:,} for the answer",
        needed_tokens=needed,
        available_tokens=available,
        hint=(
            "Shorten or split the text, or raise `context` in the spec and build it again.",
            "请缩短或拆分文本，或在规格文件里调大 `context` 后重新 build。",
        ),
    )
