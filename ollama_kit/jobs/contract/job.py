"""The job: contracts in, facts or a page in plain words out, with a ledger so that nothing is asked twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ollama_kit.client.client import Client
from ollama_kit.documents.document import ReadDocument
from ollama_kit.guard.policy import Policy, PolicyLike
from ollama_kit.jobs.contract.answer_merge import ORDERS, answered, notices_of
from ollama_kit.jobs.contract.answers import Answered, Answers, Notice
from ollama_kit.jobs.contract.asking import Ask, Asker, claims_of
from ollama_kit.jobs.contract.comparison import compared
from ollama_kit.jobs.contract.contract_facts import ContractFacts
from ollama_kit.jobs.contract.contract_report import ContractReport
from ollama_kit.jobs.contract.custom_schema import plain_value, problems_of
from ollama_kit.jobs.contract.one_page import one_page
from ollama_kit.jobs.contract.planning import JOB as JOB, Group, Plan, Planner, Purpose, sides_of
from ollama_kit.jobs.contract.questions.questionnaire import Question
from ollama_kit.jobs.contract.topics import TOPICS
from ollama_kit.jobs.ledger import Ledger, Outcome
from ollama_kit.jobs.pace import measure_pace
from ollama_kit.jobs.runner import Batch, Executor, Progress, Task

PROMPT_TOKENS = 600  # the questions, the fence and the chat template around a window, for an estimate
ANSWER_TOKENS = 500  # what an answer comes to


@dataclass(frozen=True)
class Estimate:
    """What a run will take. `requests` is without those that ask again; `tokens` are those of the windows that are not
    done yet, `seconds` what they will take at the speed of the work done before, or of a short request."""

    contracts: int
    requests: int
    requests_done: int
    tokens: int
    seconds: float


@dataclass(frozen=True)
class ContractJob:
    """Reads contracts with one model. `client` is the caller's, and `ledger` keeps what was done; `slots` requests run
    at once, as many as the server answers in parallel. `policy` None is the guard of the model's spec, else `standard`.
    `own` is the path of a schema of the user's own questions."""

    client: Client
    model: str
    ledger: Ledger
    slots: int = 1
    policy: PolicyLike | None = None
    own: Path | None = None
    tell: Callable[[Progress], None] = lambda progress: None

    def extract(
        self, documents: Iterable[ReadDocument], executor: Executor | None = None
    ) -> tuple[ContractReport, ...]:
        """The facts of each contract, in order: by rules, by the model, and how the two compare. A question without a
        valid answer says so; a server that is away is an error, and what was done stays in the ledger."""
        return tuple(self._answers(plan, outcomes) for plan, outcomes in self._run(documents, "facts", executor))

    def summarize(
        self, documents: Iterable[ReadDocument], executor: Executor | None = None
    ) -> tuple[ContractReport, ...]:
        """One page in plain words of each contract, each sentence with its evidence, beside what the rules read."""
        return tuple(self._summary(plan, outcomes) for plan, outcomes in self._run(documents, "summary", executor))

    def estimate(self, documents: Iterable[ReadDocument], purpose: Purpose = "facts") -> Estimate:
        """Contracts, requests, tokens and seconds. Nothing of a contract is sent: a speed that is not known is measured
        with other words."""
        planner = self._planner(purpose)
        plans = [planner.plan(document) for document in documents]
        tasks = [_task(ask) for plan in plans for ask in plan.asks]
        known = [task for task in tasks if self._is_done(task)]
        open_count = len(tasks) - len(known)
        open_tokens = sum(task.tokens for task in tasks) - sum(task.tokens for task in known)
        speeds = self.ledger.speeds()
        if speeds["tokens"]:
            seconds = open_tokens * speeds["seconds"] / speeds["tokens"]
        else:
            pace = measure_pace(self.client.server, self.model, planner.profile.context_tokens)
            mean = open_tokens // max(1, open_count)
            seconds = open_count * pace.seconds(mean + PROMPT_TOKENS, ANSWER_TOKENS)
        return Estimate(len(plans), len(tasks), len(known), open_tokens, seconds / self.slots)

    # -- asking

    def _policy(self) -> Policy:
        """The policy of every call; SpecNotFound where there is none of that name."""
        return replace(self.client.policy_for(self.model, self.policy), name="custom", context="error")

    def _planner(self, purpose: Purpose) -> Planner:
        spec = self.client.spec_for(self.model)
        own = self.own if purpose == "facts" else None
        thinks = bool(spec and spec.thinking)
        return Planner(self.client.profile(self.model), self._policy(), purpose, own, thinks)

    def _run(
        self, documents: Iterable[ReadDocument], purpose: Purpose, executor: Executor | None
    ) -> list[tuple[Plan, dict[str, Outcome]]]:
        """Each contract's plan with the outcomes of all tasks. The next contract is read while the model is busy."""
        planner = self._planner(purpose)
        plans: list[Plan] = []

        def tasks() -> Iterator[Task]:
            for document in documents:
                plans.append(planner.plan(document))
                yield from map(_task, plans[-1].asks)

        asker = Asker(self.client, self.model, planner.policy)
        batch = Batch(
            asker.ask, self.ledger, self.slots, tell=self.tell, stop=self.client.server.close, hidden=asker.hidden
        )
        outcomes = batch.run(tasks(), executor)
        return [(plan, outcomes) for plan in plans]

    def _is_done(self, task: Task) -> bool:
        found = self.ledger.find(task.key, task.former)
        return found is not None and found.done

    # -- reports

    def _answers(self, plan: Plan, outcomes: Mapping[str, Outcome]) -> ContractReport:
        found = notices_of(_found(plan.asks, outcomes), plan.text)
        questions = tuple(compared(one, plan.facts) for one in _answered(plan, outcomes, found))
        value = plain_value(questions) if plan.questionnaire.own else None
        problems = problems_of(value, plan.questionnaire) if value is not None else ()
        host = self.client.profile(self.model).url
        answers = Answers(self.model, host, questions, found, value, problems)
        return ContractReport(plan.document, plan.facts, answers=answers)

    def _summary(self, plan: Plan, outcomes: Mapping[str, Outcome]) -> ContractReport:
        host = self.client.profile(self.model).url
        found = notices_of(_found(plan.asks, outcomes), plan.text)
        answers = _answered(plan, outcomes, found)
        page = one_page(answers, plan.facts.language, sides_of(plan.facts), self.model, host)
        return ContractReport(plan.document, plan.facts, summary=replace(page, notices=found))


