"""What a reader sees of a summary: the values that the Markdown and the HTML template get.

Texts here are not yet escaped: each writer's environment escapes whatever a template prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ollama_kit.documents.pages.escaping import one_line, plain_text
from ollama_kit.jobs.wechat.message import Message
from ollama_kit.jobs.wechat.summary import Finding, Question, Refused, Summary, Todo, Topic
from ollama_kit.jobs.wechat.writers.wording import Wording, wording
from ollama_kit.text.characters import cut_before

SHOWN_CHARACTERS = 1500
"""Of a longer message the beginning is shown; JSON has all of it."""


@dataclass(frozen=True)
class Said:
    """A message as it is shown. `kind` is empty for plain words; `quoted` is `name: words`."""

    id: str
    day: str
    time: str
    iso: str
    name: str
    own: bool
    kind: str
    text: str
    quoted: str


@dataclass(frozen=True)
class ShownTodo:
    """`when` is the resolved deadline, `iso` the same for machines; both empty where there is none."""

    task: str
    person: str
    deadline: str
    when: str
    iso: str
    unsure: str
    ids: tuple[str, ...]
    messages: tuple[Said, ...]


@dataclass(frozen=True)
class ShownTopic:
    title: str
    summary: str
    span: str
    ids: tuple[str, ...]
    messages: tuple[Said, ...]


@dataclass(frozen=True)
class ShownQuestion:
    question: str
    asked_by: str
    ids: tuple[str, ...]
    messages: tuple[Said, ...]


@dataclass(frozen=True)
class Suspicion:
    """One message with findings. `who` is its sender and time, where it is known; `rules` what was found in it."""

    id: str
    who: str
    excerpt: str
    rules: tuple[str, ...]


@dataclass(frozen=True)
class Lost:
    """A part of the chat that was not read."""

    label: str
    count: str
    reason: str


@dataclass(frozen=True)
class View:
    """One summary for a template. `people` are (name, open to-dos), the most urgent first; `words` the labels."""

    chat: str
    period: str
    words: Mapping[str, str]
    people: tuple[tuple[str, tuple[ShownTodo, ...]], ...]
    done: tuple[ShownTodo, ...]
    topics: tuple[ShownTopic, ...]
    questions: tuple[ShownQuestion, ...]
    answered: tuple[ShownQuestion, ...]
    covered: str
    not_covered: str
    lost: tuple[Lost, ...]
    suspicions: tuple[Suspicion, ...]
    refused: tuple[tuple[str, str, str], ...]
    made_by: str

    @property
    def open_count(self) -> int:
        return sum(len(todos) for _, todos in self.people)


def view_of(summary: Summary) -> View:
    """What is shown of a summary, in the chat's language."""
    return _Viewer(summary, wording(summary.language, summary.last)).view()


def urgency(todo: Todo) -> tuple[bool, str, bool, str]:
    """Sorts to-dos: the earliest day first, on one day those with a time first, those without a day last."""
    if todo.due is None:
        return True, "", True, ""
    exact = isinstance(todo.due, datetime)
    moment = f"{todo.due:%H:%M}" if exact else ""
    return False, todo.due.isoformat()[:10], not exact, moment


