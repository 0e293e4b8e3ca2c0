"""The guard's pipeline: one list of stages, in the order in which a text meets them.

`STAGES` is that list, and `print(Pipeline.of(policy, profile))` shows the part of it that a policy turns on. Whatever
takes a text through the guard (`chat`, `generate`, `extract`, `stream`, `embed`, `map_reduce`, `scan`, the jobs) builds
its pipeline with `Pipeline.of`, so that none can forget a stage. A policy's keys, its presets' validation and the
README's table are made from the same list.

Why this order. Normalizing comes first, so that nothing hides from the rules. Private data and injection are looked for
before control tokens are broken, in the words as they were written; breaking comes after everything that removes or
replaces, so that no token can form from what is left. Markup is disarmed after it: what it inserts is invisible and
makes no token. Stages that ask a model run last, on the texts as they will be sent, once the prompt is known to fit.

A stage of your own is one function and one entry; an installed package offers it as an entry point of the group
`ollama_kit.stages`:

    def flag_shouting(passage, context):
        word = context.policy.setting("shouting")
        found = [Finding("shouting", "capitals", "low", "flagged", passage.source, span) for span in loud(passage.text)]
        return passage.flag(*found) if word == "flag" else passage

    STAGE = Stage("shouting", "input", flag_shouting, {"shouting": Words(("flag", "off"), "off")}, OUTSIDE)
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any, Literal, Protocol

from ollama_kit import plugins
from ollama_kit.errors import GuardBlocked
from ollama_kit.guard.budget import CallBudget
from ollama_kit.guard.control_tokens import ControlTokens, neutralize_control_tokens
from ollama_kit.guard.evidence import Sources, asks_for_evidence, locate_evidence, missing_evidence
from ollama_kit.guard.exchange import CallContext, ModelCall
from ollama_kit.guard.fence import Fence
from ollama_kit.guard.injection.screen import DEFAULT_THRESHOLD, screen_injection
from ollama_kit.guard.judge import Judge, Judged, judge_flow, parse_judge
from ollama_kit.guard.leaks import find_leaks, texts_in
from ollama_kit.guard.markup import disarm_markup
from ollama_kit.guard.normalize import normalize_text
from ollama_kit.guard.options import CALL_OPTIONS, Mapped, Number, Option, Words
from ollama_kit.guard.passage import ANSWER, INPUTS, OUTSIDE, Passage, TextKind
from ollama_kit.guard.private.placeholders import Placeholders
from ollama_kit.guard.private.policy_keys import (
    PersonalKinds,
    kinds_weakened,
    parse_personal_kinds,
    parse_restore,
    restores_more,
)
from ollama_kit.guard.private.redaction import redact_by_rules
from ollama_kit.guard.scanners.config import ScannerConfig, parse_scanners
from ollama_kit.guard.scanners.execution import Scanners, load_scanners
from ollama_kit.guard.token_table import WELL_KNOWN
from ollama_kit.records.report import Finding
from ollama_kit.specs.source import Source
from ollama_kit.structured.schema import Schema
from ollama_kit.text.spans import Edit, apply

Direction = Literal["input", "output", "both"]
Asking = Generator[ModelCall, None, Passage]
StageFunction = Callable[[Passage, "StageContext"], "Passage | Asking"]
"""Takes a passage and returns a new one, or raises to refuse the call. It reads nothing but its arguments. One that
`needs` the judge asks a model: a generator that yields the calls and returns the passage."""


class StagePolicy(Protocol):
    """What a stage may ask of a policy: what it says about one of the stage's own keys."""

    @property
    def name(self) -> str: ...

    def setting(self, key: str) -> Any: ...


@dataclass(frozen=True)
class AnswerContext:
    """What an answer is checked against: the schema, the caller's documents, the question it answers, the system
    prompt, every other text that was `given`, the keys of the fences as they were sent, and what the model thought."""

    schema: Schema | None = None
    sources: Sources = field(default_factory=lambda: Sources(()))
    question: str = ""
    system: str = ""
    given: tuple[str, ...] = ()
    fence_keys: tuple[str, ...] = ()
    thinking: str = ""