def _task(ask: Ask) -> Task:
    return Task(ask.key, f"{ask.subject.name} {ask.questions[0].group}", ask, ask.window.tokens, ask.former)


def _answered(plan: Plan, outcomes: Mapping[str, Outcome], found: Sequence[Notice]) -> tuple[Answered, ...]:
    """What came of each question, in the order of the questionnaire. What gives orders to a model proves nothing,
    wherever in the contract it stands and whichever question was asked of it."""
    notices = (*found, *_orders(plan.facts))
    by_name = {one.name: one for group in plan.groups for one in _of_group(plan, group, outcomes, notices)}
    return tuple(by_name[question.name] for question in plan.questionnaire.questions)


def _of_group(
    plan: Plan, group: Group, outcomes: Mapping[str, Outcome], notices: Sequence[Notice]
) -> Iterator[Answered]:
    came = [(ask, outcomes[ask.key]) for ask in group.asks]
    claims = [claim for ask, outcome in came if outcome.done for claim in claims_of(ask, outcome.value["answers"])]
    failures = (f"{one.value.get('code')}: {one.value.get('message')}" for _, one in came if not one.done)
    failure = "; ".join(dict.fromkeys(failures))
    for question in group.questions:
        own = (claim for claim in claims if claim.question == question.name)
        merged = answered(question, own, plan.text, notices)
        nothing_read = question.name in group.missed and not merged.answers
        searched = () if nothing_read else group.searched or _words(question, plan.facts.language)
        unread = group.unread.get(question.name, ())
        yield replace(merged, searched=searched, shown=bool(group.asks), unread=unread, failure=failure)


def _orders(facts: ContractFacts) -> Iterator[Notice]:
    """What the rules take for orders to a model, in all of the text."""
    for risk in facts.risks:
        if risk.kind == "instructions":
            yield from (Notice(f"{ORDERS}{risk.rule}", "high", "flagged", evidence) for evidence in risk.evidence)


def _found(asks: Iterable[Ask], outcomes: Mapping[str, Outcome]) -> Iterator[Mapping[str, Any]]:
    for outcome in (outcomes[ask.key] for ask in asks):
        yield from outcome.value["found"] if outcome.done else ()


def _words(question: Question, language: str) -> tuple[str, ...]:
    """What was looked for in vain, where no clause speaks of a question."""
    topics = (TOPICS[name] for name in question.topics)
    return (*((topic.zh if language == "zh" else topic.en) for topic in topics), *question.words)
