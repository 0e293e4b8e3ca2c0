"""The guarded call, written once: a generator that yields what to send and is sent what came back.

    sanitize → fit → send → read → check → retry where another try can help → Result

`Client` and `AsyncClient` drive it. Nothing here opens a socket, reads a clock or draws a number by itself.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from ollama_kit.errors import (
    ContextOverflow,
    OllamaKitError,
    OutputInvalid,
    ProtocolError,
    ServerError,
    ServerRefused,
    ServerTimeout,
    UsageError,
)
from ollama_kit.guard import exchange
from ollama_kit.guard.attempts import json_modes, record, request_call
from ollama_kit.guard.budget import CallBudget
from ollama_kit.guard.control_tokens import neutralize_control_tokens
from ollama_kit.guard.conversation import Request
from ollama_kit.guard.counts import is_cut
from ollama_kit.guard.evidence import Sources
from ollama_kit.guard.exchange import CallContext, ModelCall, Result
from ollama_kit.guard.fit import Fitted, PromptCounter, TokenBudget, fit_context, fit_raw
from ollama_kit.guard.images.attached import require_sight
from ollama_kit.guard.judge import Judge, said_in
from ollama_kit.guard.pipeline import AnswerContext, Pipeline
from ollama_kit.guard.policy import Policy
from ollama_kit.guard.private.policy_keys import RestoreRules
from ollama_kit.guard.private.restoring import Restorer
from ollama_kit.guard.profile import Profile, check_thinking
from ollama_kit.guard.report_builder import ReportBuilder
from ollama_kit.guard.sanitize import sanitize
from ollama_kit.guard.streamed_reply import RunawayDetector, StreamedReply
from ollama_kit.guard.verdict import Reader, Verdict, correction
from ollama_kit.records.report import Attempt, Evidence, Finding, Report
from ollama_kit.structured.derivation import Grammar
from ollama_kit.structured.schema import Schema
from ollama_kit.structured.stand_ins import admit_stand_ins
from ollama_kit.text.language import language_of

RETRIED = frozenset({"schema", "not_json", "evidence", "empty", "runaway", "incomplete"})
"""Outcomes that another try can mend. `length` is not among them: it gets more room, once."""

LINES_A_TOKEN, SPARE_LINES = 2, 64
"""A server streams a line a token at most; one that sends many more does not keep to num_predict."""


Steps = Generator[ModelCall, None, Result]


def guarded_call(
    request: Request,
    profile: Profile,
    policy: Policy,
    schema: Schema | None,
    around: CallContext,
    judge: Judge | None = None,
) -> Steps:
    """The whole of one guarded call. Returns a Result, or raises ContextOverflow, GuardBlocked or OutputInvalid;
    what the driver throws in (a ServerError) goes through. However it ends, the hooks are told at last; what a hook
    raises then is raised instead."""
    check_thinking(request.think, profile)
    require_sight(request, profile)
    call = _Call(request, profile, policy, schema, around, judge)
    try:
        result = yield from call.run()
    except OllamaKitError as error:
        call.finish(None, error)
        raise
    except BaseException:  # the driver has left (a stream was ended, Ctrl-C was pressed), or a stage broke
        call.finish(None, None)
        raise
    call.finish(result, result.failure)
    return result


class _Call:
    """One call on its way. A retry adds the last failure to the first draft, and nothing older."""

    def __init__(
        self,
        request: Request,
        profile: Profile,
        policy: Policy,
        schema: Schema | None,
        around: CallContext,
        judge: Judge | None,
    ) -> None:
        self.request, self.profile, self.policy, self.schema, self.around = request, profile, policy, schema, around
        self.judge = judge
        self.started = around.clock()
        self.budget = CallBudget(policy, around.clock, self.started)
        self.pipeline = Pipeline.of(policy, profile, fence=around.fence, judge=judge, call=around, budget=self.budget)
        if self.pipeline.left_out:
            missing = ", ".join(stage.name for stage in self.pipeline.left_out)
            raise UsageError(f"the policy turns on stages that this call cannot run: {missing}")
        self.placeholders = self.pipeline.context.placeholders
        self.findings: list[Finding] = []
        self.counting = PromptCounter(profile, request.think, request.tools, around.count_exactly)
        self.answer_tokens = request.answer_tokens
        seed = _seed(request, profile)
        self.seed = around.draw_seed() if seed is None else seed
        self.account = ReportBuilder(request, profile, policy, schema)
        self.attempts: list[Attempt] = []
        self.roomier = False
        self.calling_tools = bool(request.tools)  # with a schema, a phase of its own: no grammar holds both
        self.grammars = _grammars(schema, profile)
        self.plain_json = False  # the server could not compile the grammar

    def run(self) -> Steps:
        self._clean()
        feedback = ""
        while True:
            fitted = self._fit(feedback)
            if not self.attempts:
                self.findings += yield from self.pipeline.consult(self.passages)
            verdict, heard = yield from self._attempt(fitted)
            if verdict.outcome == "prompt_cut":
                return self._failed(verdict, fitted)
            if verdict.outcome == "valid" or self._cut_as_asked(verdict):
                said = self.placeholders.hide(said_in(verdict.text, heard.tool_calls))
                self.findings += yield from self.pipeline.consult_on_answer(said, self._asked_about())
                return self._result(verdict, heard, fitted)
            if verdict.outcome == "length" and self._more_room(fitted):
                continue
            if self.calling_tools and self.schema is not None and verdict.outcome in RETRIED:
                self._ask_for_data()
                feedback = ""
                continue
            if (
                verdict.outcome not in RETRIED
                or len(self.attempts) >= self.policy.attempts
                or self.budget.spent(self.attempts)
            ):
                return self._failed(verdict, fitted)
            feedback = self._feedback(verdict)

    def _ask_for_data(self) -> None:
        """The model has called no tool: it is asked once more, for the data alone."""
        self.calling_tools = False
        self.counting = replace(self.counting, tools=())

    def tell(self, event: exchange.Event) -> None:
        exchange.announce(event, self.around.hooks)

    def finish(self, result: Result | None, error: OllamaKitError | None) -> None:
        """Tells how the call ended."""
        seconds = self.around.clock() - self.started
        self.tell(self.account.finished(result, error, self.findings, self.attempts, seconds))

    # -- sanitize

    def _clean(self) -> None:
        system = "" if self.request.raw is not None else self.profile.facts.system
        cleaned = sanitize(self.request, self.pipeline, system)
        self.draft = self.sent = cleaned.draft
        self.passages = cleaned.passages
        self.findings = list(cleaned.findings)
        self.tell(exchange.Cleaned(cleaned.findings))
        broken = frozenset(found.detail for found in cleaned.findings if found.stage == "control_tokens")
        rules = self.policy.setting("restore") or RestoreRules()
        self.reader = Reader(self.pipeline, Restorer(self.placeholders, broken, rules))
        self.answer_context = self._answer_context()
        self.grammars = tuple(admit_stand_ins(grammar, self.placeholders.values) for grammar in self.grammars)

    def _answer_context(self) -> AnswerContext:
        """What answers are checked against, in the caller's own words."""
        restore, documents, turns = self.reader.restore.full, self.request.documents, self.draft.turns
        asked = [restore(turn.content) for turn in turns if turn.role != "system"]
        return AnswerContext(
            schema=self.schema,
            sources=Sources(documents),
            question=asked[-1] if asked else "",
            system=restore("\n".join(turn.content for turn in turns if turn.role == "system")),
            given=(*asked, *(document.text for document in documents)),
        )

    def _asked_about(self) -> AnswerContext:
        """The same for a model that is asked about the answer: it sees the question as the first one did."""
        at = self.draft.question
        return replace(self.answer_context, question="" if at is None else self.draft.turns[at].content)

    # -- fit

    def _fit(self, feedback: str) -> Fitted:
        """The draft with what is said about the last answer, fitted."""
        try:
            fitted = self._fitted(feedback)
        except ContextOverflow as error:
            if not self.attempts:
                raise
            # The first attempt fitted; what does not is the feedback, and the room that a cut answer was given.
            raise OutputInvalid(
                f"{self.attempts[-1].reason}, and there is no room to say so in another try: {error.message}",
                attempts=self.attempts,
            ) from error
        dropped = fitted.dropped.get("tokens", 0)
        self.tell(exchange.Measured(fitted.predicted_tokens, fitted.predicted_as, fitted.answer_tokens, dropped))
        return fitted

    def _fitted(self, feedback: str) -> Fitted:
        may_retry = self.schema is not None and self.policy.attempts > 1 and self.request.raw is None
        bound = self.budget.bounded(self.answer_tokens, self.attempts)
        # TokenBudget for feedback is held back once, for whatever comes after the first attempt.
        room = TokenBudget(bound, bool(self.request.think), may_retry and not self.attempts, self.policy.max_context)
        if self.request.raw is not None:
            return fit_raw(self.request.raw, self.draft, room, self.counting)
        draft = replace(self.draft, feedback=feedback)
        try:
            return fit_context(draft, room, self.counting, self.policy.context)
        except ContextOverflow:
            if not self.roomier or self.answer_tokens == self.request.answer_tokens:
                raise
        self.answer_tokens = self.request.answer_tokens
        return self._fitted(feedback)

    # -- send and read

    def _attempt(self, fitted: Fitted) -> Generator[ModelCall, None, tuple[Verdict, StreamedReply]]:
        number, began = len(self.attempts) + 1, self.around.clock()
        seed = self.seed + number - 1
        self.sent = fitted.draft
        grammar = None if self.schema is None or self.calling_tools else self.grammars[0]
        call = replace(
            request_call(self.request, self.profile, fitted, seed, grammar, tools=self.calling_tools),
            deadline=self.budget.deadline(),
        )
        heard = StreamedReply(
            RunawayDetector(),
            self.budget.out_of_time,
            most_lines=LINES_A_TOKEN * fitted.answer_tokens + SPARE_LINES,
            thinking_tags=self.profile.thinking_tags,
        )
        self.tell(exchange.Asked(number, seed))
        try:
            yield ModelCall(call, heard, number, self.reader.restore)
        except (ProtocolError, ServerTimeout) as error:
            self._bear(error, heard)
        except ContextOverflow as error:
            raise self._refused_as_long(error, fitted) from error
        except ServerRefused as error:
            if error.reason != "grammar" or grammar is None or len(self.grammars) == 1:
                raise
            self.grammars, self.plain_json = self.grammars[1:], True
            return (yield from self._attempt(fitted))
        seen = [self.reader.restore.full(document.text) for document in self.sent.documents]
        sources = self.answer_context.sources.as_seen(seen)
        against = replace(self.answer_context, fence_keys=self.sent.keys(), sources=sources)
        verdict = self.reader.judge(heard, against)
        counted = heard.last.get("prompt_eval_count")
        if is_cut(fitted.predicted_tokens, fitted.predicted_as, counted, self.profile):
            said = f"the server evaluated {counted:,} of {fitted.predicted_tokens:,} prompt tokens"
            verdict = replace(verdict, outcome="prompt_cut", reason=said)
        self.attempts.append(record(number, heard, verdict, call, self.around.clock() - began))
        self.tell(exchange.Answered(self.attempts[-1]))
        return verdict, heard

    def _refused_as_long(self, error: ContextOverflow, fitted: Fitted) -> ContextOverflow:
        """The server's refusal of a prompt that was found to fit, with our figures where it gave none."""
        needed = error.needed_tokens or fitted.predicted_tokens
        available = error.available_tokens or self.profile.context_tokens
        said = f"the server refused the prompt as too long: it has {needed:,} tokens, and {available:,} fit"
        if error.needed_tokens and fitted.predicted_as == "exact":
            said += f" (counted here: {fitted.predicted_tokens:,})"
        return ContextOverflow(said, needed_tokens=needed, available_tokens=available, hint=error.hint)

    def _bear(self, error: ServerError, heard: StreamedReply) -> None:
        """Takes an answer that stopped half-way for a failed attempt; raises the error of one that never began."""
        if heard.last:  # it was whole before it broke
            return
        if isinstance(error, ServerTimeout) and self.budget.out_of_time():
            heard.give_up()
        elif isinstance(error, ProtocolError) and heard.lines:
            heard.broken = error.message
        else:
            raise error

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
        thinking = TokenBudget(thinks=bool(self.request.think)).thinking(self.profile.context_tokens)
        self.roomier, self.answer_tokens = True, max(1, min(2 * fitted.answer_tokens, room) - thinking)
        return True

    def _feedback(self, verdict: Verdict) -> str:
        """What is wrong with the last answer. The part of it that is repeated is as little trusted as what a user
        writes, and shows no value that is hidden."""
        turns = self.draft.turns
        asked = next((turn.content for turn in reversed(turns) if turn.role == "user"), "")
        said = correction(verdict, self.schema, language_of(asked), self.placeholders.hide)
        if self.policy.control_tokens == "off":
            return said
        return neutralize_control_tokens(said, self.profile.control_tokens, "answer")[0].text

    # -- result

    def _result(self, verdict: Verdict, heard: StreamedReply, fitted: Fitted) -> Result:
        complete = verdict.outcome == "valid"
        note: tuple[str, ...] = ()
        if not complete:
            note = (f"the answer was cut at {fitted.answer_tokens} tokens, as asked",)
        if self.plain_json:
            note = (*note, "the server could not compile the schema's grammar: plain JSON mode, checked afterwards")
        self.findings += verdict.findings
        calls, told = self.reader.arguments(heard)
        self.findings += told
        return Result(
            value=verdict.value if complete else verdict.text,
            text=verdict.text,
            thinking=verdict.thinking,
            report=self._report(fitted, note, verdict.evidence),
            complete=complete,
            tool_calls=calls,
            evidence=verdict.evidence,
        )

    def _failed(self, verdict: Verdict, fitted: Fitted) -> Result:
        """Raises OutputInvalid; where the policy asks for an empty result instead, returns one that says so."""
        self.findings += verdict.findings
        error = self.account.failure(verdict, fitted, self.attempts)
        if self.policy.on_failure != "empty":
            raise error
        return Result(None, "", "", self._report(fitted, (error.message,)), complete=False, failure=error)

    def _report(self, fitted: Fitted, notes: tuple[str, ...], evidence: tuple[Evidence, ...] = ()) -> Report:
        return replace(
            self.account.report(fitted, self.attempts, notes),
            findings=tuple(self.findings),
            evidence=evidence,
            seconds=self.around.clock() - self.started,
        )


def _grammars(schema: Schema | None, profile: Profile) -> tuple[Grammar, ...]:
    """What is sent as `format`: the schema's grammar, and what follows where the server cannot compile it."""
    if schema is None:
        return ()
    return json_modes(profile) if schema.grammar == "json" else (schema.grammar, *json_modes(profile))


def _seed(request: Request, profile: Profile) -> int | None:
    """The seed that the caller or the model sets; None where it is to be drawn (the server reads -1 that way)."""
    seed = request.options.get("seed", profile.facts.parameters.get("seed"))
    return seed if isinstance(seed, int) and not isinstance(seed, bool) and seed >= 0 else None
