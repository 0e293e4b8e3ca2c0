"""Does the prompt fit? Counted in the model's own tokens before it is sent, and shortened only by a named rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ollama_kit.errors import ContextOverflow, TurnsRefused
from ollama_kit.guard.conversation import Document, Message, in_turn
from ollama_kit.guard.profile import Profile
from ollama_kit.guard.prompt_draft import NOTHING_SAID, Draft
from ollama_kit.guard.server_rendering import ServerRendering
from ollama_kit.records.report import CountKind
from ollama_kit.specs.model import Think
from ollama_kit.text.characters import cut_after, cut_before
from ollama_kit.text.language import language_of
from ollama_kit.tokens.chat_template import ToolCall, Turn
from ollama_kit.tokens.prompt import PromptCount, PromptFacts, PromptRequest, count_prompt, refused_turn

ANSWER_TOKENS = 512
THINKING_TOKENS = 2048
FEEDBACK_TOKENS = 256
"""Room kept where the caller did not bound the answer; never more than a quarter of the window each."""


# -- the context rules that shorten a prompt: each gives drafts from short to long, and the longest that fits wins

_LEFT_OUT = {"en": "[… {count} characters left out …]", "zh": "［……此处省略 {count} 个字符……］"}


@dataclass(frozen=True)
class Trimmed:
    """A draft that fits, and what is no longer in it: {"turns", "characters"}."""

    draft: Draft
    dropped: Mapping[str, int]


def drop_oldest(draft: Draft, fits: Callable[[Draft], bool]) -> Trimmed | None:
    """The draft without its oldest exchanges, as few as will do: whole turns, a question with its answers. System
    turns, turns marked `keep` and the last question stay, with its documents and all that came after it (a call of a
    tool and its result). None where even that is too long."""
    groups = _exchanges(draft)

    def keeping(newest: int) -> Draft:
        gone = {at for group in groups[: len(groups) - newest] for at in group}
        return replace(draft, turns=tuple(turn for at, turn in enumerate(draft.turns) if at not in gone))

    newest = _most(len(groups), lambda count: fits(keeping(count)))
    if newest is None:
        return None
    kept = keeping(newest)
    characters = _characters(draft.turns) - _characters(kept.turns)
    return Trimmed(kept, {"turns": len(draft.turns) - len(kept.turns), "characters": characters})


def middle_out(draft: Draft, fits: Callable[[Draft], bool]) -> Trimmed | None:
    """The draft with the middle of its longest document left out, and a mark in its place. None where that is not
    enough, or there is no document."""
    if not draft.documents:
        return None
    at = max(range(len(draft.documents)), key=lambda index: len(draft.documents[index].text))
    document = draft.documents[at]

    def keeping(characters: int) -> Draft:
        shorter = Document(_without_middle(document.text, characters), document.name)
        return replace(draft, documents=(*draft.documents[:at], shorter, *draft.documents[at + 1 :]))

    most = _most(len(document.text) - 1, lambda count: fits(keeping(count)))
    if most is None:
        return None
    head, tail = _ends(document.text, most)
    return Trimmed(keeping(most), {"characters": tail - head})


def _exchanges(draft: Draft) -> list[list[int]]:
    """The turns that may go, oldest first, a question together with what followed it."""
    groups: list[list[int]] = []
    for at, turn in enumerate(draft.turns[: draft.question]):
        if turn.role == "system" or turn.keep:
            continue
        if turn.role == "user" or not groups:
            groups.append([])
        groups[-1].append(at)
    return groups


def _most(high: int, fits: Callable[[int], bool]) -> int | None:
    """The largest count up to `high` that fits, None if not even 0 does. Looks from below, doubling, so that the work
    goes with what fits and not with what there is."""
    if not fits(0):
        return None
    low, step = 0, 1
    while low + step <= high and fits(low + step):
        low += step
        step *= 2
    high = min(high, low + step - 1)
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _ends(text: str, characters: int) -> tuple[int, int]:
    """Where the head ends and the tail begins when about so many characters are kept, never more."""
    head = cut_before(text, characters // 2)
    tail = cut_after(text, len(text) - (characters - characters // 2))
    return head, max(head, tail)


def _without_middle(text: str, characters: int) -> str:
    head, tail = _ends(text, characters)
    mark = _LEFT_OUT[language_of(text)].format(count=tail - head)
    return f"{text[:head]}\n{mark}\n{text[tail:]}"


def _characters(turns: Sequence[Message]) -> int:
    return sum(len(turn.content) for turn in turns)


def shorten_answered(draft: Draft, fits: Callable[[Draft], bool]) -> Draft:
    """The draft with as much of the failed answer, from its beginning, as fits; it is only a reminder."""

    def keeping(characters: int) -> Draft:
        return replace(draft, answered=draft.answered[: cut_before(draft.answered, characters)] + NOTHING_SAID)

    most = _most(len(draft.answered) - 1, lambda count: fits(keeping(count)))
    return keeping(most or 0)


TRIMMING = {"drop_oldest": drop_oldest, "middle_out": middle_out}


# -- what fits


@dataclass(frozen=True)
class TokenBudget:
    """How the window is shared. `answer_tokens` is the caller's bound, if any; `thinks` and `may_retry` ask for room
    for thinking and for what is said about a failed answer; `max_context` bounds the prompt further."""

    answer_tokens: int | None = None
    thinks: bool = False
    may_retry: bool = False
    max_context: int | None = None

    def reserved(self, window: int) -> int:
        """The tokens of the window that are not for the prompt."""
        most = max(1, window // 4)
        answer = min(ANSWER_TOKENS, most) if self.answer_tokens is None else min(self.answer_tokens, window)
        return answer + self.thinking(window) + (min(FEEDBACK_TOKENS, window // 8) if self.may_retry else 0)

    def thinking(self, window: int) -> int:
        """The tokens for thinking, beside those of the answer: the server counts both against one num_predict."""
        return min(THINKING_TOKENS, max(1, window // 4)) if self.thinks else 0

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
class PromptCounter:
    """Counts drafts for one model. With `exactly`, also where a bound from the bytes proves that a prompt fits. With a
    `server`, its own rendering is used where there is none here (counting then has to be `answered`)."""

    profile: Profile
    think: Think = False
    tools: Sequence[Mapping[str, object]] = ()
    exactly: bool = False
    server: ServerRendering | None = None

    def count(self, messages: Sequence[Message], limit: int | None = None) -> PromptCount:
        """The prompt's tokens; where `limit` is given, a bound is enough if it stays within.

        The cheapest way that suffices: the template rendered here, where that is known to be what the server does; a
        bound from what the template was seen to write around such turns; the server's own rendering of the whole.
        TurnsRefused where the template does not take the turns as they are.
        """
        profile, bounded = self.profile, None if self.exactly else limit
        tokenizer = profile.tokenizer
        facts = PromptFacts.of(profile.facts, profile.version, tokenizer.end_tokens)
        request = PromptRequest(tuple(map(_turn, messages)), tools=tuple(self.tools), think=self.think)
        here = count_prompt(tokenizer, facts, request, limit_tokens=bounded)
        if not facts.native and here.kind != "approximate":
            return here
        known = here.rendered is not None or here.refusal is not None
        if self.server is None or not self.server.is_there or not tokenizer.exact or _shows_images(messages):
            return replace(here, kind="approximate", because=here.because or NOT_COMPARED)
        if facts.native and known and self.server.agrees(request.turns, bool(self.tools), self.think):
            if here.refusal is not None:
                raise _refused(facts, request, here.refusal.problem, here.refusal.line)
            return here
        bound = self._around(request, self.server) if bounded is not None else None
        if bound is not None and bounded is not None and bound <= bounded:
            return PromptCount(bound, "bound")
        return self._by_server(messages, request, facts, here, self.server)

    def _around(self, request: PromptRequest, server: ServerRendering) -> int | None:
        """The most tokens that such turns can be, by what the server's template writes around them; None where tools
        take part."""
        turns = request.turns
        if request.tools or any(turn.tool_calls or turn.role == "tool" for turn in turns):
            return None
        skeleton = server.skeleton(turns, self.think)
        if skeleton is None:
            return None
        said = sum(len(turn.content.encode("utf-8", "surrogatepass")) for turn in turns)
        bound = self.profile.tokenizer.bound
        return bound.per_byte * (said + skeleton.around_bytes) + bound.fixed

    def _by_server(
        self,
        messages: Sequence[Message],
        request: PromptRequest,
        facts: PromptFacts,
        here: PromptCount,
        server: ServerRendering,
    ) -> PromptCount:
        rendered = server.of(messages, self.tools, self.think)
        if rendered.refusal:
            raise _refused(facts, request, rendered.refusal, 0)
        if not server.is_there:
            return replace(here, kind="approximate", because=here.because or NOT_COMPARED)
        if server.dropped(rendered.text, messages):
            more = self.profile.context_tokens + 1
            return PromptCount(
                max(here.tokens, more), "approximate", None, "the server leaves turns out to make it fit"
            )
        text = server.as_counted(rendered.text)
        return PromptCount(self.profile.tokenizer.count(text), "exact", text)


NOT_COMPARED = "the rendering here could not be compared with the server's"


def _shows_images(messages: Sequence[Message]) -> bool:
    return any(message.images for message in messages)


def _refused(facts: PromptFacts, request: PromptRequest, words: str, line: int) -> TurnsRefused:
    """The error for turns that a template does not take: where, and in whose words."""
    at = refused_turn(facts, request)
    place = "" if at is None else f" at message {at + 1} ({request.turns[at].role})"
    where = f" (line {line} of the template)" if line else ""
    return TurnsRefused(f"the model's chat template refuses the conversation{place}: {words}{where}", turn=at)


def fit_context(draft: Draft, room: TokenBudget, counting: PromptCounter, rule: str = "error") -> Fitted:
    """The draft, shortened by `rule` where it does not fit. ContextOverflow, with both numbers, where the rule is
    "error", or the shortest that it allows is still too long."""
    window = counting.profile.context_tokens
    available = room.for_prompt(window)

    def fits(shorter: Draft) -> bool:
        return counting.count(as_sent(shorter, counting.profile), available).tokens <= available

    messages = as_sent(draft, counting.profile)
    count = counting.count(messages, available)
    if count.tokens > available and draft.answered:
        draft = shorten_answered(draft, fits)
        messages = as_sent(draft, counting.profile)
        count = counting.count(messages, available)
    if count.tokens <= available:
        return _fitted(draft, messages, count, room, window)
    trim = TRIMMING.get(rule)
    trimmed = trim(draft, fits) if trim else None
    if trimmed is None:
        raise _overflow(count, available, counting.profile, room)
    messages = as_sent(trimmed.draft, counting.profile)
    shorter = counting.count(messages, available)
    dropped = {**trimmed.dropped, "tokens": count.tokens - shorter.tokens}
    return _fitted(trimmed.draft, messages, shorter, room, window, dropped)


def as_sent(draft: Draft, profile: Profile) -> tuple[Message, ...]:
    """The turns of a draft as the server gets them. Where a Go template runs, the server itself joins neighbors of one
    role; else they are joined here."""
    messages = draft.messages()
    return messages if profile.template.runs == "go" else in_turn(messages)


def fit_raw(prompt: str, draft: Draft, room: TokenBudget, counting: PromptCounter) -> Fitted:
    """A prompt that is sent as it is. ContextOverflow where it does not fit: nothing is cut from what the caller has
    rendered."""
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
    room: TokenBudget,
    window: int,
    dropped: Mapping[str, int] | None = None,
) -> Fitted:
    free = window - count.tokens
    answer = free if room.answer_tokens is None else min(room.answer_tokens + room.thinking(window), free)
    return Fitted(draft, messages, count.tokens, count.kind, answer, dropped or {})


def _turn(message: Message) -> Turn:
    calls = (call.get("function", {}) for call in message.tool_calls)
    named = tuple(ToolCall(str(call.get("name", "")), call.get("arguments", {})) for call in calls)
    return Turn(
        message.role, message.content, tool_calls=named, tool_name=message.tool_name, images=len(message.images)
    )


def _overflow(count: PromptCount, available: int, profile: Profile, room: TokenBudget) -> ContextOverflow:
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
