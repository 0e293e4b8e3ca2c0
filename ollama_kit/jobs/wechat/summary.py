"""What a chat comes to: topics, to-dos and questions, each with the messages that prove it, and what was covered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal

from ollama_kit.jobs.wechat.message import Message

Confidence = Literal["high", "medium", "low"]


@dataclass(frozen=True)
class Topic:
    """What was talked about. `messages` are the ids that show it, in the order of the chat."""

    title: str
    summary: str
    messages: tuple[str, ...]


@dataclass(frozen=True)
class Todo:
    """What somebody has to do. `person` is a member of the chat, empty where nobody was named; `deadline` is as it was
    said, `due` what that means on the day it was said (a day, or a time with its zone; None where none was said or it
    cannot be told)."""

    task: str
    person: str
    deadline: str
    due: date | datetime | None
    done: bool
    confidence: Confidence
    messages: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """What was asked, and whether the chat has an answer."""

    question: str
    asked_by: str
    answered: bool
    messages: tuple[str, ...]


@dataclass(frozen=True)
class Refused:
    """An item that was not taken: all messages it rests on give orders to the model instead of talking to people."""

    kind: Literal["topic", "todo", "question"]
    text: str
    messages: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Failure:
    """A chunk that gave nothing: its messages are not covered."""

    label: str
    code: str
    reason: str
    messages: tuple[str, ...]


@dataclass(frozen=True)
class Coverage:
    """Every message was in exactly one chunk that succeeded, or stands in a failure. `shortened` are messages of which
    only the beginning and the end were read, for they did not fit into a chunk."""

    messages: int
    covered: int
    chunks: int
    failures: tuple[Failure, ...] = ()
    shortened: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        return self.covered == self.messages


@dataclass(frozen=True)
class Finding:
    """Something the guard found in a message; `excerpt` is never longer than a line."""

    message: str
    rule: str
    severity: str
    action: str
    excerpt: str = ""


FORMAT = 1
"""The version of the keys of `Summary.as_dict`."""


@dataclass(frozen=True)
class Summary:
    """The summary of one conversation. `language` is "zh" or "en"; `templates` are the prompts,
    schemas and pages that are not the shipped ones; `texts` has the messages that items cite, by id."""

    chat: str
    language: str
    first: datetime | None
    last: datetime | None
    topics: tuple[Topic, ...]
    todos: tuple[Todo, ...]
    questions: tuple[Question, ...]
    coverage: Coverage
    model: str
    host: str
    findings: tuple[Finding, ...] = ()
    refused: tuple[Refused, ...] = ()
    templates: tuple[str, ...] = ()
    texts: Mapping[str, Message] = field(default_factory=dict, repr=False)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, as templates/schemas/wechat_summary.schema.json describes it. Times are ISO 8601."""
        return {
            "format": FORMAT,
            "chat": self.chat,
            "language": self.language,
            "first": _iso(self.first),
            "last": _iso(self.last),
            "topics": [_plain(topic) for topic in self.topics],
            "todos": [_plain(todo) for todo in self.todos],
            "questions": [_plain(question) for question in self.questions],
            "coverage": {
                **_plain(self.coverage),
                "failures": [_plain(failure) for failure in self.coverage.failures],
            },
            "findings": [_plain(finding) for finding in self.findings],
            "refused": [_plain(item) for item in self.refused],
            "messages": {
                key: {"time": _iso(said.time), "name": said.name, "kind": said.kind, "text": said.text}
                for key, said in self.texts.items()
            },
            "model": self.model,
            "host": self.host,
            **({"templates": list(self.templates)} if self.templates else {}),
        }


def _plain(value: Any) -> dict[str, Any]:
    return {name: _field(item) for name, item in vars(value).items()}


def _field(value: Any) -> Any:
    if isinstance(value, datetime | date):
        return _iso(value)
    return list(value) if isinstance(value, tuple) else value


def _iso(moment: date | datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()