@dataclass(frozen=True)
class StageContext:
    """What a stage may use besides its passage. `placeholders` are the call's own: one value is hidden alike in all
    texts of a call. What is None is not there, and the stages that need it are left out."""

    policy: StagePolicy
    control_tokens: ControlTokens
    placeholders: Placeholders
    fence: Fence | None = None
    scanners: Scanners | None = None
    judge: Judge | None = None
    call: CallContext | None = None
    budget: CallBudget | None = None
    answer: AnswerContext | None = None


@dataclass(frozen=True, eq=False)
class Stage:
    """One entry of the pipeline. `texts` are the kinds of text that it sees; `keys` are its keys in a policy, with what
    each may hold; `needs` are the fields of StageContext without which it cannot run. `asks` a model; `reads_value` if
    it has to see an answer's data again after a later stage has changed the text. `summary` is its row in the
    README."""

    name: str
    direction: Direction
    run: StageFunction
    keys: Mapping[str, Option]
    texts: frozenset[TextKind] = INPUTS
    needs: tuple[str, ...] = ()
    summary: str = ""
    asks: bool = False
    reads_value: bool = False

    def is_on(self, policy: StagePolicy) -> bool:
        """Whether the policy turns it on: one of its keys says something else than off."""
        return any(policy.setting(key) not in ("off", None) for key, option in self.keys.items() if option.turns_on)


# -- the stages: each an adapter between the one signature and a function that can be used and tested by itself


def _normalize(passage: Passage, context: StageContext) -> Passage:
    return passage.change(*normalize_text(passage.text, passage.source))


def _scan_input(passage: Passage, context: StageContext) -> Passage:
    assert context.scanners is not None
    return passage.change(*context.scanners.input_stage(passage.text, passage.source))


def _hide_private_data(passage: Passage, context: StageContext) -> Passage:
    own = context.policy.setting("personal_kinds") or PersonalKinds()
    actions = own.actions(context.policy.setting("secrets"), context.policy.setting("personal"))

    def rules(*words: str) -> frozenset[str]:
        return frozenset(rule for rule, word in actions.items() if word in words)

    changed, findings = redact_by_rules(
        passage.text, passage.source, context.placeholders, rules("redact"), rules("flag", "block")
    )
    hit = next((found for found in findings if actions.get(found.rule) == "block"), None)
    if hit is not None:
        raise _refused(replace(hit, action="blocked"))
    return passage.change(changed, findings)


def _screen_injection(passage: Passage, context: StageContext) -> Passage:
    threshold = context.policy.setting("injection_threshold")
    level = DEFAULT_THRESHOLD if threshold is None else threshold
    action = context.policy.setting("injection")
    return passage.change(*screen_injection(passage.text, passage.source, action=action, threshold=level))


def _break_control_tokens(passage: Passage, context: StageContext) -> Passage:
    return passage.change(*neutralize_control_tokens(passage.text, context.control_tokens, passage.source))


def _disarm_markup(passage: Passage, context: StageContext) -> Passage:
    return passage.change(*disarm_markup(passage.text, passage.source))


def _fence(passage: Passage, context: StageContext) -> Passage:
    """A tool's result stands in its markers from here on. Those of a document are drawn when the turns are laid out,
    since a context rule may shorten it first."""
    assert context.fence is not None
    key = context.fence.key(passage.text)
    if passage.kind != "tool":
        return replace(passage, fence_key=key)
    before, after = context.fence.markers(passage.text, "tool result")
    end = len(passage.text)
    return replace(passage.change(apply(passage.text, [Edit(0, 0, before), Edit(end, end, after)])), fence_key=key)


def _prove_quotes(passage: Passage, context: StageContext) -> Passage:
    assert context.answer is not None
    schema = context.answer.schema
    if schema is None or passage.outcome != "valid" or not asks_for_evidence(schema):
        return passage
    evidence = locate_evidence(schema, passage.value, context.answer.sources)
    missing = missing_evidence(evidence)
    if missing and context.policy.setting("evidence") == "error":
        return passage.fail("evidence", missing[0].message, missing)
    return replace(passage, evidence=evidence)


def _scan_answer(passage: Passage, context: StageContext) -> Passage:
    assert context.scanners is not None
    assert context.answer is not None
    if not context.scanners.output:
        return passage
    text, findings = context.scanners.check_output(context.answer.question, passage.text)
    return replace(passage, text=text, findings=(*passage.findings, *findings))


