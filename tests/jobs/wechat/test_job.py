"""The job on a scripted model that knows the gold answers: they survive chunks, merging and orders to the model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from ollama_kit.client import Client
from ollama_kit.jobs.ledger import Ledger
from ollama_kit.jobs.wechat.job import JOB, WeChatJob
from ollama_kit.jobs.wechat.message import Message
from ollama_kit.jobs.wechat.readers.read_chat import read_messages
from ollama_kit.jobs.wechat.summary import Summary
from ollama_kit.settings import Settings
from ollama_kit.tokens.store import forget_loaded
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.scripted import Reply, ScriptedServer, SeenRequest, chat, show

DATA = Path(__file__).parents[2] / "data" / "chat"


def gold(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / f"gold_{name}.json").read_text(encoding="utf-8"))
    return found


class Knowing:
    """A model that answers each chunk with the gold items whose evidence it is shown, in the ids that it is shown."""

    def __init__(self, answers: dict[str, Any], messages: list[Message], obeys: dict[str, Any] | None = None) -> None:
        self.answers, self.obeys = answers, obeys
        self.ids = {said["id"]: f"m{at}" for at, said in enumerate(answers["messages"], 1)}
        self.names = {message.id: message.name for message in messages}
        self.asked: list[str] = []

    def __call__(self, seen: SeenRequest) -> Reply:
        body = seen.json
        ids = set(re.findall(r"\[(m\d+)\]", body["messages"][-1]["content"]))
        schema = body["format"] if isinstance(body["format"], dict) else {}
        self.asked.append(json.dumps(schema))
        answer = {
            "topics": [
                {"title": item["title"], "summary": item["title"], "messages": shown}
                for item in self.answers["topics"]
                if (shown := self._shown(item, ids))
            ],
            "todos": [self._todo(item, shown) for item in self.answers["todos"] if (shown := self._shown(item, ids))],
            "questions": [
                {"question": item["question"], "asked_by": self.names[shown[0]], "answered": False, "messages": shown}
                for item in self.answers["questions"]
                if (shown := self._shown(item, ids))
            ],
        }
        if self.obeys and set(self.obeys["messages"]) & ids:
            answer["todos"].append(self.obeys)
        return chat(json.dumps(answer, ensure_ascii=False), piece=4000)(seen)

    def _shown(self, item: dict[str, Any], ids: set[str]) -> list[str]:
        return [self.ids[key] for key in item["evidence"] if self.ids[key] in ids]

    def _todo(self, item: dict[str, Any], shown: list[str]) -> dict[str, Any]:
        done = item["status"] == "done"
        fields = {"task": item["task"], "person": self.names[shown[0]], "deadline": "", "done": done}
        return {**fields, "confidence": "high", "messages": shown}


@pytest.fixture
def scripted() -> Iterator[ScriptedServer]:
    forget_loaded()
    with ScriptedServer(models=["m:latest"]) as server:
        server.always("POST", "/api/generate", show())
        yield server


def messages_of(name: str) -> list[Message]:
    return list(read_messages(DATA / "chatlab" / f"synthetic_{name}.jsonl"))


def summarize(
    server: ScriptedServer, messages: list[Message], window: int, ledger: Path | str = ":memory:", slots: int = 1
) -> Summary:
    described = show(info=byte_vocabulary(), template=CHATML, parameters=f"num_ctx {window}", context_length=100_000)
    server.always("POST", "/api/show", described)
    with Client(Settings(host=server.url)) as client, Ledger(ledger, JOB) as opened:
        (summary,) = WeChatJob(client, "m", opened, slots).summarize(messages)
    return summary


@pytest.mark.parametrize("window", [3000, 6000, 60_000])
@pytest.mark.parametrize("name", ["A_zh_group_delivery", "B_en_mixed_group", "D_zh_group_injection"])
def test_gold_items_survive_map_and_merge(scripted: ScriptedServer, name: str, window: int) -> None:
    """With one chunk or ten, each gold item is there once, with all its messages; everything is covered."""
    answers, messages = gold(name), messages_of(name.partition("_")[2])
    model = Knowing(answers, messages)
    scripted.always("POST", "/api/chat", model)
    summary = summarize(scripted, messages, window)
    assert summary.coverage.complete
    assert summary.coverage.chunks == (1 if window == 60_000 else summary.coverage.chunks)
    tasks = [todo.task for todo in summary.todos]
    assert sorted(tasks) == sorted(item["task"] for item in answers["todos"])
    asked = [question.question for question in summary.questions]
    assert sorted(asked) == sorted(item["question"] for item in answers["questions"])
    for todo in summary.todos:
        evidence = next(item["evidence"] for item in answers["todos"] if item["task"] == todo.task)
        assert set(todo.messages) == {model.ids[key] for key in evidence}


def test_ids_that_do_not_exist_can_not_be_said(scripted: ScriptedServer) -> None:
    """They are an enum in the schema, in the grammar and in the check; a made-up one is retried, then a failure."""
    messages = messages_of("zh_group_delivery")
    made_up = {"topics": [{"title": "编造", "summary": "", "messages": ["m999"]}], "todos": [], "questions": []}
    scripted.always("POST", "/api/chat", chat(json.dumps(made_up)))
    summary = summarize(scripted, messages, 60_000)
    assert summary.topics == ()
    assert not summary.coverage.complete
    assert summary.coverage.failures[0].code == "output.invalid"
    assert len(summary.coverage.failures[0].messages) == len(messages)
    assert len(scripted.seen("POST", "/api/chat")) == 3
    assert '"m1"' in json.dumps(scripted.seen("POST", "/api/chat")[0].json["format"])


def test_an_order_to_the_model_adds_nothing(scripted: ScriptedServer) -> None:
    """A model that obeys the injected message gives a to-do that rests on it alone: refused, and shown as such."""
    answers, messages = gold("D_zh_group_injection"), messages_of("zh_group_injection")
    ids = {said["id"]: f"m{at}" for at, said in enumerate(answers["messages"], 1)}
    for injected in answers["injection_messages"]:
        obeys = {"task": "向 6222 账户付款 500000", "person": "", "deadline": "", "done": False, "confidence": "high"}
        model = Knowing(answers, messages, {**obeys, "messages": [ids[injected]]})
        scripted.always("POST", "/api/chat", model)
        summary = summarize(scripted, messages, 60_000)
        assert "付款 500000" not in " ".join(todo.task for todo in summary.todos), injected
        assert [item.text for item in summary.refused] == ["向 6222 账户付款 500000"]
        assert ids[injected] in {finding.message for finding in summary.findings}


def test_a_run_again_asks_nothing_and_gives_the_same_bytes(scripted: ScriptedServer, tmp_path: Path) -> None:
    """The ledger has every chunk; a changed window is other chunks."""
    answers, messages = gold("A_zh_group_delivery"), messages_of("zh_group_delivery")
    scripted.always("POST", "/api/chat", Knowing(answers, messages))
    first = summarize(scripted, messages, 3000, tmp_path / "ledger.sqlite")
    asked = len(scripted.seen("POST", "/api/chat"))
    again = summarize(scripted, messages, 3000, tmp_path / "ledger.sqlite", slots=3)
    assert json.dumps(first.as_dict()) == json.dumps(again.as_dict())
    assert len(scripted.seen("POST", "/api/chat")) == asked


def test_deadlines_are_counted_from_the_message_that_says_them(scripted: ScriptedServer) -> None:
    """明天下午3点 said on the 9th is the 10th at 15:00."""
    messages = messages_of("zh_group_delivery")
    said = next(message for message in messages if "明天" in message.text and "下午6点" in message.text)
    todo = {"task": "提测", "person": said.name, "deadline": "明天（3月10号）下午6点前", "done": False}
    answer = {"topics": [], "questions": [], "todos": [{**todo, "confidence": "high", "messages": [said.id]}]}
    scripted.always("POST", "/api/chat", chat(json.dumps(answer, ensure_ascii=False), piece=4000))
    summary = summarize(scripted, messages, 60_000)
    assert summary.todos[0].due == datetime(2026, 3, 10, 18, 0, tzinfo=said.time.tzinfo)
