"""The guarded call, written once: a generator that yields what to send and is sent what came back.

    sanitise → fit → send → read → check → retry where another try can help → Result

`Client` and `AsyncClient` drive it. Nothing here opens a socket, reads a clock or draws a number by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ollama_kit.errors import ContextOverflow, OutputInvalid, UsageError
from ollama_kit.guard.attempts import Verdict, chat_body, judge, record
from ollama_kit.guard.control_tokens import neutralise_control_tokens
from ollama_kit.guard.conversation import Message, Request, language_of
from ollama_kit.guard.fence import Fence
from ollama_kit.guard.fit import Fitted, fit_context
from ollama_kit.guard.profile import Profile
from ollama_kit.guard.report import Attempt, Report
from ollama_kit.guard.sanitise import Sanitised, sanitise
from ollama_kit.guard.watch import Heard, Watch
from ollama_kit.server import wire
from ollama_kit.server.wire import Call
from ollama_kit.structured.schema import Schema

RETRIED = frozenset({"schema", "not_json", "empty", "runaway", "incomplete"})
"""Outcomes that another try can mend. `length` is not among them: it gets more room, once."""


@dataclass(frozen=True)
class Listen:
    """A call to send, and the ear that its lines go to, until `heard.feed` says that it has heard enough."""

    call: Call
    heard: Heard


@dataclass(frozen=True)
class Result:
    """A valid answer. `value` is the checked data (or an instance of the class that was the schema); without a
    schema it is the text. `complete` is False only for plain text that the caller's own bound cut."""

    value: Any
    text: str
    thinking: str
    report: Report
    complete: bool = True
    tool_calls: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Surroundings:
    """What the flow takes from outside: the client's fence, a clock in seconds, a source of seeds, and whether to
    count exactly even where a bound proves that the prompt fits."""

    fence: Fence
    clock: Callable[[], float]
    draw_seed: Callable[[], int]
    count_exactly: bool = False


Steps = Generator[Listen, None, Result]


def guarded_chat(request: Request, profile: Profile, schema: Schema | None, around: Surroundings) -> Steps:
    """The whole of one guarded call. Returns a Result, or raises ContextOverflow, GuardBlocked or OutputInvalid;
    what the driver throws in (a ServerError) goes through."""
    if request.think and not profile.can_think:
        raise UsageError(f"{request.model} can not think; leave `think` out")
    call = _Call(request, profile, schema, around)
    return (yield from call.run())


class _Call:
    """One call on its way. `base` are the turns of every attempt; a retry adds the last failure and nothing older."""

    def __init__(self, request: Request, profile: Profile, schema: Schema | None, around: Surroundings) -> None:
        self.request, self.profile, self.schema, self.around = request, profile, schema, around
        self.started = around.clock()
        self.sanitised: Sanitised = sanitise(request, profile.control_tokens, around.fence, profile.facts.system)
        self.answer_tokens = request.answer_tokens
        self.seed = int(request.options.get("seed", profile.facts.parameters.get("seed", 0)) or around.draw_seed())
        self.attempts: list[Attempt] = []
        self.roomier = False

    def run(self) -> Steps:
        messages: Sequence[Message] = self.sanitised.messages
        while True:
            fitted = self._fit(messages)
            verdict, heard = yield from self._attempt(messages, fitted)
            if verdict.outcome == "valid" or self._cut_as_asked(verdict):
                return self._result(verdict, heard, fitted)
            if verdict.outcome == "length" and self._more_room(fitted):
                continue
            if verdict.outcome not in RETRIED or len(self.attempts) >= self.request.attempts:
                raise self._invalid(verdict, fitted)
            messages = self._with_feedback(verdict)

    def _fit(self, messages: Sequence[Message]) -> Fitted:
        def fitted(turns: Sequence[Message]) -> Fitted:
            return fit_context(
                turns,
                self.profile,
                answer_tokens=self.answer_tokens,
                think=bool(self.request.think),
                exact=self.around.count_exactly,
            )

        try:
            return fitted(messages)
        except ContextOverflow as error:
            if self.attempts:  # the first attempt fitted; what does not is the feedback
                raise OutputInvalid(
                    f"{self.attempts[-1].reason}, and there is no room to say so in another try: {error.message}",
                    attempts=self.attempts,
                ) from error
            raise

    def _attempt(self, messages: Sequence[Message], fitted: Fitted) -> Generator[Listen, None, tuple[Verdict, Heard]]:
        number, began = len(self.attempts) + 1, self.around.clock()
        body = chat_body(self.request, self.profile, messages, fitted, self.seed + number - 1, self.schema)
        heard = Heard(Watch())
        yield Listen(wire.chat(body), heard)
        verdict = judge(heard, self.schema)
        self.attempts.append(record(number, heard, verdict, body, self.around.clock() - began))
        return verdict, heard

    def _cut_as_asked(self, verdict: Verdict) -> bool:
        return verdict.outcome == "length" and self.schema is None and self.request.answer_tokens is not None

    def _more_room(self, fitted: Fitted) -> bool:
        """Twice the room, once: a cut answer is never repaired."""
        room = self.profile.context_tokens - fitted.predicted_tokens
        if self.roomier or fitted.answer_tokens >= room or len(self.attempts) >= self.request.attempts:
            return False
        self.roomier, self.answer_tokens = True, min(2 * fitted.answer_tokens, room)
        return True

    def _with_feedback(self, verdict: Verdict) -> Sequence[Message]:
        """The first turns again, and what is wrong with the last answer: nothing older, and the documents are kept.
        The part of the answer it repeats is as little trusted as what a user writes."""
        base = self.sanitised.messages
        asked = next((turn.content for turn in reversed(base) if turn.role == "user"), "")
        said = verdict.feedback(language_of(asked))
        if not said:
            return base
        changed, _ = neutralise_control_tokens(said, self.profile.control_tokens, "answer")
        return [*base, Message("user", changed.text)]

    def _result(self, verdict: Verdict, heard: Heard, fitted: Fitted) -> Result:
        complete = verdict.outcome == "valid"
        note = () if complete else (f"the answer was cut at {fitted.answer_tokens} tokens, as asked",)
        return Result(
            value=verdict.value if complete else verdict.text,
            text=verdict.text,
            thinking=verdict.thinking,
            report=self._report(fitted, note),
            complete=complete,
            tool_calls=tuple(heard.tool_calls),
        )

    def _report(self, fitted: Fitted, notes: tuple[str, ...] = ()) -> Report:
        last = self.attempts[-1]
        report = Report(
            model=self.request.model,
            host=self.profile.url,
            context_tokens=self.profile.context_tokens,
            context_from=self.profile.context_from,
            predicted_tokens=fitted.predicted_tokens,
            predicted_as=fitted.predicted_as,
            counted_tokens=last.prompt_tokens,
            answer_tokens=last.answer_tokens,
            findings=self.sanitised.findings,
            attempts=tuple(self.attempts),
            notes=notes,
            seconds=self.around.clock() - self.started,
        )
        if report.prediction_held is False:
            said = f"predicted {report.predicted_tokens} prompt tokens, the server counted {report.counted_tokens}"
            return replace(report, notes=(*notes, said))
        return report

    def _invalid(self, verdict: Verdict, fitted: Fitted) -> OutputInvalid:
        tries = "1 attempt" if len(self.attempts) == 1 else f"{len(self.attempts)} attempts"
        missing = (
            f" at {fitted.answer_tokens} tokens, and the window has no more" if verdict.outcome == "length" else ""
        )
        return OutputInvalid(f"no valid answer in {tries}; the last: {verdict.reason}{missing}", attempts=self.attempts)