def _find_leaks(passage: Passage, context: StageContext) -> Passage:
    assert context.answer is not None
    against = context.answer
    said = (passage.text, "answer"), ("\n".join(texts_in(passage.value)), "answer"), (against.thinking, "thinking")
    found = tuple(
        finding
        for text, source in said
        for finding in find_leaks(text, against.fence_keys, against.system, against.given, source)
    )
    found = tuple({(finding.rule, finding.source, finding.detail): finding for finding in reversed(found)}.values())[
        ::-1
    ]
    flagged = passage.flag(*found)
    if found and context.policy.setting("leak") == "error":
        what = "a fence's key" if found[0].rule == "fence_key" else "the system prompt"
        return flagged.fail("leak", f"the answer repeats {what}")
    return flagged


def _judge(passage: Passage, context: StageContext) -> Asking:
    assert context.judge is not None
    assert context.call is not None
    assert context.budget is not None
    if not context.judge.config.looks_at("output" if passage.kind == "answer" else "input"):
        return passage
    question = context.answer.question if context.answer is not None else None
    judged = Judged(passage.text, passage.source, passage.given_characters, question)
    findings = yield from judge_flow(context.judge, judged, context.call, context.budget)
    return replace(passage, findings=(*passage.findings, *findings))


def _parse_scanners(value: Any, source: Source) -> ScannerConfig | None:
    """llm-guard's scanners; None where the key says off, or names none."""
    config = None if value is False or value is None else parse_scanners(value, source)
    return config if config is not None and config.rules else None


_SCANNERS = {"scanners": Mapped(_parse_scanners, ScannerConfig.flagging)}

STAGES: tuple[Stage, ...] = (
    Stage(
        "normalize",
        "input",
        _normalize,
        {"normalize": Words(("on", "off"), "on")},
        summary="takes out controls, bidi overrides, tag characters and smuggled zero-width text",
    ),
    Stage(
        "scanners",
        "input",
        _scan_input,
        _SCANNERS,
        needs=("scanners",),
        summary="llm-guard's input scanners, by name (extra `llm-guard`)",
    ),
    Stage(
        "private_data",
        "input",
        _hide_private_data,
        {
            "secrets": Words(("redact", "flag", "block", "off"), "redact", ("block", "redact", "flag", "off")),
            "personal": Words(("redact", "flag", "block", "off"), "flag", ("block", "redact", "flag", "off")),
            "personal_kinds": Mapped(
                parse_personal_kinds, PersonalKinds.softened, kinds_weakened, "kinds or rules with a word of their own"
            ),
            "restore": Mapped(
                parse_restore,
                weaker=restores_more,
                said="never, **text**, everywhere, or kinds with one of these",
                turns_on=False,
            ),
        },
        summary="keys, passwords and personal data, behind placeholders that the answer gets back",
    ),
    Stage(
        "injection",
        "input",
        _screen_injection,
        {
            "injection": Words(("flag", "cut", "block", "off"), "flag", ("block", "cut", "flag", "off")),
            "injection_threshold": Number(float, 0.0),
        },
        OUTSIDE,
        summary="sentences in documents that give the model orders",
    ),
    Stage(
        "control_tokens",
        "input",
        _break_control_tokens,
        {"control_tokens": Words(("break", "off"), "break")},
        summary="the model's own control tokens, from its vocabulary and template",
    ),
    Stage(
        "markup",
        "input",
        _disarm_markup,
        {"markup": Words(("disarm", "off"), "disarm")},
        OUTSIDE,
        summary="template markup, active HTML, links that could carry data out",
    ),
    Stage(
        "fence",
        "input",
        _fence,
        {"fence": Words(("on", "off"), "on")},
        frozenset({"tool", "document"}),
        needs=("fence",),
        summary="documents stand between markers that nobody outside can guess",
    ),
    Stage(
        "evidence",
        "output",
        _prove_quotes,
        {"evidence": Words(("error", "mark"), "error")},
        ANSWER,
        needs=("answer",),
        summary="quotes marked `x-evidence` have to be in the documents",
        reads_value=True,
    ),
    Stage(
        "answer_scanners",
        "output",
        _scan_answer,
        _SCANNERS,
        ANSWER,
        needs=("scanners", "answer"),
        summary="llm-guard's output scanners, by name",
    ),
    Stage(
        "leak",
        "output",
        _find_leaks,
        {"leak": Words(("error", "flag", "off"), "flag")},
        ANSWER,
        needs=("answer",),
        summary="the system prompt or a fence's key in the answer",
    ),
    Stage(
        "judge",
        "both",
        _judge,
        {"judge": Mapped(parse_judge)},
        frozenset({"user", "tool", "document", "raw", "answer"}),
        needs=("judge", "call", "budget"),
        summary="a second model's verdict on what goes in or comes out",
        asks=True,
    ),
)
"""Every stage that ships, in order."""

