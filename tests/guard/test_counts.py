"""A prompt of which the server has evaluated a part only gives no answer, in any kind of call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ollama_kit import Client, Document
from ollama_kit.errors import PromptCut
from ollama_kit.settings import Settings
from ollama_kit.tokens.store import forget_loaded
from tests.guard.conftest import CHATML, byte_vocabulary
from tests.scripted import ScriptedServer, SeenRequest, as_json, chat, show

TASK = {"type": "object", "required": ["task"], "properties": {"task": {"type": "string"}}}


@pytest.fixture(params=["0.9.3", "0.32.1"])
def scripted(request: pytest.FixtureRequest) -> Iterator[ScriptedServer]:
    forget_loaded()
    with ScriptedServer(version=request.param, models=["m:latest"]) as server:
        server.always("POST", "/api/show", show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 4096"))
        yield server


def exact(scripted: ScriptedServer) -> Client:
    return Client(Settings(host=scripted.url), counting="exact")


def predicted(scripted: ScriptedServer, **call: Any) -> int:
    scripted.always("POST", "/api/chat", chat('{"task": "x"}'))
    with exact(scripted) as client:
        return client.chat("m", "sum up", **call).report.predicted_tokens


@pytest.mark.parametrize("schema", [None, TASK])
def test_an_answer_to_a_part_of_the_prompt_is_none(scripted: ScriptedServer, schema: Any) -> None:
    """Both figures, the attempt and what to do are in the error; there is no second try."""
    documents = [Document("a b " * 300, "d")]
    whole = predicted(scripted, documents=documents, schema=schema)
    scripted.always("POST", "/api/chat", chat('{"task": "x"}', prompt_eval_count=whole // 3))
    before = len(scripted.seen("POST", "/api/chat"))
    with exact(scripted) as client, pytest.raises(PromptCut) as caught:
        client.chat("m", "sum up", documents=documents, schema=schema)
    assert (caught.value.predicted_tokens, caught.value.counted_tokens) == (whole, whole // 3)
    assert [attempt.outcome for attempt in caught.value.attempts] == ["prompt_cut"]
    assert f"{whole:,}" in caught.value.message
    assert f"{whole // 3:,}" in caught.value.message
    assert len(scripted.seen("POST", "/api/chat")) == before + 1


@pytest.mark.parametrize(("missing", "cut"), [(0, False), (4, False), (5, True), (-20, False)])
def test_a_few_tokens_are_no_cut(scripted: ScriptedServer, missing: int, cut: bool) -> None:
    """More than 4 and more than one in a hundred; a server that counts more has cut nothing."""
    whole = predicted(scripted)
    scripted.always("POST", "/api/chat", chat("fine", prompt_eval_count=whole - missing))
    with exact(scripted) as client:
        if not cut:
            assert client.chat("m", "sum up").complete
            return
        with pytest.raises(PromptCut):
            client.chat("m", "sum up")


def test_of_a_long_prompt_one_in_a_hundred_is_no_cut(scripted: ScriptedServer) -> None:
    documents = [Document("a b " * 500, "d")]
    whole = predicted(scripted, documents=documents)
    for missing, cut in ((whole // 100, False), (whole // 100 + 1, True)):
        scripted.always("POST", "/api/chat", chat("fine", prompt_eval_count=whole - missing))
        with exact(scripted) as client:
            if cut:
                with pytest.raises(PromptCut):
                    client.chat("m", "sum up", documents=documents)
            else:
                client.chat("m", "sum up", documents=documents)


def test_a_bound_proves_nothing(scripted: ScriptedServer) -> None:
    """Where the prompt was proven to fit by its bytes, the server's smaller figure is what was expected."""
    scripted.always("POST", "/api/chat", chat("fine", prompt_eval_count=3))
    with Client(Settings(host=scripted.url)) as client:
        assert client.chat("m", "sum up").report.predicted_as == "bound"


def test_the_version_that_leaves_out_its_cache_is_believed() -> None:
    forget_loaded()
    with ScriptedServer(version="0.30.0", models=["m:latest"]) as server:
        server.always("POST", "/api/show", show(info=byte_vocabulary(), template=CHATML, parameters="num_ctx 4096"))
        server.always("POST", "/api/chat", chat("fine", prompt_eval_count=1))
        with exact(server) as client:
            assert client.chat("m", "sum up").complete


def test_an_embedding_of_a_part_is_none(scripted: ScriptedServer) -> None:
    def embedded(seen: SeenRequest) -> Any:
        return as_json({"embeddings": [[1.0]] * len(seen.json["input"]), "prompt_eval_count": 7})

    scripted.always("POST", "/api/embed", embedded)
    with exact(scripted) as client, pytest.raises(PromptCut) as caught:
        client.embed("m", ["a" * 40, "b" * 60])
    assert (caught.value.predicted_tokens, caught.value.counted_tokens) == (100, 7)
