"""Does the prompt fit? Counted in the model's own tokens before it is sent, and shortened only by a named rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ollama_kit.errors import ContextOverflow
from ollama_kit.guard.conversation import Message
from ollama_kit.guard.profile import Profile
from ollama_kit.guard.sanitize import Draft
from ollama_kit.guard.trimming import drop_oldest, middle_out
from ollama_kit.records.report import CountKind
from ollama_kit.tokens.chat_template import ToolCall, Turn
from ollama_kit.tokens.prompt import PromptCount, PromptFacts, PromptRequest, count_prompt

ANSWER_TOKENS = 512
THINKING_TOKENS = 2048
FEEDBACK_TOKENS = 256
"""Room kept where the caller did not bound the answer; never more than a quarter of the window each."""

TRIMMING = {"drop_oldest": drop_oldest, "middle_out": middle_out}


@dataclass(frozen=True)
class Room:
    """How the window is shared. `answer_tokens` is the caller's bound, if any; `thinks` and `may_retry` ask for room
    for thinking and for what is said about a failed answer; `max_context` bounds the prompt further."""

    answer_tokens: int | None = None
    thinks: bool = False
    may_retry: bool = False
    max_context: int | None = None

    def reserved(self, window: int) -> int:
        """The tokens of the window that are not for the prompt."""
        most = max(1, window // 4)
        if self.answer_tokens is not None:  # the server counts thinking against the same bound
            answer = min(self.answer_tokens, window)
        else:
            answer = min(ANSWER_TOKENS, most) + (min(THINKING_TOKENS, most) if self.thinks else 0)
        return answer + (min(FEEDBACK_TOKENS, window // 8) if self.may_retry else 0)

    def for_prompt(self, window: int) -> int:
        """The tokens there are for the prompt."""
        free = window - self.reserved(window)
        return free if self.max_context is None else min(free, self.max_context)


@dataclass(frozen=True)
class Fitted:
    """A prompt that fits. `predicted_tokens` is what the server will count (`exact`), or no less than that (`bound`,
    `approximate`); `answer_tokens` the room there is for the answer; `dropped` what the context rule left out, in
    "turns", "characters" and "tokens"."""

    draft: Draft
    messages: tuple[Message, ...]
    predicted_tokens: int
    predicted_as: CountKind
    answer_tokens: int
    dropped: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Counting:
    """Counts drafts for one model. With `exactly`, also where a bound from the bytes proves that a prompt fits."""

    profile: Profile
    think: bool = False
    tools: Sequence[Mapping[str, object]] = ()
    exactly: bool = False

    def count(self, messages: Sequence[Message], limit: int | None = None) -> PromptCount:
        """The prompt's tokens; where `limit` is given, a bound is enough if it stays within."""
        return count_prompt(
            self.profile.tokenizer,
            PromptFacts.of(self.profile.facts, self.profile.version),
            PromptRequest(tuple(map(_turn, messages)), tools=tuple(self.tools), think=self.think),
            limit_tokens=None if self.exactly else limit,
        )


def fit_context(draft: Draft, room: Room, counting: Counting, rule: str = "error") -> Fitted:
    """The draft, shortened by `rule` where it does not fit. ContextOverflow, with both numbers, where the rule is
    "error", or the shortest that it allows is still too long."""
    window = counting.profile.context_tokens
    available = room.for_prompt(window)
    messages = draft.messages()
    count = counting.count(messages, available)
    if count.tokens <= available:
        return _fitted(draft, messages, count, room, window)
    trim = TRIMMING.get(rule)
    trimmed = (
        trim(draft, lambda shorter: counting.count(shorter.messages(), available).tokens <= available) if trim else None
    )
    if trimmed is None:
        raise _overflow(count, available, counting.profile, room)
    messages = trimmed.draft.messages()
    shorter = counting.count(messages, available)
    dropped = {**trimmed.dropped, "tokens": count.tokens - shorter.tokens}
    return _fitted(trimmed.draft, messages, shorter, room, window, dropped)


def fit_raw(prompt: str, draft: Draft, room: Room, counting: Counting) -> Fitted:
    """A prompt that is sent as it is. ContextOverflow where it does not fit: nothing is cut from what the caller has
    rendered himself."""
    tokenizer, window = counting.profile.tokenizer, counting.profile.context_tokens
    count = PromptCount(tokenizer.count(prompt), "exact" if tokenizer.exact else "approximate", prompt)
    available = room.for_prompt(window)
    if count.tokens > available:
        raise _overflow(count, available, counting.profile, room)
    return _fitted(draft, (), count, room, window)


def _fitted(
    draft: Draft,
    messages: tuple[Message, ...],
    count: PromptCount,
    room: Room,
    window: int,
    dropped: Mapping[str, int] | None = None,
) -> Fitted:
    free = window - count.tokens
    answer = free if room.answer_tokens is None else min(room.answer_tokens, free)
    return Fitted(draft, messages, count.tokens, count.kind, answer, dropped or {})


def _turn(message: Message) -> Turn:
    calls = (call.get("function", {}) for call in message.tool_calls)
    named = tuple(ToolCall(str(call.get("name", "")), call.get("arguments", {})) for call in calls)
    return Turn(
        message.role, message.content, tool_calls=named, tool_name=message.tool_name, images=len(message.images)
    )


def _overflow(count: PromptCount, available: int, profile: Profile, room: Room) -> ContextOverflow:
    about = "at most " if count.kind == "approximate" else ""
    window = profile.context_tokens
    kept = window - room.reserved(window)
    why = f"{window:,} of context ({profile.context_from}) less {room.reserved(window):,} kept for the answer"
    if kept > available:
        why = f"max_context, of a window of {window:,}"
    return ContextOverflow(
        f"the prompt is {about}{count.tokens:,} tokens, and {available:,} fit: {why}",
        needed_tokens=count.tokens,
        available_tokens=available,
        hint=(
            "Shorten or split the text, let the policy's `context` drop something, or raise `context` in the spec.",
            "请缩短或拆分文本，在策略里设置 `context` 的裁剪规则，或在规格文件里调大 `context`。",
        ),
    )