BY_NAME = SimpleNamespace(**{stage.name: stage for stage in STAGES})
"""The same by name, as the entry points of `ollama_kit.stages` refer to them."""

BEFORE: Mapping[Direction, str] = {"input": "control_tokens", "output": "leak", "both": "judge"}
"""Where the stages of installed packages go: before the shipped one of that name."""


def all_stages() -> tuple[Stage, ...]:
    """What ships and what installed packages add, in order. One whose key another has is named on stderr and left
    out."""
    return _in_order(tuple(plugins.found(plugins.STAGES).values()))


def stage_options() -> Mapping[str, Option]:
    """Every key of a stage in a policy, in the stages' order, and what it may hold."""
    return _options(all_stages())


@lru_cache(maxsize=8)
def _in_order(entries: tuple[plugins.PlugIn, ...]) -> tuple[Stage, ...]:
    """The stages of these entries: what ships as listed, each other one where `BEFORE` says."""
    loaded = plugins.loaded(plugins.STAGES, Stage)
    stages = [stage for plug_in, stage in loaded.items() if plug_in.ships]
    for plug_in, stage in loaded.items():
        if plug_in.ships:
            continue
        taken = {*CALL_OPTIONS, *_options(tuple(stages))}.intersection(stage.keys)
        if taken or stage.name in {other.name for other in stages}:
            clash = f"the key {min(taken)!r}" if taken else f"the name {stage.name!r}"
            plugins.name_on_stderr(plug_in.error(f"{clash} belongs to another stage"))
            continue
        at = next(at for at, other in enumerate(stages) if other.name == BEFORE[stage.direction])
        stages.insert(at, replace(stage, run=_blaming(plug_in, stage.run)))
    return tuple(stages)


def _blaming(plug_in: plugins.PlugIn, run: StageFunction) -> StageFunction:
    """The same function; where it fails, the call fails with a PlugInError that names the plug-in: a guard that did
    not look is no guard."""

    def guarded(passage: Passage, context: StageContext) -> Passage | Asking:
        with plug_in.blamed():
            result = run(passage, context)
        return result if isinstance(result, Passage) else asking(result)

    def asking(steps: Asking) -> Asking:
        with plug_in.blamed():
            return (yield from steps)

    return guarded


@lru_cache(maxsize=8)
def _options(stages: tuple[Stage, ...]) -> Mapping[str, Option]:
    return {key: option for stage in stages for key, option in stage.keys.items()}


class HasControlTokens(Protocol):
    """What a pipeline asks of a model's profile."""

    @property
    def control_tokens(self) -> ControlTokens: ...


