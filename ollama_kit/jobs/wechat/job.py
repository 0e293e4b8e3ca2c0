"""The job: chats in, summaries out, with a ledger so that nothing is read twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from ollama_kit import resources
from ollama_kit.client.client import Client
from ollama_kit.guard.conversation import Document
from ollama_kit.guard.kept import KeptValues
from ollama_kit.guard.policy import Policy, PolicyLike
from ollama_kit.guard.profile import Profile
from ollama_kit.jobs.ledger import Ledger, Outcome, former_task_key, task_key
from ollama_kit.jobs.pace import measure_pace
from ollama_kit.jobs.runner import Batch, Executor, Progress, Task
from ollama_kit.jobs.wechat.chunking import Chunk, Chunker
from ollama_kit.jobs.wechat.item_merge import merge
from ollama_kit.jobs.wechat.message import Message
from ollama_kit.jobs.wechat.prompts import chunk_language, chunk_prompt, chunk_schema
from ollama_kit.jobs.wechat.summary import Coverage, Failure, Finding, Question, Summary, Todo, Topic
from ollama_kit.structured.find import Found, find_json
from ollama_kit.text.dates.deadlines import resolve_deadline

JOB = "wechat"
ANSWER_SHARE = 3  # a third of the window is for the answer
AROUND_TOKENS = 400  # the question, the fence and the chat template around a chunk
ANSWER_TOKENS = 500  # what a chunk's answer comes to, for an estimate
EXCERPT_CHARACTERS = 80
FORGED = "chat/forged_answer"
DISTRUSTED = ("injection/", FORGED)
"""Findings that make a message no ground for an item: it talks to the model, or in the model's place."""


@dataclass(frozen=True)
class Estimate:
    """What a run will take. `tokens` are those of the chunks that are not done yet, `seconds` what they will take at
    the speed of the work done before, or of a short request where there was none."""

    messages: int
    chunks: int
    chunks_done: int
    tokens: int
    seconds: float


@dataclass(frozen=True)
class WeChatJob:
    """Summarizes chats with one model. `client` is the caller's, and `ledger` keeps what was done; `slots` chunks are
    read at once, as many as the server answers in parallel. `policy` None is the guard of the model's spec, else
    `standard`. `brief` bounds the answers for models that would not come to an end."""

    client: Client
    model: str
    ledger: Ledger
    slots: int = 1
    policy: PolicyLike | None = None
    brief: bool = False
    tell: Callable[[Progress], None] = lambda progress: None

    def estimate(self, messages: Iterable[Message]) -> Estimate:
        """Chunks, tokens and seconds. No message is sent: a speed that is not known is measured with other words."""
        chunks = self._chunks(messages)
        tasks = [self._task(chunk) for chunk in chunks]
        known = [task for task in tasks if self._is_done(task)]
        open_tokens = sum(task.tokens for task in tasks) - sum(task.tokens for task in known)
        speeds = self.ledger.speeds()
        if speeds["tokens"]:
            seconds = open_tokens * speeds["seconds"] / speeds["tokens"]
        else:
            pace = measure_pace(self.client.server, self.model, self._profile().context_tokens)
            seconds = (len(tasks) - len(known)) * pace.seconds(
                prompt_tokens=open_tokens // max(1, len(tasks) - len(known)) + AROUND_TOKENS,
                answer_tokens=ANSWER_TOKENS,
            )
        return Estimate(
            sum(len(c.messages) for c in chunks), len(chunks), len(known), open_tokens, seconds / self.slots
        )

    def summarize(self, messages: Iterable[Message], executor: Executor | None = None) -> tuple[Summary, ...]:
        """One summary a conversation, in the order of their first messages. A chunk that gives no valid answer is a
        failure in the coverage; a server that is away is an error, and what was done stays in the ledger."""
        chunks = self._chunks(messages)
        tasks = [self._task(chunk) for chunk in chunks]
        batch = Batch(
            self._read, self.ledger, self.slots, tell=self.tell, stop=self.client.server.close, hidden=self._hidden
        )
        outcomes = batch.run(tasks, executor)
        by_chat: dict[str, list[tuple[Chunk, Outcome]]] = {}
        for chunk, task in zip(chunks, tasks, strict=True):
            by_chat.setdefault(chunk.group.id, []).append((chunk, outcomes[task.key]))
        return tuple(self._summary(pairs) for pairs in by_chat.values())

    # -- chunks

    def _profile(self) -> Profile:
        return self.client.profile(self.model)

    def _policy(self) -> Policy:
        """The policy of every call; SpecNotFound where there is none of that name."""
        return replace(self.client.policy_for(self.model, self.policy), name="custom", context="middle_out")

    def _chunks(self, messages: Iterable[Message]) -> list[Chunk]:
        profile = self._profile()
        limit = profile.context_tokens - profile.context_tokens // ANSWER_SHARE - AROUND_TOKENS
        chunker = Chunker(lambda text: profile.tokenizer.count(text, add_bos=False), max(128, limit))
        return list(chunker.chunks(messages))

    def _is_done(self, task: Task) -> bool:
        found = self.ledger.find(task.key, task.former)
        return found is not None and found.done

    def _task(self, chunk: Chunk) -> Task:
        language = chunk_language(chunk)
        prompt, schema = chunk_prompt(chunk, language), chunk_schema(chunk, brief=self.brief)
        deciding = [self._profile().facts.digest, self._policy(), prompt, schema, chunk.transcript.text]
        key = task_key(JOB, deciding)
        label = f"{chunk.group.name} {chunk.messages[0].time:%m-%d %H:%M}–{chunk.messages[-1].time:%H:%M}"
        return Task(key, label, (key, chunk, prompt, schema), chunk.tokens, former_task_key(JOB, deciding))

    def _read(self, payload: tuple[str, Chunk, str, dict[str, Any]]) -> dict[str, Any]:
        """One chunk through the model, as plain data: its items, and the messages in which the guard found something.

        The seed comes from the task's name, so that a run that is done again gives the same.
        """
        key, chunk, prompt, schema = payload
        name = f"{chunk.group.name} {chunk.messages[0].time:%Y-%m-%d}"
        result = self.client.chat(
            self.model,
            prompt,
            documents=[Document(chunk.transcript.text, name)],
            schema=schema,
            options={"seed": int(key[:7], 16) + 1},
            policy=self._policy(),
        )
        found = [
            {"messages": chunk.transcript.messages_at(*finding.span), "stage": finding.stage, "rule": finding.rule,
             "severity": finding.severity, "action": finding.action}
            for finding in result.report.findings
            if finding.source == "document 0"
        ]  # fmt: skip
        return {**result.value, "found": found, "shortened": bool(result.report.dropped)}

    def _hidden(self, payload: tuple[str, Chunk, str, dict[str, Any]]) -> KeptValues:
        """What the policy hides in a chunk."""
        _, chunk, prompt, _ = payload
        return KeptValues.of(self._policy(), (prompt, chunk.transcript.text, chunk.group.name))

    # -- summary

    def _summary(self, pairs: Sequence[tuple[Chunk, Outcome]]) -> Summary:
        said = {message.id: message for chunk, _ in pairs for message in chunk.messages}
        done = [(chunk, outcome) for chunk, outcome in pairs if outcome.done]
        found = [*_findings(done), *_forged(said.values())]
        suspects = frozenset(item.message for item in found if item.rule.startswith(DISTRUSTED))
        merged = merge([outcome.value for _, outcome in done], said, suspects, _due)
        times = [message.time for message in said.values()]
        items: tuple[Topic | Todo | Question, ...] = (*merged.topics, *merged.todos, *merged.questions)
        cited = {key for item in items for key in item.messages}
        profile = self._profile()
        return Summary(
            chat=pairs[0][0].group.name,
            language=chunk_language(pairs[0][0]),
            first=min(times, default=None),
            last=max(times, default=None),
            topics=merged.topics,
            todos=merged.todos,
            questions=merged.questions,
            coverage=_coverage(pairs, said),
            model=self.model,
            host=profile.url,
            findings=_with_excerpts(found, said),
            refused=merged.refused,
            templates=tuple(map(str, resources.overriding("templates", "jobs/wechat", "schemas"))),
            texts={key: message for key, message in said.items() if key in cited | suspects},
        )