@dataclass(frozen=True)
class _Viewer:
    summary: Summary
    wording: Wording

    def view(self) -> View:
        summary, coverage, words = self.summary, self.summary.coverage, self.wording.words
        missing = coverage.messages - coverage.covered
        return View(
            chat=one_line(summary.chat) or words["title"],
            period=_period(summary.first, summary.last, self.wording),
            words=words,
            people=self._people(),
            done=tuple(self._todo(todo) for todo in summary.todos if todo.done),
            topics=tuple(map(self._topic, summary.topics)),
            questions=tuple(self._question(item) for item in summary.questions if not item.answered),
            answered=tuple(self._question(item) for item in summary.questions if item.answered),
            covered=self._covered(),
            not_covered="" if coverage.complete else words["not_covered"].format(count=missing),
            lost=tuple(
                Lost(one_line(failure.label), words["failure"].format(count=len(failure.messages)),
                     " ".join(filter(None, (one_line(failure.reason), f"({failure.code})" if failure.code else ""))))
                for failure in coverage.failures
            ),
            suspicions=self._suspicions(),
            refused=tuple(map(self._refused, summary.refused)),
            made_by=words["made_by"].format(model=one_line(summary.model), host=one_line(summary.host)),
        )  # fmt: skip

    def _covered(self) -> str:
        coverage, words = self.summary.coverage, self.wording.words
        figures = {"total": coverage.messages, "covered": coverage.covered, "chunks": coverage.chunks}
        said = words["covered_all" if coverage.complete else "covered"].format(**figures)
        return said + (words["shortened"].format(count=len(coverage.shortened)) if coverage.shortened else "")

    def _people(self) -> tuple[tuple[str, tuple[ShownTodo, ...]], ...]:
        groups: dict[str, list[Todo]] = {}
        for todo in sorted((todo for todo in self.summary.todos if not todo.done), key=urgency):
            groups.setdefault(one_line(todo.person), []).append(todo)
        ordered = sorted(groups.items(), key=lambda group: not group[0])  # what nobody was named for comes last
        nobody = self.wording.words["nobody"]
        return tuple((name or nobody, tuple(map(self._todo, todos))) for name, todos in ordered)

    def _todo(self, todo: Todo) -> ShownTodo:
        deadline = one_line(todo.deadline)
        words = self.wording.words
        return ShownTodo(
            task=one_line(todo.task),
            person=one_line(todo.person),
            deadline=deadline,
            when=self.wording.moment(todo.due) if todo.due else (words["unclear"] if deadline else ""),
            iso=todo.due.isoformat() if todo.due else "",
            unsure=words.get(f"confidence_{todo.confidence}", ""),
            ids=todo.messages,
            messages=self._messages(todo),
        )

    def _topic(self, topic: Topic) -> ShownTopic:
        messages = self._messages(topic)
        times = [self.summary.texts[said.id].time for said in messages]
        span = _span(min(times), max(times), self.wording) if times else ""
        return ShownTopic(one_line(topic.title), one_line(topic.summary), span, topic.messages, messages)

    def _question(self, item: Question) -> ShownQuestion:
        name = one_line(item.asked_by)
        asked_by = self.wording.words["asked_by"].format(name=name) if name else ""
        return ShownQuestion(one_line(item.question), asked_by, item.messages, self._messages(item))

    def _messages(self, item: Topic | Todo | Question) -> tuple[Said, ...]:
        texts = self.summary.texts
        return tuple(self._said(texts[key]) for key in item.messages if key in texts)

    def _said(self, message: Message) -> Said:
        quoted = message.quoted
        return Said(
            id=message.id,
            day=self.wording.day(message.time.date()),
            time=f"{message.time:%H:%M}",
            iso=message.time.isoformat(),
            name=one_line(message.name or message.sender),
            own=message.own,
            kind=self.wording.kind(message.kind),
            text=_shortened(plain_text(message.text).strip(), self.wording.words["more"]),
            quoted=one_line(f"{quoted.name}: {quoted.text}") if quoted else "",
        )

    def _suspicions(self) -> tuple[Suspicion, ...]:
        by_message: dict[str, list[Finding]] = {}
        for finding in self.summary.findings:
            by_message.setdefault(finding.message, []).append(finding)
        return tuple(self._suspicion(key, found) for key, found in by_message.items())

    def _suspicion(self, key: str, found: Sequence[Finding]) -> Suspicion:
        message, words = self.summary.texts.get(key), self.wording.words
        who = f"{one_line(message.name or message.sender)} {self.wording.moment(message.time)}" if message else ""
        rules = (f"{item.rule}: {words.get(item.action, item.action)}" for item in found)
        excerpt = next((item.excerpt for item in found if item.excerpt), "")
        return Suspicion(key, who, one_line(excerpt), _once(rules))

    def _refused(self, item: Refused) -> tuple[str, str, str]:
        """(what it claims to be, its text, why it is not among the others)"""
        words = self.wording.words
        return words[f"refused_{item.kind}"], one_line(item.text), words["refused_reason"]


def _period(first: datetime | None, last: datetime | None, words: Wording) -> str:
    return _span(first, last, words) if first and last else ""


def _span(first: datetime, last: datetime, words: Wording) -> str:
    """From when to when, the day said once where it is one day."""
    if first == last:
        return words.moment(first)
    until = f"{last:%H:%M}" if first.date() == last.date() else words.moment(last)
    return f"{words.moment(first)} – {until}" if first.date() != last.date() else f"{words.moment(first)}–{until}"


def _shortened(text: str, more: str) -> str:
    if len(text) <= SHOWN_CHARACTERS:
        return text
    at = cut_before(text, SHOWN_CHARACTERS) or SHOWN_CHARACTERS
    return text[:at] + more.format(count=len(text) - at)


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
