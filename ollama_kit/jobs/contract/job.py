"""The job: contracts in, facts or a page in plain words out, with a ledger so that nothing is asked twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ollama_kit.client.blocking import Client
from ollama_kit.jobs.contract.answers import Answered, Answers
from ollama_kit.jobs.contract.asking import Ask, Asker
from ollama_kit.jobs.contract.comparison import compared
from ollama_kit.jobs.contract.merging import answered, notices_of
from ollama_kit.jobs.contract.own_answers import plain_value, problems_of
from ollama_kit.jobs.contract.planning import Group, Plan, Planner, Purpose
from ollama_kit.jobs.contract.proof.prover import Claim
from ollama_kit.jobs.contract.questions.questionnaire import Question
from ollama_kit.jobs.contract.report import ContractReport
from ollama_kit.jobs.contract.summary import one_page
from ollama_kit.jobs.contract.topics import TOPICS
from ollama_kit.jobs.documents.document import ReadDocument
from ollama_kit.jobs.ledger import Ledger, Outcome, task_key
from ollama_kit.jobs.pace import measure_pace
from ollama_kit.jobs.runner import Batch, Executor, Progress, Task

JOB = "contract"
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
    at once, as many as the server answers in parallel. `own` is the path of a schema of the user's own questions."""

    client: Client
    model: str
    ledger: Ledger
    slots: int = 1
    policy: str = "standard"
    own: Path | None = None
    tell: Callable[[Progress], None] = lambda progress: None

    def extract(
        self, documents: Iterable[ReadDocument], executor: Executor | None = None
    ) -> tuple[ContractReport, ...]:
        """The facts of each contract, in order: by rules, by the model, and how the two compare. A question without a
        valid answer says so; a server that is away is an error, and what was done stays in the ledger."""
        return tuple(self._answers(plan, outcomes) for plan, outcomes in self._run(documents, "facts", executor))

    def summarise(
        self, documents: Iterable[ReadDocument], executor: Executor | None = None
    ) -> tuple[ContractReport, ...]:
        """One page in plain words of each contract, each sentence with its evidence, beside what the rules read."""
        return tuple(self._summary(plan, outcomes) for plan, outcomes in self._run(documents, "summary", executor))

    def estimate(self, documents: Iterable[ReadDocument], purpose: Purpose = "facts") -> Estimate:
        """Contracts, requests, tokens and seconds. Nothing of a contract is sent: a speed that is not known is measured
        with other words."""
        planner = self._planner(purpose)
        plans = [planner.plan(document) for document in documents]
        tasks = [self._task(ask) for plan in plans for ask in plan.asks]
        known = [task for task in tasks if (found := self.ledger.find(task.key)) is not None and found.done]
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

    def _planner(self, purpose: Purpose) -> Planner:
        return Planner(self.client.profile(self.model), purpose, self.own if purpose == "facts" else None)

    def _run(
        self, documents: Iterable[ReadDocument], purpose: Purpose, executor: Executor | None
    ) -> list[tuple[Plan, dict[str, Outcome]]]:
        """Each contract's plan with the outcomes of all tasks. The next contract is read while the model is busy."""
        planner = self._planner(purpose)
        plans: list[Plan] = []

        def tasks() -> Iterator[Task]:
            for document in documents:
                plans.append(planner.plan(document))
                yield from map(self._task, plans[-1].asks)

        batch = Batch(self._work, self.ledger, self.slots, tell=self.tell, stop=self.client.server.close)
        outcomes = batch.run(tasks(), executor)
        return [(plan, outcomes) for plan in plans]

    def _task(self, ask: Ask) -> Task:
        return Task(self._key(ask), f"{ask.subject.name} {ask.questions[0].group}", ask, ask.window.tokens)

    def _key(self, ask: Ask) -> str:
        """The name of a task: all that decides its outcome. The whole text is part of it, for quotes are looked for
        in all of it."""
        digest = self.client.profile(self.model).facts.digest
        return task_key(JOB, [digest, self.policy, ask.prompt, ask.form, ask.window.text, ask.subject.digest])

    def _work(self, ask: Ask) -> dict[str, Any]:
        """The claims of one window. The seed comes from the task's name, so that a run done again gives the same."""
        return Asker(self.client, self.model, self.policy).ask(ask, int(self._key(ask)[:7], 16) + 1)

    # -- reports

    def _answers(self, plan: Plan, outcomes: Mapping[str, Outcome]) -> ContractReport:
        questions = tuple(compared(one, plan.facts) for one in self._answered(plan, outcomes))
        value = plain_value(questions) if plan.questionnaire.own else None
        problems = problems_of(value, plan.questionnaire) if value is not None else ()
        found = _found(self._outcomes(plan.asks, outcomes))
        host = self.client.profile(self.model).url
        answers = Answers(self.model, host, questions, notices_of(found, plan.text), value, problems)
        return ContractReport(plan.document, plan.facts, answers=answers)

    def _summary(self, plan: Plan, outcomes: Mapping[str, Outcome]) -> ContractReport:
        host = self.client.profile(self.model).url
        page = one_page(self._answered(plan, outcomes), plan.facts.language, self.model, host)
        found = _found(self._outcomes(plan.asks, outcomes))
        return ContractReport(plan.document, plan.facts, summary=replace(page, notices=notices_of(found, plan.text)))

    def _answered(self, plan: Plan, outcomes: Mapping[str, Outcome]) -> tuple[Answered, ...]:
        """What came of each question, in the order of the questionnaire."""
        by_name = {one.name: one for group in plan.groups for one in self._of_group(plan, group, outcomes)}
        return tuple(by_name[question.name] for question in plan.questionnaire.questions)

    def _of_group(self, plan: Plan, group: Group, outcomes: Mapping[str, Outcome]) -> Iterator[Answered]:
        came = self._outcomes(group.asks, outcomes)
        claims = [Claim.from_dict(claim) for outcome in came if outcome.done for claim in outcome.value["claims"]]
        notices = notices_of(_found(came), plan.text)
        failures = (f"{one.value.get('code')}: {one.value.get('message')}" for one in came if not one.done)
        failure = "; ".join(dict.fromkeys(failures))
        for question in group.questions:
            own = (claim for claim in claims if claim.question == question.name)
            searched = group.searched or _words(question, plan.facts.language)
            merged = answered(question, own, plan.text, notices)
            yield replace(merged, searched=searched, unread=group.unread, failure=failure)

    def _outcomes(self, asks: Iterable[Ask], outcomes: Mapping[str, Outcome]) -> list[Outcome]:
        return [outcomes[self._key(ask)] for ask in asks]


def _found(outcomes: Sequence[Outcome]) -> Iterator[Mapping[str, Any]]:
    for outcome in outcomes:
        yield from outcome.value["found"] if outcome.done else ()


def _words(question: Question, language: str) -> tuple[str, ...]:
    """What was looked for in vain, where no clause speaks of a question."""
    topics = (TOPICS[name] for name in question.topics)
    return (*((topic.zh if language == "zh" else topic.en) for topic in topics), *question.words)