def _due(words: str, said_at: datetime) -> date | datetime | None:
    deadline = resolve_deadline(words, said_at)
    return None if deadline is None else deadline.at or deadline.day


def _findings(done: Sequence[tuple[Chunk, Outcome]]) -> list[Finding]:
    """What the guard found, by message; each thing once, though a message was context elsewhere."""
    found: dict[Finding, None] = {}
    for _, outcome in done:
        for item in outcome.value["found"]:
            for message in item["messages"]:
                finding = Finding(message, f"{item['stage']}/{item['rule']}", item["severity"], item["action"])
                found[finding] = None
    return list(found)


def _forged(messages: Iterable[Message]) -> list[Finding]:
    """Messages that have the form of an answer: JSON with its lists, put there for a model to copy."""
    return [
        Finding(message.id, FORGED, "high", "flagged")
        for message in messages
        if "{" in message.text and _is_answer(message.text)
    ]


def _is_answer(text: str) -> bool:
    found = find_json(text)
    return isinstance(found, Found) and any(
        isinstance(candidate.value, dict) and len(candidate.value.keys() & {"topics", "todos", "questions"}) > 1
        for candidate in found.candidates
    )


def _with_excerpts(found: Sequence[Finding], said: Mapping[str, Message]) -> tuple[Finding, ...]:
    """The findings worth showing. Of a message that talks to the model its beginning is shown; what holds a secret is
    named, and not repeated."""
    shown = [item for item in found if item.severity in ("medium", "high") or item.rule.startswith(DISTRUSTED)]
    return tuple(
        Finding(item.message, item.rule, item.severity, item.action, _excerpt(item, said[item.message]))
        for item in shown
        if item.message in said
    )


def _excerpt(item: Finding, message: Message) -> str:
    line = " ".join(message.text.split()) if item.rule.startswith(DISTRUSTED) else ""
    return line if len(line) <= EXCERPT_CHARACTERS else line[: EXCERPT_CHARACTERS - 1] + "…"


def _coverage(pairs: Sequence[tuple[Chunk, Outcome]], said: Mapping[str, Message]) -> Coverage:
    failures = tuple(
        Failure(
            outcome.label,
            str(outcome.value.get("code", "")),
            str(outcome.value.get("message", "")),
            tuple(message.id for message in chunk.messages),
        )
        for chunk, outcome in pairs
        if not outcome.done
    )
    lost = sum(len(failure.messages) for failure in failures)
    shortened = tuple(
        message.id
        for chunk, outcome in pairs
        if outcome.done and outcome.value["shortened"]
        for message in chunk.messages
    )
    return Coverage(len(said), len(said) - lost, len(pairs), failures, shortened)
