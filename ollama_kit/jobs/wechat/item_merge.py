"""Puts together what the chunks gave: an item that two chunks saw is one item, and an order to the model is none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

from ollama_kit.jobs.wechat.message import Message
from ollama_kit.jobs.wechat.summary import Question, Refused, Todo, Topic
from ollama_kit.text.locate import ALIKE, alike

T = TypeVar("T", Topic, Todo, Question)
Due = Callable[[str, datetime], Any]
"""The day or time that a deadline means when it is said at a certain time; None where it cannot be told."""


@dataclass(frozen=True)
class Merged:
    """The items of all chunks, each once, in the order of the chat."""

    topics: tuple[Topic, ...]
    todos: tuple[Todo, ...]
    questions: tuple[Question, ...]
    refused: tuple[Refused, ...]


def merge(
    answers: Sequence[Mapping[str, Any]], said: Mapping[str, Message], suspects: frozenset[str], due: Due
) -> Merged:
    """The items of the chunks' answers, oldest chunk first. `said` are the messages by id; an item that rests on
    nothing but `suspects` is refused: its words come from an order to the model."""
    refused: list[Refused] = []
    order = {key: at for at, key in enumerate(said)}

    def taken(kind: str, text: str, items: Iterable[Mapping[str, Any]]) -> Iterable[Mapping[str, Any]]:
        for item in items:
            if set(item["messages"]) <= suspects:
                reason = "rests only on messages that give orders to the model"
                refused.append(Refused(kind, item[text], tuple(item["messages"]), reason))  # type: ignore[arg-type]
            else:
                yield {**item, "messages": tuple(sorted(set(item["messages"]), key=order.__getitem__))}

    topics = [_topic(item) for answer in answers for item in taken("topic", "title", answer["topics"])]
    todos = [_todo(item, said, due) for answer in answers for item in taken("todo", "task", answer["todos"])]
    questions = [_question(item) for answer in answers for item in taken("question", "question", answer["questions"])]

    def sorted_once(items: list[T], same: Callable[[T, T], bool], joined: Callable[[T, T], T]) -> tuple[T, ...]:
        once = _once(items, same, joined)
        return tuple(sorted(once, key=lambda item: order[item.messages[0]]))

    def both(earlier: T, later: T) -> tuple[str, ...]:
        return tuple(sorted({*earlier.messages, *later.messages}, key=order.__getitem__))

    return Merged(
        sorted_once(topics, _same_topic, lambda a, b: replace(_fuller(a, b), messages=both(a, b))),
        sorted_once(todos, _same_todo, lambda a, b: replace(_latest(a, b, order), messages=both(a, b))),
        sorted_once(
            questions, _same_question, lambda a, b: replace(a, answered=a.answered or b.answered, messages=both(a, b))
        ),
        tuple(refused),
    )


def _once(items: Iterable[T], same: Callable[[T, T], bool], joined: Callable[[T, T], T]) -> list[T]:
    kept: list[T] = []
    for item in items:
        for at, other in enumerate(kept):
            if same(other, item):
                kept[at] = joined(other, item)
                break
        else:
            kept.append(item)
    return kept


def _same_topic(one: Topic, other: Topic) -> bool:
    return alike(one.title, other.title) >= ALIKE or _share(one.messages, other.messages) >= 0.5


def _same_todo(one: Todo, other: Todo) -> bool:
    if one.person and other.person and one.person != other.person:
        return False
    likeness = alike(one.task, other.task)
    return likeness >= ALIKE or (likeness >= ALIKE / 2 and _share(one.messages, other.messages) > 0)


def _same_question(one: Question, other: Question) -> bool:
    likeness = alike(one.question, other.question)
    return likeness >= ALIKE or (likeness >= ALIKE / 2 and _share(one.messages, other.messages) > 0)


def _fuller(one: Topic, other: Topic) -> Topic:
    return other if len(other.summary) > len(one.summary) else one


def _latest(one: Todo, other: Todo, order: Mapping[str, int]) -> Todo:
    """What was agreed last counts: the later deadline, that it is done, and who does it where one of them says so."""
    last, first = (other, one) if order[other.messages[-1]] >= order[one.messages[-1]] else (one, other)
    deadline = (last.deadline, last.due) if last.deadline else (first.deadline, first.due)
    return replace(
        last, person=last.person or first.person, deadline=deadline[0], due=deadline[1], done=one.done or other.done
    )


def _share(one: Sequence[str], other: Sequence[str]) -> float:
    return len(set(one) & set(other)) / min(len(set(one)), len(set(other)))


def _topic(item: Mapping[str, Any]) -> Topic:
    return Topic(item["title"], item["summary"], item["messages"])


def _todo(item: Mapping[str, Any], said: Mapping[str, Message], due: Due) -> Todo:
    """A deadline is counted from the message that it stands in, else from the last one cited."""
    words = item["deadline"].strip()
    cited = [said[key] for key in item["messages"]]
    base = next((message for message in cited if words and words in message.text), cited[-1])
    when = due(words, base.time) if words else None
    fields = {key: item[key] for key in ("task", "person", "done", "confidence", "messages")}
    return Todo(deadline=words, due=when, **fields)


def _question(item: Mapping[str, Any]) -> Question:
    return Question(item["question"], item["asked_by"], item["answered"], item["messages"])
