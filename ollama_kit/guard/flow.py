"""The guarded call, written once: a generator that yields what to send and is sent what came back.

    sanitise → fit → send → read → check → retry where another try can help → Result

`Client` and `AsyncClient` drive it. Nothing here opens a socket, reads a clock or draws a number by itself.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace

from ollama_kit.errors import ContextOverflow, OllamaKitError, OutputInvalid, ProtocolError, UsageError
from ollama_kit.guard import events
from ollama_kit.guard.attempts import record, request_call
from ollama_kit.guard.budget import Budget
from ollama_kit.guard.control_tokens import neutralise_control_tokens
from ollama_kit.guard.conversation import Request, language_of
from ollama_kit.guard.evidence import Evidence, Sources
from ollama_kit.guard.exchange import Listen, Result, Surroundings
from ollama_kit.guard.fit import Counting, Fitted, Room, fit_context, fit_raw
from ollama_kit.guard.leaks import find_leaks
from ollama_kit.guard.policy import Policy
from ollama_kit.guard.private.placeholders import Placeholders
from ollama_kit.guard.profile import Profile
from ollama_kit.guard.report import Attempt, Finding, Report
from ollama_kit.guard.sanitise import sanitise
from ollama_kit.guard.stages import Guards
from ollama_kit.guard.verdict import Reader, Restorer, Verdict
from ollama_kit.guard.watch import Heard, Watch
from ollama_kit.structured.schema import Schema

RETRIED = frozenset({"schema", "not_json", "evidence", "empty", "runaway", "incomplete"})
"""Outcomes that another try can mend. `length` is not among them: it gets more room, once."""


Steps = Generator[Listen, None, Result]


def guarded_call(
    request: Request, profile: Profile, policy: Policy, schema: Schema | None, around: Surroundings
) -> Steps:
    """The whole of one guarded call. Returns a Result, or raises ContextOverflow, GuardBlocked or OutputInvalid;
    what the driver throws in (a ServerError) goes through. However it ends, the hooks are told at last; what a hook
    raises then is raised instead."""
    if request.think and not profile.can_think:
        raise UsageError(f"{request.model} can not think; leave `think` out")
    call = _Call(request, profile, policy, schema, around)
    try:
        result = yield from call.run()
    except OllamaKitError as error:
        call.finish(None, error)
        raise
    except (
        BaseException
    ):  # the driver has left (a loop over the stream was ended, Ctrl-C was pressed), or a stage broke
        call.finish(None, None)
        raise
    call.finish(result, result.failure)
    return result


class _Call:
    """One call on its way. A retry adds the last failure to the first draft, and nothing older."""

    def __init__(
        self, request: Request, profile: Profile, policy: Policy, schema: Schema | None, around: Surroundings
    ) -> None:
        self.request, self.profile, self.policy, self.schema, self.around = request, profile, policy, schema, around
        self.started = around.clock()
        self.budget = Budget(policy, around.clock, self.started)
        self.placeholders = Placeholders()
        self.findings: list[Finding] = []
        self.counting = Counting(profile, request.think, request.tools, around.count_exactly)
        self.answer_tokens = request.answer_tokens
        self.seed = _seed(request, profile) or around.draw_seed()
        self.attempts: list[Attempt] = []
        self.roomier = False

    def run(self) -> Steps:
        self._clean()
        feedback = ""
        while True:
            fitted = self._fit(feedback)
            verdict, heard = yield from self._attempt(fitted)
            if verdict.outcome == "valid" or self._cut_as_asked(verdict):
                return self._result(verdict, heard, fitted)
            if verdict.outcome == "length" and self._more_room(fitted):
                continue
            if (
                verdict.outcome not in RETRIED
                or len(self.attempts) >= self.policy.attempts
                or self.budget.spent(self.attempts)
            ):
                return self._failed(verdict, fitted)
            feedback = self._feedback(verdict)

    def tell(self, event: events.Event) -> None:
        events.announce(event, self.around.hooks)

    def finish(self, result: Result | None, error: OllamaKitError | None) -> None:
        """Tells how the call ended."""
        self.tell(
            events.Finished(
                request=self.request,
                report=None if result is None else result.report,
                answer="" if result is None else result.text,
                error=error,
                digest=self.profile.facts.digest,
                host=self.profile.url,
                policy=self.policy.name,
                findings=tuple(self.findings),
                attempts=tuple(self.attempts),
                seconds=self.around.clock() - self.started,
            )
        )

    # -- sanitise

    def _clean(self) -> None:
        guards = Guards(self.policy, self.profile.control_tokens, self.placeholders)
        system = "" if self.request.raw is not None else self.profile.facts.system
        cleaned = sanitise(self.request, guards, self.around.fence, system)
        self.draft, self.findings = cleaned.draft, list(cleaned.findings)
        self.tell(events.Cleaned(cleaned.findings))
        self.reader = self._reader(cleaned.findings)

    # -- fit

    def _fit(self, feedback: str) -> Fitted:
        """The draft with what is said about the last answer, fitted; a later attempt keeps what the first one had."""
        raw = self.request.raw
        may_retry = self.schema is not None and self.policy.attempts > 1 and not feedback and raw is None
        bound = self.budget.bounded(self.answer_tokens, self.attempts)
        room = Room(bound, self.request.think, may_retry, self.policy.max_context)
        try:
            if raw is not None:
                fitted = fit_raw(raw, self.draft, room, self.counting)
            else:
                fitted = fit_context(replace(self.draft, feedback=feedback), room, self.counting, self.policy.context)
        except ContextOverflow as error:
            if self.attempts:  # the first attempt fitted; what does not is the feedback
                raise OutputInvalid(
                    f"{self.attempts[-1].reason}, and there is no room to say so in another try: {error.message}",
                    attempts=self.attempts,
                ) from error
            raise
        dropped = fitted.dropped.get("tokens", 0)
        self.tell(events.Measured(fitted.predicted_tokens, fitted.predicted_as, fitted.answer_tokens, dropped))
        return fitted

    # -- send and read

    def _attempt(self, fitted: Fitted) -> Generator[Listen, None, tuple[Verdict, Heard]]:
        number, began = len(self.attempts) + 1, self.around.clock()
        seed = self.seed + number - 1
        call = request_call(self.request, self.profile, fitted, seed, self.schema)
        heard = Heard(Watch(), self.budget.out_of_time)
        self.tell(events.Asked(number, seed))
        try:
            yield Listen(call, heard, number, self.reader.restore)
        except ProtocolError:
            if not heard.lines:  # not an answer at all; one that stopped half-way is a failed attempt
                raise
        verdict = self.reader.judge(heard)
        self.attempts.append(record(number, heard, verdict, call, self.around.clock() - began))
        self.tell(events.Answered(self.attempts[-1]))
        return verdict, heard

    def _reader(self, findings: Sequence[Finding]) -> Reader:
        fence, documents = self.around.fence, self.request.documents
        broken = frozenset(found.detail for found in findings if found.stage == "control_tokens")
        keys = [fence.key(document.text) for document in self.draft.documents] if self.draft.fence else []
        asked = "\n".join(turn.content for turn in self.draft.turns if turn.role != "system")

        def leaks(answer: str) -> tuple[Finding, ...]:
            return find_leaks(answer, keys, self.profile.facts.system, asked)

        return Reader(self.schema, self.policy, Restorer(self.placeholders, broken), Sources(documents), leaks)

    # -- retry

    def _cut_as_asked(self, verdict: Verdict) -> bool:
        return verdict.outcome == "length" and self.schema is None and self.request.answer_tokens is not None

    def _more_room(self, fitted: Fitted) -> bool:
        """Twice the room, once: a cut answer is never repaired."""
        room = self.profile.context_tokens - fitted.predicted_tokens
        if (
            self.roomier
            or fitted.answer_tokens >= room
            or len(self.attempts) >= self.policy.attempts
            or self.budget.spent(self.attempts)
        ):
            return False
        self.roomier, self.answer_tokens = True, min(2 * fitted.answer_tokens, room)
        return True

    def _feedback(self, verdict: Verdict) -> str:
        """What is wrong with the last answer. The part of it that is repeated is as little trusted as what a user
        writes, and shows no value that is hidden."""
        turns = self.draft.turns
        asked = next((turn.content for turn in reversed(turns) if turn.role == "user"), "")
        said = self.placeholders.hide(verdict.feedback(language_of(asked)))
        if self.policy.control_tokens == "off":
            return said
        return neutralise_control_tokens(said, self.profile.control_tokens, "answer")[0].text

    # -- result

    def _result(self, verdict: Verdict, heard: Heard, fitted: Fitted) -> Result:
        complete = verdict.outcome == "valid"
        note = () if complete else (f"the answer was cut at {fitted.answer_tokens} tokens, as asked",)
        self.findings += verdict.findings
        return Result(
            value=verdict.value if complete else verdict.text,
            text=verdict.text,
            thinking=verdict.thinking,
            report=self._report(fitted, note, verdict.evidence),
            complete=complete,
            tool_calls=tuple(self.reader.restore(list(heard.tool_calls))),
            evidence=verdict.evidence,
        )

    def _failed(self, verdict: Verdict, fitted: Fitted) -> Result:
        """Raises OutputInvalid; where the policy asks for an empty result instead, returns one that says so."""
        error = self._invalid(verdict, fitted)
        if self.policy.on_failure != "empty":
            raise error
        return Result(None, "", "", self._report(fitted, (error.message,)), complete=False, failure=error)

    def _report(self, fitted: Fitted, notes: tuple[str, ...], evidence: tuple[Evidence, ...] = ()) -> Report:
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
            policy=self.policy.name,
            findings=tuple(self.findings),
            dropped=fitted.dropped,
            evidence=evidence,
            attempts=tuple(self.attempts),
            notes=(*notes, *self._losses()),
            seconds=self.around.clock() - self.started,
        )
        if report.prediction_held is False:
            said = f"predicted {report.predicted_tokens} prompt tokens, the server counted {report.counted_tokens}"
            return replace(report, notes=(*report.notes, said))
        return report

    def _losses(self) -> tuple[str, ...]:
        """That the server was given plain JSON mode, where its grammar can say nothing of the schema."""
        if self.schema is None or self.schema.grammar != "json":
            return ()
        return ("the server's grammar can not express the schema: plain JSON mode, checked afterwards",)

    def _invalid(self, verdict: Verdict, fitted: Fitted) -> OutputInvalid:
        tries = "1 attempt" if len(self.attempts) == 1 else f"{len(self.attempts)} attempts"
        missing = f" at {fitted.answer_tokens} tokens" if verdict.outcome == "length" else ""
        if (
            verdict.outcome == "length"
            and fitted.answer_tokens >= self.profile.context_tokens - fitted.predicted_tokens
        ):
            missing += ", and the window has no more"
        return OutputInvalid(f"no valid answer in {tries}; the last: {verdict.reason}{missing}", attempts=self.attempts)


def _seed(request: Request, profile: Profile) -> int:
    seed = request.options.get("seed", profile.facts.parameters.get("seed"))
    return seed if isinstance(seed, int) else 0