@dataclass(frozen=True)
class Pipeline:
    """The stages that a policy turns on, in order, and what they use in one call. Iterating gives the stages;
    `left_out` are those turned on that lack something they need here (a `scan` has no judge, and draws no fence)."""

    stages: tuple[Stage, ...]
    context: StageContext
    left_out: tuple[Stage, ...] = ()

    @classmethod
    def of(
        cls,
        policy: StagePolicy,
        profile: HasControlTokens | ControlTokens | None = None,
        *,
        fence: Fence | None = None,
        judge: Judge | None = None,
        call: CallContext | None = None,
        budget: CallBudget | None = None,
    ) -> Pipeline:
        """The pipeline of one call; there is no other way to one. Without a `profile` the control tokens are those of
        the families that most people run. UsageError where the policy names scanners that are not installed."""
        tokens = ControlTokens.of(WELL_KNOWN) if profile is None else profile
        scanners = policy.setting("scanners")
        context = StageContext(
            policy,
            tokens if isinstance(tokens, ControlTokens) else tokens.control_tokens,
            Placeholders(),
            fence,
            load_scanners(scanners) if scanners is not None else None,
            judge,
            call,
            budget,
        )
        on = [stage for stage in all_stages() if stage.is_on(policy)]
        runs = [
            stage for stage in on if all(need == "answer" or getattr(context, need) is not None for need in stage.needs)
        ]
        return cls(tuple(runs), context, tuple(stage for stage in on if stage not in runs))

    def __iter__(self) -> Iterator[Stage]:
        return iter(self.stages)

    def __str__(self) -> str:
        """One line per stage: name, direction, what it looks at, and the policy's words."""
        return "\n".join(
            f"{stage.name:16} {stage.direction:7} {', '.join(sorted(stage.texts)):45} "
            + ", ".join(f"{key}: {self.context.policy.setting(key)}" for key in stage.keys)
            for stage in self.stages
        )

    def fresh(self) -> Pipeline:
        """The same for a text that has nothing to do with those before: with placeholders of its own."""
        return replace(self, context=replace(self.context, placeholders=Placeholders()))

    def clean(self, text: str, source: str, kind: TextKind) -> Passage:
        """A text of the call after every input stage that asks no model. GuardBlocked where one refuses it."""
        passage = Passage.of(text, source, kind)
        for stage in self._cleaning.get(kind, ()):
            passage = _done(stage.run(passage, self.context))
        return passage

    def consult(self, passages: Iterable[Passage]) -> Generator[ModelCall, None, tuple[Finding, ...]]:
        """What the stages that ask a model find in texts that are about to be sent."""
        findings: tuple[Finding, ...] = ()
        for passage in passages:
            for stage in self._asking:
                if passage.kind in stage.texts:
                    findings += (yield from _asked(stage, replace(passage, findings=()), self.context)).findings
        return findings

    def check(self, answer: Passage, against: AnswerContext, read: Callable[[str], Passage]) -> Passage:
        """An answer after every output stage that asks no model, as far as one of them fails it. `read` reads the data
        in an answer that a stage has rewritten; what looks at data then looks again."""
        context, passed = replace(self.context, answer=against), answer
        for at, stage in enumerate(self._checking):
            before = passed
            passed = _done(stage.run(before, context))
            if passed.text != before.text and passed.outcome == "valid":
                passed = replace(read(passed.text), findings=passed.findings)
                for earlier in (earlier for earlier in self._checking[:at] if earlier.reads_value):
                    passed = _done(earlier.run(passed, context)) if passed.usable else passed
            if not passed.usable:
                break
        return passed

    def consult_on_answer(self, said: str, against: AnswerContext) -> Generator[ModelCall, None, tuple[Finding, ...]]:
        """What the stages that ask a model find in an answer."""
        passage, context = Passage.of(said, "answer", "answer"), replace(self.context, answer=against)
        findings: tuple[Finding, ...] = ()
        for stage in self._asking:
            if "answer" in stage.texts:
                findings += (yield from _asked(stage, passage, context)).findings
        return findings

    @cached_property
    def _cleaning(self) -> Mapping[str, Sequence[Stage]]:
        stages = [stage for stage in self.stages if stage.direction != "output" and not stage.asks]
        kinds = frozenset(kind for stage in stages for kind in stage.texts)
        return {kind: [stage for stage in stages if kind in stage.texts] for kind in kinds}

    @cached_property
    def _checking(self) -> Sequence[Stage]:
        return [stage for stage in self.stages if stage.direction != "input" and not stage.asks]

    @cached_property
    def _asking(self) -> Sequence[Stage]:
        return [stage for stage in self.stages if stage.asks]


def _done(result: Passage | Asking) -> Passage:
    assert isinstance(result, Passage), "a stage that asks a model says so in its entry"
    return result


def _asked(stage: Stage, passage: Passage, context: StageContext) -> Asking:
    result = stage.run(passage, context)
    return result if isinstance(result, Passage) else (yield from result)


def _refused(finding: Finding) -> GuardBlocked:
    start, end = finding.span
    reason = f"{finding.source} holds {finding.detail} ({finding.rule}, characters {start} to {end})"
    return GuardBlocked(
        f"refused by the guard: {reason}",
        stage=finding.stage,
        reason=reason,
        hint=(
            "Take it out of the text, or let the policy redact it instead of blocking.",
            "请从文本中删去，或在策略中把处理方式改为 redact。",
        ),
    )
